import type { Strategy } from "../../resources/types.js";
import type { StrategyRun } from "../context.js";
import { detail } from "./detail.js";
import { full } from "./full.js";
import { increment } from "./increment.js";
import { monthly } from "./monthly.js";
import { snapshot } from "./snapshot.js";
import { window } from "./window.js";

/** The file of each strategy that a resource can declare. */
export const strategies: Record<Strategy["kind"], StrategyRun> = {
  window,
  full,
  increment,
  detail,
  monthly,
  snapshot,
};
