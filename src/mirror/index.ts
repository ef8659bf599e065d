/** The door of this room: all that others may use of it. */

export { asMirrorError, busyMs, checkIdentity, connect, createFile, migrate, schemaVersion } from "./file.js";
export {
  checkOwner,
  claimMirror,
  forgetInfo,
  readInfo,
  rememberedKey,
  rememberKey,
  writeInfo,
} from "./info.js";
export { isLocked, lockMirror } from "./lock.js";
export { type Mirror, statement } from "./mirror.js";
export { checkPlace } from "./place.js";
export { blankRun, latestRuns, type Outcome, type Run, type RunEnd, recordRun, runLine } from "./runs.js";
export { openTransaction } from "./transaction.js";
export {
  columnNames,
  createIndexes,
  createTable,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
} from "./typed-table.js";
