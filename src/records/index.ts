/** The door of this room: all that others may use of it. */

// Writing records, with their rows, their history, and a word on what is not as declared.

export type { Readings } from "./changes.js";
export { complaintText } from "./complaint-text.js";
export { openRecords, type RecordStore } from "./records.js";
export type { Complaint } from "./values.js";

// Asking for the records that are there.

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

// Two records: whether they say the same, and what differs.

export { openComparison, type Standing } from "./compare.js";
export { diffRecords } from "./diff.js";
export { sameJson } from "./same.js";

// What is remembered of an endpoint without documented fields, and of a ranking, day by day.

export { perPageBefore, rememberShape, type Shape, saysLess, shapeBefore, shapeOf } from "./answer-shape.js";
export { hostIdOf, keepSnapshot } from "./snapshots.js";

// The typed tables: as this version declares them, with their indexes, and as they were.

export { readAsOf } from "./as-of.js";
export { indexProjection, withoutIndex } from "./projection.js";
export { isOfOtherShape, isOutdated, rebuildTables, reproject } from "./reprojection.js";

// Whether they still say what the records say.

export { compareTables, type TableDifference } from "./compare-tables.js";
export { differenceText, noteTables, readTableNote } from "./table-notes.js";

// What columns hold, and those that no resource declares.

export { mixed, readDiscovered } from "./open-columns.js";
export type { SqlValue } from "./values.js";
