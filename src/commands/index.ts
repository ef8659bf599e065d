import { changes } from "./changes.js";
import type { CommandSpec } from "./command.js";
import { completion } from "./completion.js";
import { cron } from "./cron.js";
import { demo } from "./demo.js";
import { doctor } from "./doctor.js";
import { download } from "./download.js";
import { exportTable } from "./export.js";
import { login } from "./login.js";
import { logout } from "./logout.js";
import { profiles } from "./profiles.js";
import { query } from "./query.js";
import { report } from "./report.js";
import { sandbox } from "./sandbox.js";
import { status } from "./status.js";
import { sync } from "./sync.js";
import { tables } from "./tables.js";
import { verify } from "./verify.js";
import { whoami } from "./whoami.js";

/** The registry of commands, in the order in which help lists them. */
export const commands: readonly CommandSpec[] = [
  login,
  logout,
  whoami,
  profiles,
  sync,
  verify,
  download,
  sandbox,
  exportTable,
  query,
  tables,
  changes,
  report,
  status,
  doctor,
  cron,
  completion,
  demo,
];
