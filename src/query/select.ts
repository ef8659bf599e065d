import { type Mirror, quote } from "../mirror/index.js";
import { exportsRecords } from "../resources/shape.js";
import { type ChangedRows, openChangedRows } from "./changed-rows.js";
import { countRows, isBatched, type Joined, type Row, readAll, readAllJoined } from "./select-read.js";
import { type Selection, selectSql } from "./select-sql.js";
import type { ReadableColumn } from "./tables.js";

/** A selection or a query's answer, ready to be read: batch by batch, in one order, from one state of the mirror. */
export interface Source {
  /** The table's name, or `answer`. */
  name: string;
  columns: readonly ReadableColumn[];
  /** Values in the order of `columns`. */
  rows(): Iterable<readonly Row[]>;
  /** The records' own JSON texts, with `,\n` or `\n` between; undefined unless each row is a whole record. */
  records?: (separator: ",\n" | "\n") => Iterable<Joined>;
  /**
   * Cells with `cellEnd` between them, each row followed by `rowEnd`; booleans as words, null as nothing. Undefined if the
   * rows cannot be read so.
   */
  cells?: () => Iterable<Joined>;
  /** The rows that came, changed or went, whatever else is selected; undefined if they are not made of records. */
  changed?: () => ChangedRows;
  /** How many rows there are; undefined if only reading them all would tell. */
  count?: () => number;
}

/** Bytes that no text in UTF-8 holds. */
export const cellEnd = 0xff;
export const rowEnd = 0xfe;
const [cellEndSql, rowEndSql] = ["CAST(x'ff' AS TEXT)", "CAST(x'fe' AS TEXT)"];

/** Reads inside one transaction: whatever a sync writes meanwhile, it is one state of the mirror. */
export async function withSnapshot<T>(mirror: Mirror, work: () => Promise<T>): Promise<T> {
  mirror.db.exec("BEGIN");
  try {
    return await work();
  } finally {
    if (mirror.db.open && mirror.db.inTransaction) mirror.db.exec("ROLLBACK");
  }
}

/** Prepares a selection for reading; call it inside `withSnapshot`. */
export function openSource(mirror: Mirror, selection: Selection): Source {
  const { table } = selection;
  const columns = chooseColumns(selection);
  const statements = table.sources.map((from) => selectSql(selection, from));
  const batched = statements.filter(isBatched);
  const { shape } = table;
  const values = columns.map(({ name }) => `t.${quote(name)}`);
  const countAll = () => statements.reduce((sum, sql) => sum + countRows(mirror, sql), 0);
  const { limit = Number.POSITIVE_INFINITY } = selection;
  const source: Source = {
    name: table.name,
    columns,
    rows: () => readAll(mirror, statements, values),
    count: () => Math.min(limit, countAll()),
  };
  const hasRemoved = table.columns.some(({ name }) => name === "removed_at");
  if (shape && !hasRemoved) source.changed = () => openChangedRows(mirror, shape, chooseColumns({ table }));
  if (exportsRecords(shape) && selection.columns === undefined) {
    const json = "(SELECT r.json FROM records AS r WHERE r.record_id = t.record_id)";
    const text = hasRemoved ? `json_set(${json}, '$.removed_at', t.removed_at)` : json;
    source.records = (separator) => {
      if (batched.length === 0) return joinTexts(readAll(mirror, statements, [text]), separator);
      const between = separator === "\n" ? "char(10)" : "',' || char(10)";
      return readAllJoined(mirror, batched, { text, separator: between });
    };
  }
  // A column without a declared type needs each value's own type.
  if (batched.length > 0 && !shape?.open)
    source.cells = () => {
      const cells = columns.map((column, index) => cellSql(column, values[index] ?? "NULL"));
      const text = `concat_ws(${cellEndSql}, ${cells.join(", ")})`;
      return readAllJoined(mirror, batched, { text: `${text} || ${rowEndSql}`, separator: "''" });
    };
  return source;
}

function chooseColumns({ table, columns }: Pick<Selection, "table" | "columns">): readonly ReadableColumn[] {
  if (!columns) return table.columns.filter(({ isComputed }) => !isComputed);
  return [...new Set(columns)].flatMap((name) => table.columns.filter((column) => column.name === name));
}

/** A cell as text: what JavaScript prints, but for numbers that need more than 15 digits or an exponent. */
function cellSql(column: ReadableColumn, value: string): string {
  const text = `ifnull(${value}, '')`;
  if (column.type === "boolean")
    return `CASE ${value} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END`;
  if (column.type !== "number") return text;
  const whole = `CAST(${value} AS INTEGER)`;
  // Of a large number SQLite prints 17 digits, even if 15 are the same number.
  const digits = `printf('%!.15g', ${value})`;
  const isSame = `abs(${value}) >= 1e9 AND CAST(${digits} AS REAL) = ${value}`;
  return `CASE WHEN typeof(${value}) <> 'real' THEN ${text} WHEN ${value} = ${whole} THEN ${whole}
    WHEN ${isSame} THEN ${digits} ELSE ${text} END`;
}

function* joinTexts(batches: Iterable<readonly Row[]>, separator: string) {
  for (const batch of batches)
    yield { bytes: Buffer.from(batch.map(([json]) => json).join(separator)), rows: batch.length };
}
