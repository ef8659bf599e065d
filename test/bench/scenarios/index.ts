import type { Scenario } from "../bench.js";
import { disk } from "./disk.js";
import { exports } from "./exports.js";
import { growth } from "./growth.js";
import { latency } from "./latency.js";
import { rateLimit } from "./rate-limit.js";
import { reading } from "./reading.js";
import { report } from "./report.js";
import { requests } from "./requests.js";
import { startUp } from "./start-up.js";

/** In the order in which they run and are printed. */
export const scenarios: readonly Scenario[] = [
  requests,
  reading,
  latency,
  growth,
  exports,
  report,
  startUp,
  disk,
  rateLimit,
];
