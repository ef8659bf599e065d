/** The door of this room: all that others may use of it. */

export {
  asMirrorError,
  busyMs,
  checkIdentity,
  connect,
  createFile,
  layOut,
  migrate,
  schemaVersion,
} from "./file.js";
export { holdMirror } from "./held.js";
export {
  checkOwner,
  claimMirror,
  forgetInfo,
  readInfo,
  rememberedKey,
  rememberKey,
  writeInfo,
} from "./info.js";
export { findDamage } from "./integrity.js";
export { type Lock, lockMirror, runUnderWay } from "./lock.js";
export { closeMirror, type Mirror, mirrorOf, statement } from "./mirror.js";
export { checkPlace, isEmptyFile, isMade, mirrorFiles } from "./place.js";
export {
  blankRun,
  firstRead,
  isSetBack,
  lastFinding,
  lastGood,
  lastProven,
  lastRun,
  type Outcome,
  type Run,
  type RunEnd,
  recordRun,
  runLine,
  saveRun,
  wasRead,
} from "./runs.js";
export { openTransaction, transactInParts } from "./transaction.js";
export {
  columnNames,
  createIndexes,
  createTable,
  dateColumns,
  positionsPerRecord,
  quote,
  type Schema,
  type StoredColumn,
} from "./typed-table.js";
export {
  type FailedRun,
  noteFailedRun,
  noteProgress,
  readFailedRun,
  type UnderWay,
  underWayText,
} from "./under-way.js";
export { watchMirror } from "./watch.js";
