import { ConfigurationError, UsageError } from "../errors.js";
import { createAsOfTables } from "../query/as-of.js";
import { findLastingGaps } from "../query/health.js";
import {
  declaredColumns,
  type ReadableTable,
  resolveTable,
  shapesReadBy,
  tableNames,
} from "../query/readable-tables.js";
import { syncingResource } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import { hasBeenRead, hasDoneSync } from "../store/runs.js";
import { systemTables } from "../store/schema.js";
import { closestName, didYouMean } from "../util/suggestions.js";
import { describeRange } from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { refuseCommas } from "./flags.js";
import type { ReadSession } from "./read-session.js";
import { parseInstant } from "./time-flags.js";

/**
 * Checks the name of a table or view, and returns it with any dashes replaced by underscores.
 * @param columns the value of `--columns`; if `typed` is a column, the hint adds it to these columns
 * @throws UsageError, with the closest name as a hint, if the name is unknown
 */
export function resolveTableName(typed: string, columns: readonly string[] = []): string {
  const name = typed.replaceAll("-", "_").toLowerCase();
  if (tableNames.includes(name)) return name;
  const isColumn = tableNames.flatMap(declaredColumns).some((column) => column.name === typed);
  if (isColumn && columns.length > 0)
    throw new UsageError(`\`${typed}\` is a column, not a table.`, {
      hint: `separate the columns with commas: \`--columns ${[...columns, typed].join(",")}\``,
    });
  refuseCommas("table", name, tableNames);
  if (Object.hasOwn(systemTables, name))
    throw new UsageError(`\`${name}\` is a system table that only \`brandapi query\` can read.`, {
      hint: `run \`brandapi query "SELECT * FROM ${name} LIMIT 10"\``,
    });
  throw new UsageError(`Unknown table: \`${typed}\`.`, {
    hint: didYouMean(closestName(name, tableNames)) ?? "`brandapi tables` lists the tables and views",
  });
}

/**
 * Returns a table or view.
 * @param options.acceptsUnreadViews true to return a view even if none of its resources has been read, so that a script
 * can export all views although the plan does not allow some resources
 * @throws ConfigurationError if none of the resources in the table or view has been read
 */
export function resolveSyncedTable(
  mirror: Mirror,
  name: string,
  { acceptsUnreadViews = false } = {},
): ReadableTable {
  const table = resolveTable(mirror, name);
  const { isEmpty, unread } = findUnreadResources(mirror, name);
  if (!isEmpty || (acceptsUnreadViews && table.kind === "view")) return table;
  throw new ConfigurationError(`The mirror has no data for \`${name}\` yet: ${mirror.path}`, {
    hint: `run \`brandapi sync ${unread.join(" ")}\` first`,
  });
}

/**
 * Parses `--as-of`. A date or month stands for its end, even if that is in the future.
 * @throws UsageError if the time, or the start of the date or month, is in the future
 */
export function parseAsOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (parseInstant(text, "--as-of", "start", now) > now)
    throw new UsageError(`\`--as-of ${text}\` is in the future.`, { hint: "choose a time in the past" });
  return parseInstant(text, "--as-of", "end", now);
}

/**
 * On this connection only, makes the mirror's tables and views return the data as of an earlier time. Warns about data
 * that is unavailable for that time.
 */
export function useDataAsOf(
  { mirror, reporter: { warn } }: ReadSession,
  names: readonly string[],
  asOfMs: number,
): void {
  const { notYetRead, withoutHistory, isRankingReplaced } = createAsOfTables(mirror, names, asOfMs);
  for (const { resourceName, firstReadAt } of notYetRead)
    warn(
      `${resourceName} was first read at ${firstReadAt}, so there is no data for an \`--as-of\` time before that`,
    );
  for (const name of withoutHistory)
    warn(
      `the mirror keeps no history of \`${name}\`, so rows read after ${formatInstant(asOfMs)} are omitted`,
    );
  if (isRankingReplaced)
    warn(
      "the host ranking was re-read later on the same day, and the mirror keeps only the last ranking of each day, " +
        "so `hosts` contains an earlier day's ranking or none",
    );
}

/**
 * Warns about tables and views that are empty because they have never been read. If a view lacks data from only some
 * resources, prints a note instead, because the key may not allow these resources, or the user may not need them.
 */
export function warnAboutUnreadTables({ mirror, reporter }: ReadSession, names: Iterable<string>): void {
  for (const name of names) {
    const { isEmpty, unread } = findUnreadResources(mirror, name);
    if (unread.length === 0) continue;
    const have = unread.length === 1 ? "has" : "have";
    const hint = `run \`brandapi sync ${unread.join(" ")}\``;
    if (isEmpty) reporter.warn(`\`${name}\` is empty because it has never been read; ${hint}`);
    else
      reporter.note(
        `\`${name}\` contains no data from ${unread.join(", ")}, which ${have} never been read; ${hint}`,
      );
  }
}

/**
 * Finds the resources that a table or view needs but that have never been read.
 * @returns `unread`, the resources to sync; `isEmpty`, which is true if the table or view has no data from any resource
 */
function findUnreadResources(mirror: Mirror, name: string): { unread: string[]; isEmpty: boolean } {
  const namesOf = (resources: readonly Resource[]) => resources.map((one) => syncingResource(one).name);
  const resources = resourcesReadBy(name);
  const read = namesOf(resources.filter((resource) => hasBeenRead(mirror, resource)));
  const unread = [...new Set(namesOf(resources))].filter((one) => !read.includes(one));
  return { unread, isEmpty: unread.length > 0 && read.length === 0 };
}

/**
 * Warns about tables and views that may lack records because the first sync was interrupted or a later one left a gap.
 * The records before the start of the mirror were omitted on purpose, so a warning about them would be noise.
 */
export function warnAboutPartialTables({ mirror, reporter }: ReadSession, names: readonly string[]): void {
  const resources = new Set(names.flatMap(resourcesReadBy));
  for (const resource of resources)
    for (const gap of findLastingGaps(mirror, resource))
      reporter.warn(
        `${resource.name}: ${describeRange(gap)} has never been read, so records may be missing; run \`brandapi sync ${resource.name}\``,
      );
  const partial = [...resources].filter(
    (resource) => hasBeenRead(mirror, resource) && !hasDoneSync(mirror, resource),
  );
  for (const resourceName of new Set(partial.map((one) => syncingResource(one).name))) {
    const warning = `${resourceName}: no sync has completed yet, so records may be missing; run \`brandapi sync ${resourceName}\``;
    reporter.warn(warning);
  }
}

/** Returns the resources whose records appear in a table or view. */
function resourcesReadBy(name: string): Resource[] {
  return [...new Set(shapesReadBy(name).map(({ resource }) => resource))];
}
