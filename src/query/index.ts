/** The door of this room: all that others may use of it. */

export { answerSource } from "./answer.js";
export { checkAsOf, checkReadsAsOf, createAsOfTables } from "./as-of.js";
export { type Change, type ChangeFilter, changesCondition, listChanges } from "./change-list.js";
export type { Bookmark, ChangedRow, ChangedRows } from "./changed-rows.js";
export {
  checkCondition,
  conditionSql,
  explainRunning,
  type Parameters,
  prepareReading,
} from "./given-sql.js";
export { type Health, oldestSuccess, type ResourceHealth, readHealth } from "./health.js";
export { type ByMonth, openByMonth } from "./lake.js";
export { knownTableNames, removedTableNames, syncedBy, typedTables } from "./names.js";
export { type OpenOptions, openMirror, openMirrorOrNone, openMirrorReadOnly } from "./open.js";
export { type Proof, readProof } from "./report/proof.js";
export { readRefundLosses, readRestatedOrders, readRestatements } from "./report/refunds.js";
export * from "./report/sales.js";
export { cellEnd, openSource, rowEnd, type Source, withSnapshot } from "./select.js";
export type { Row, RowValue } from "./select-read.js";
export type { Selection } from "./select-sql.js";
export { listFacts, neverRead, readFacts, type TableFacts, wasSynced } from "./table-list.js";
export { describeTable, type ReadableColumn, type ReadableTable } from "./tables.js";
export { tablesRead } from "./tables-read.js";
