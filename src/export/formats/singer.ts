import { createHash } from "node:crypto";
import { UsageError } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import type { ChangedRow, ChangedRows, Source } from "../../query/index.js";
import type { Chunk, Sources, WriteOptions } from "../format.js";
import { singerSchema, singerValue } from "../singer-values.js";

/** When a row was removed; null while it is there. */
const deletedAt = "_sdc_deleted_at";

interface Stream {
  source: Source;
  changed: ChangedRows;
  /** The properties that identify a row: the API's own ids where it documents them. */
  keys: readonly string[];
  /** The keys that are not columns of the table. */
  added: readonly string[];
  properties: Readonly<Record<string, object>>;
}

/**
 * The Singer specification's lines: for each table a SCHEMA, a RECORD for each row that came or changed, and the STATE
 * from which the next run continues. Removed rows have `_sdc_deleted_at`. If the state is of another mirror, all rows are
 * sent.
 * Source: github.com/singer-io/getting-started, docs/SPEC.md.
 */
export function* write(sources: Sources, options: WriteOptions): Iterable<Chunk> {
  const streams = sources.map(openStream);
  let bookmarks = options.bookmarks ?? {};
  for (const stream of streams) {
    const { source, changed, keys, properties } = stream;
    const columns = createHash("sha256").update(Object.keys(properties).join()).digest("hex").slice(0, 8);
    const before = changed.now ? bookmarks[source.name] : undefined;
    const known = before && changed.knows(before) ? before : undefined;
    const schema = { type: "object", properties };
    yield line({ type: "SCHEMA", stream: source.name, schema, key_properties: keys });
    // A new column is in every row.
    yield* recordLines(stream, changed.rows(known?.columns === columns ? known : undefined), options);
    if (known) yield* recordLines(stream, changed.lost(known), options);
    if (changed.now) bookmarks = { ...bookmarks, [source.name]: { columns, ...changed.now } };
    yield line({ type: "STATE", value: { bookmarks } });
  }
}

function openStream(source: Source): Stream {
  const changed = source.changed?.();
  if (!changed)
    throw new UsageError(`Singer takes tables of the API's records, not \`${source.name}\`.`, {
      hint: "name tables such as `orders` or `roster`; `brandapi tables` lists them",
    });
  const { ids, isList } = changed;
  const keys = [...(ids.length > 0 ? ids : ["record_key"]), ...(isList ? ["position"] : [])];
  // A column that the API's document does not have can mean anything.
  const isDeclared = (name: string) => source.columns.some((one) => one.name === name && !one.stored?.open);
  const added = keys.filter((name) => !isDeclared(name));
  const properties = Object.fromEntries([
    ...source.columns.map(({ name, type }) => [name, singerSchema(type, keys.includes(name))] as const),
    ...added.map((name) => [name, { type: [name === "position" ? "integer" : "string"] }] as const),
    [deletedAt, { type: ["null", "string"], format: "date-time" }] as const,
  ]);
  return { source, changed, keys, added, properties };
}

function* recordLines(
  { source, keys, added }: Stream,
  batches: Iterable<ChangedRow[]>,
  options: WriteOptions,
): Iterable<Chunk> {
  let unfit = 0;
  for (const rows of batches) {
    const lines = rows.map(({ values, key, position, removedAt }) => {
      const record: Record<string, unknown> = {};
      for (const [index, { name, type }] of source.columns.entries()) {
        const value = values[index] ?? null;
        const converted = value === null ? null : singerValue(value, type);
        if (converted === undefined) unfit += 1;
        // An id that is not text has no place in its column, and a target needs it.
        record[name] = converted ?? (keys.includes(name) ? key : null);
      }
      for (const name of added) record[name] = name === "position" ? position : key;
      record[deletedAt] = removedAt;
      return line({ type: "RECORD", stream: source.name, record }).data;
    });
    yield { data: lines.join(""), rows: rows.length, table: source.name };
  }
  if (unfit > 0)
    options.warn(
      `${counted(unfit, "value")} of \`${source.name}\` of another kind than its column: sent as null`,
    );
}

function line(message: object): { data: string; rows: 0 } {
  return { data: `${JSON.stringify(message)}\n`, rows: 0 };
}
