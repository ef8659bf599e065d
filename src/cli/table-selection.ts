import { ConfigurationError, UsageError } from "../errors.js";
import { createAsOfTables } from "../query/as-of.js";
import {
  describeTable,
  findUnreadTables,
  knownTableNames,
  type ReadableTable,
  syncingResource,
  wasSynced,
} from "../query/readable-tables.js";
import type { Selection } from "../query/select.js";
import { acceptsDates } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import { closestName } from "../util/suggestions.js";
import { formatInstant } from "../util/times.js";
import type { ReadSession } from "./mirror-reading.js";

/** @throws ConfigurationError if the table was not synced yet */
export function findSyncedTable(
  mirror: Mirror,
  name: string,
  options: { includeRemoved?: boolean } = {},
): ReadableTable {
  const table = describeTable(mirror, name, options);
  const { shape } = table;
  if (!shape || wasSynced(mirror, shape.resource)) return table;
  throw new ConfigurationError(`The mirror holds no \`${name}\` yet: ${mirror.path}`, {
    hint: `run \`brandapi sync ${syncingResource(shape.resource).name}\` first`,
  });
}

/** Returns the table's own name of one spelled with `-` or `_`. @throws UsageError with the nearest valid name */
export function checkTableName(name: string): string {
  const names = knownTableNames();
  const wanted = name.replaceAll("-", "_").toLowerCase();
  if (names.includes(wanted)) return wanted;
  const near = closestName(wanted, names);
  throw new UsageError(`Unknown table: \`${name}\`.`, {
    hint: near ? `did you mean \`${near}\`?` : "`brandapi tables` lists the tables and views",
  });
}

/**
 * Returns which tables `--since` and `--until` cut: of several, those of events only, because the others are looked up
 * from them.
 * @throws UsageError if they cut no table
 */
export function chooseDateFilter(
  tables: readonly ReadableTable[],
  { since, until }: Pick<Selection, "since" | "until">,
): (table: ReadableTable) => boolean {
  if (since === undefined && until === undefined) return () => false;
  const isCut = (table: ReadableTable) =>
    table.date !== null && (tables.length === 1 || !table.shape || acceptsDates(table.shape.resource));
  if (tables.some(isCut)) return isCut;
  const names = tables.map(({ name }) => `\`${name}\``).join(", ");
  throw new UsageError(`${names}: no date that \`--since\` and \`--until\` could cut.`, {
    hint: 'use `--where "…"` instead',
  });
}

/** Makes tables and views have the state of a time from now on; warns about data that the mirror did not have then. */
export function useDataAsOf(
  { mirror, reporter: { warn } }: ReadSession,
  names: readonly string[],
  at: number,
): void {
  const time = formatInstant(at);
  const { unread, unkept } = createAsOfTables(mirror, names, at);
  for (const { resource, firstReadAt: first } of unread)
    warn(`the mirror read ${resource} first at ${first}: \`--as-of ${first}\` is the earliest that it knows`);
  for (const name of unkept)
    warn(`the mirror keeps no history of \`${name}\`: what was read later than ${time} is left out`);
}

/** Warns that tables are empty only because their resource was never synced. */
export function warnAboutUnreadTables({ mirror, reporter }: ReadSession, names: readonly string[]): void {
  for (const { name, resource } of findUnreadTables(mirror, names))
    reporter.warn(`\`${name}\` is empty because it was never read: run \`brandapi sync ${resource}\``);
}
