import { api } from "./api.js";
import { brand } from "./brand.js";
import { budget } from "./budget.js";
import type { Check } from "./check.js";
import { clock } from "./clock.js";
import { cron } from "./cron.js";
import { disk } from "./disk.js";
import { key } from "./key.js";
import { mirror } from "./mirror.js";
import { node } from "./node.js";
import { runs } from "./runs.js";
import { scopes } from "./scopes.js";
import { settings } from "./settings.js";
import { tables } from "./tables.js";

/** The registry of checks, in the order in which they run: first what needs no network. */
export const checks: readonly Check[] = [
  node,
  settings,
  disk,
  mirror,
  tables,
  runs,
  budget,
  cron,
  api,
  key,
  brand,
  scopes,
  clock,
];
