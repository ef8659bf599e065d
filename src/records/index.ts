/** The door of this room: everything that other rooms may use. */

// An endpoint without documented fields, and a ranking's days.
// The typed tables: as this version declares them, as they were, and whether they match the records.
export { readAsOf } from "./as-of.js";
// Writing records, with their rows, their history and complaints.
export type { Readings } from "./changes.js";
// Two records: whether they are equal, and what differs.
export { openComparison, type Standing } from "./compare.js";
export { compareTables, type TableDifference } from "./compare-tables.js";
export { complaintText } from "./complaint-text.js";
export { diffRecords } from "./diff.js";
export { mixed, readDiscovered } from "./discovered.js";
// Reading the present records, and one record's key, date and members.
export { hasId, idText, keyOf, keysOf } from "./keys.js";
export { indexProjection } from "./projection.js";
export {
  isPresent,
  listedRecord,
  noteDetailed,
  noteOutdated,
  type Present,
  presentDetails,
  presentKeys,
  presentRecords,
} from "./read.js";
export { datedOf } from "./record-table.js";
export { openRecords, type RecordStore, type WriteOptions, type Written } from "./records.js";
export { isOfOtherShape, isOutdated, rebuildTables, reproject } from "./reprojection.js";
export { sameJson } from "./same.js";
export { hostIdOf, keepSnapshot } from "./snapshots.js";
export { differenceText, noteTables, readTableNote } from "./table-notes.js";
export type { Complaint, SqlValue } from "./values.js";
export { valueAt } from "./values.js";
