/** The door of this room: everything that other rooms may use. */

export { brokenViews, readAddedObjects, restoreAddedObjects } from "./added-objects.js";
export { readAsOf } from "./as-of.js";
export type { Readings } from "./changes.js";
export { openComparison } from "./compare.js";
export { compareTables, type TableDifference } from "./compare-tables.js";
export { diffRecords } from "./diff.js";
export { mixed, readDiscovered } from "./discovered.js";
export { findAffected, keepOut, readKeptOut, scrub } from "./keep-out.js";
export { idText, keyOf } from "./keys.js";
export { type KnownHost, readHosts } from "./known-hosts.js";
export { isFirstNotice } from "./notices.js";
export { indexProjection } from "./projection.js";
export {
  isPresent,
  listedRecord,
  noteDetailed,
  noteOutdated,
  type Present,
  presentDetails,
  presentRecords,
} from "./read.js";
export { datedOf } from "./record-table.js";
export type { WriteOptions } from "./record-writer.js";
export { type Copy, openRecords, type RecordStore } from "./records.js";
export { isOfOtherShape, isOutdated, rebuildTables, reproject } from "./reprojection.js";
export { sameJson } from "./same.js";
export { hostIdOf, keepSnapshot } from "./snapshots.js";
export { differenceText, noteTables, readTableNote } from "./table-notes.js";
export {
  readUnexpectedColumns,
  type UnexpectedColumn,
  unexpectedText,
  unexpectedWarning,
} from "./unexpected-values.js";
export type { SqlValue } from "./values.js";
export { valueAt } from "./values.js";
