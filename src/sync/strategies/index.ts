import type { Strategy } from "../../resources/types.js";
import type { StrategyRun } from "../run.js";
import { dated } from "./dated.js";
import { details } from "./details.js";
import { full } from "./full.js";
import { monthly } from "./monthly.js";
import { snapshot } from "./snapshot.js";

/** How each kind of resource is read. */
export const strategies: Record<Strategy["kind"], StrategyRun> = {
  dated,
  details,
  full,
  monthly,
  snapshot,
} satisfies {
  [Kind in Strategy["kind"]]: StrategyRun<Strategy & { kind: Kind }>;
} as Record<Strategy["kind"], StrategyRun>;
