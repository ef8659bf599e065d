/** The door of this room: everything that other rooms may use. */

// Writing records, with their rows, their history and complaints.

export type { Readings } from "./changes.js";
export { complaintText } from "./complaint-text.js";
export { openRecords, type RecordStore, type WriteOptions, type Written } from "./records.js";
export type { Complaint } from "./values.js";

// Reading the present records.

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

// One record: its key, its date, its members.

export { hasId, idText, keyOf, keysOf } from "./keys.js";
export { datedOf } from "./record-table.js";
export { valueAt } from "./values.js";

// Two records: whether they are equal, and what differs.

export { openComparison, type Standing } from "./compare.js";
export { diffRecords } from "./diff.js";
export { sameJson } from "./same.js";

// The days of a ranking.

export { hostIdOf, keepSnapshot } from "./snapshots.js";

// The typed tables: as this version declares them, with their indexes, and as they were.

export { readAsOf } from "./as-of.js";
export { indexProjection, withoutIndex } from "./projection.js";
export { isOfOtherShape, isOutdated, rebuildTables, reproject } from "./reprojection.js";

// Whether they match the records.

export { compareTables, type TableDifference } from "./compare-tables.js";
export { differenceText, noteTables, readTableNote } from "./table-notes.js";

// Columns that no resource declares.

export { mixed, readDiscovered } from "./discovered.js";
export type { SqlValue } from "./values.js";
