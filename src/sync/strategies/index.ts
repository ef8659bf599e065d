import type { Strategy } from "../../resources/types.js";
import type { StrategyRun } from "../run.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { snapshot } from "./snapshot.js";

/** The file of each strategy that a resource can declare. */
export const strategies: Record<Strategy["kind"], StrategyRun> = {
  dated,
  full,
  details,
  monthly,
  snapshot,
} satisfies { [Kind in Strategy["kind"]]: StrategyRun<Strategy & { kind: Kind }> };
