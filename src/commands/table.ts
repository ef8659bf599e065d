import { ConfigurationError, UsageError } from "../errors.js";
import { nearest, suggest } from "../lib/nearest.js";
import { formatInstant } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import {
  checkAsOf,
  checkCondition,
  dateOf,
  describeTable,
  knownTableNames,
  layAsOf,
  listTables,
  type ReadableTable,
  type Selection,
  syncedBy,
  typedTables,
  wasSynced,
} from "../query/index.js";

/**
 * The table that a person means, spelled with `-` or `_`.
 * @throws UsageError for an unknown one, ConfigurationError for one that was not synced yet
 */
export function findTable(mirror: Mirror, name: string): ReadableTable {
  const wanted = name.replaceAll("-", "_").toLowerCase();
  const names = listTables(mirror);
  const known = typedTables().find((shape) => shape.name === wanted);
  if (known && !wasSynced(mirror, known.resource))
    throw new ConfigurationError(`The mirror holds no \`${known.name}\` yet: ${mirror.path}`, {
      hint: `run \`brandapi sync ${syncedBy(known.resource).name}\` first`,
    });
  return describeTable(mirror, checkTableName(name, [...names, ...knownTableNames()]));
}

/** @returns the table's own name @throws UsageError with the nearest valid name */
export function checkTableName(name: string, names: readonly string[]): string {
  const wanted = name.replaceAll("-", "_").toLowerCase();
  const found = names.find((one) => one.toLowerCase() === wanted);
  if (found) return found;
  const near = nearest(wanted, new Set(names));
  throw new UsageError(`Unknown table: \`${name}\`.`, {
    hint: near ? `did you mean \`${near}\`?` : "`brandapi tables` lists the tables and views",
  });
}

/** @throws UsageError where the table does not have what is asked of it */
export function checkSelection(
  mirror: Mirror,
  table: ReadableTable,
  request: Omit<Selection, "table"> & { asOf: number | undefined },
): void {
  const names = table.columns.map((column) => column.name);
  for (const name of request.columns ?? [])
    if (!names.includes(name))
      throw new UsageError(`\`${table.name}\` has no column \`${name}\`.`, { hint: suggest(name, names) });
  if ((request.since !== undefined || request.until !== undefined) && dateOf(table) === null)
    throw new UsageError(`\`${table.name}\` has no date that \`--since\` and \`--until\` could go by.`, {
      hint: 'use `--where "…"` instead',
    });
  if (request.asOf !== undefined) checkAsOf(table);
  if (request.where !== undefined) checkCondition(mirror, table, request.where);
}

/**
 * The columns of a table that is kept in folders of months: the folder's name is the column `month`, and an engine would
 * not know which of two to take.
 * @throws UsageError where it has such a column that says something else
 */
export function besideMonth(
  table: ReadableTable,
  columns: readonly string[] | undefined,
): readonly string[] | undefined {
  const names = columns ?? table.columns.map(({ name }) => name);
  if (!names.includes("month")) return columns;
  if (dateOf(table)?.column === "month") return names.filter((name) => name !== "month");
  throw new UsageError(`\`${table.name}\` has a column \`month\` that is not the month of its date.`, {
    hint: "leave it out with `--columns`",
  });
}

/** Reads tables and views as of a time from now on; what the mirror did not know yet, it cannot tell. */
export function readThen(
  mirror: Mirror,
  tables: readonly ReadableTable[],
  { at, where, now }: { at: number; where: string | undefined; now: number },
  warn: (text: string) => void,
): void {
  const then = formatInstant(at);
  if (at > now) warn(`${then} is yet to come: these are the records as they are known now`);
  const { unread, unkept } = layAsOf(mirror, tables, where, at);
  for (const { resource, firstReadAt } of unread)
    if (firstReadAt !== null)
      warn(
        `the mirror read ${resource} first at ${firstReadAt}, later than ${then}: \`--as-of ${firstReadAt}\` is the earliest that it knows`,
      );
  for (const name of unkept)
    warn(`the mirror keeps no history of \`${name}\`: what was read later than ${then} is left out`);
}
