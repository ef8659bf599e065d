/** The door of this room: everything that other rooms may use. */

export { busyMs, connect, createFile, layOut, withFile, withMirror } from "./connect.js";
export { backUpBeforeMigration, copyMirror, lastBackup, putInPlace } from "./copy.js";
export { checkForDamage, noteChecked, withRestoreHint } from "./damage.js";
export { asMirrorError } from "./errors.js";
export { checkOwner, claimMirror, forgetInfo, readInfo, writeInfo } from "./info.js";
export {
  firstRead,
  lastDone,
  lastFinding,
  lastGood,
  lastProven,
  lastRun,
  newestRun,
  wasRead,
} from "./last-runs.js";
export { lockMirror, runUnderWay } from "./lock.js";
export { noteRefusal, type Refusal, readRefusal, refusalIn } from "./lost-access.js";
export { closeMirror, emptyLog, type Mirror, mirrorOf, statement } from "./mirror.js";
export { checkPlace, mirrorFiles, realPlace } from "./place.js";
export { isWritable } from "./read-only.js";
export { runLine } from "./run-line.js";
export { beginRun, blankRun, type Outcome, type Run, type RunEnd, recordRun, saveRun } from "./runs.js";
export { openTransaction } from "./transaction.js";
export {
  columnNames,
  createIndexes,
  createTable,
  dateColumns,
  idColumn,
  indexNames,
  mainTimestamp,
  type Part,
  parts,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
  tableName,
} from "./typed-table.js";
export {
  type FailedRun,
  noteFailedRun,
  noteProgress,
  readFailedRun,
  type UnderWay,
  underWayText,
} from "./under-way.js";
export { checkIdentity, findDamage, migrate, schemaVersion } from "./version.js";
