import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { Format } from "../export/format.js";
import { runExport } from "../export/run.js";
import type { Mirror } from "../mirror/mirror.js";
import { expandPath } from "../paths.js";
import { checkCondition, explainRunning } from "../query/condition.js";
import { openMirrorReadOnly } from "../query/open.js";
import { openSource, withSnapshot } from "../query/select.js";
import { dateOf, type Selection } from "../query/select-sql.js";
import {
  describeTable,
  knownTableNames,
  listTables,
  type ReadableTable,
  syncedBy,
  typedTables,
  wasRead,
} from "../query/tables.js";
import { readAsOf } from "../records/as-of.js";
import { formatInstant } from "../times.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { createReporter } from "../ui/reporter.js";
import { dataSink } from "./data-sink.js";
import { nearest, suggest } from "./nearest.js";

export interface ExportRequest extends Omit<Selection, "table"> {
  deps: Deps;
  settings: Settings;
  /** Says which format was asked for; throws UsageError where that is none, or two. */
  chooseFormat: () => Format;
  tableName: string;
  /** The file to write; undefined: stdout. */
  out: string | undefined;
  excel: boolean;
  asOf: number | undefined;
}

/** Writes one table of the mirror, and says how much that was where it went into a file. */
export async function exportFromMirror(request: ExportRequest): Promise<void> {
  const { deps, settings, out } = request;
  const { clock, signal } = deps;
  const reporter = createReporter(deps, settings.output);
  const started = clock.monotonic();
  if (out) refuseMirror(out, settings.dbPath, deps);
  // A name that no mirror could hold is the first thing to say, then a format that is missing.
  if (!existsSync(settings.dbPath)) {
    checkName(request.tableName, knownTableNames());
    request.chooseFormat();
  }
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    checkName(request.tableName, [...listTables(mirror), ...knownTableNames()]);
    const format = request.chooseFormat();
    await withSnapshot(mirror, async () => {
      const table = findTable(mirror, request.tableName);
      checkSelection(mirror, table, request);
      const { write } = await format.load();
      const sink = out ? await openFileSink(expandPath(out, deps), deps.random) : dataSink(deps);
      try {
        if (request.asOf !== undefined)
          layAsOf(mirror, table, request.asOf, clock.now(), (text) => reporter.warn(text));
        const source = openSource(mirror, { ...request, table });
        const warn = (text: string) => reporter.warn(`${table.name}: ${text}`);
        const done = await runExport(source, write, sink, { excel: request.excel, warn, signal, clock });
        const took = `${((clock.monotonic() - started) / 1_000).toFixed(1)}s`;
        if (out)
          reporter.note(
            `${table.name}: ${formatCount(done.rows)} rows, ${formatBytes(done.bytes)} in ${took}: ${out}`,
          );
      } catch (error) {
        await sink.discard();
        throw explainRunning(error, request.where);
      }
    });
  } finally {
    mirror.db.close();
    reporter.close();
  }
}

/**
 * The table that a person means, spelled with `-` or `_`.
 * @throws UsageError for an unknown one, ConfigurationError for one that was not synced yet
 */
export function findTable(mirror: Mirror, name: string): ReadableTable {
  const wanted = name.replaceAll("-", "_").toLowerCase();
  const names = listTables(mirror);
  const known = typedTables().find((shape) => shape.name === wanted);
  if (known && !wasRead(mirror, known.resource))
    throw new ConfigurationError(`The mirror holds no \`${known.name}\` yet: ${mirror.path}`, {
      hint: `run \`brandapi sync ${syncedBy(known.resource).name}\` first`,
    });
  return describeTable(mirror, checkName(name, [...names, ...knownTableNames()]));
}

/** What an export would overwrite must not be what it reads. */
function refuseMirror(out: string, dbPath: string, deps: Deps): void {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));
  const target = real(expandPath(out, deps));
  const mirror = real(dbPath);
  if (["", "-wal", "-shm", "-lock", "-journal"].some((suffix) => target === `${mirror}${suffix}`))
    throw new UsageError(`The file to write is the mirror itself: ${out}.`, {
      hint: "name another file with `-o`",
    });
}

/** @returns the table's own name @throws UsageError with the nearest valid name */
function checkName(name: string, names: readonly string[]): string {
  const wanted = name.replaceAll("-", "_").toLowerCase();
  const found = names.find((one) => one.toLowerCase() === wanted);
  if (found) return found;
  const near = nearest(wanted, new Set(names));
  throw new UsageError(`Unknown table: \`${name}\`.`, {
    hint: near ? `did you mean \`${near}\`?` : "`brandapi export --help` lists the tables",
  });
}

function checkSelection(mirror: Mirror, table: ReadableTable, request: ExportRequest): void {
  const names = table.columns.map((column) => column.name);
  for (const name of request.columns ?? [])
    if (!names.includes(name))
      throw new UsageError(`\`${table.name}\` has no column \`${name}\`.`, { hint: suggest(name, names) });
  if ((request.since !== undefined || request.until !== undefined) && dateOf(table) === null)
    throw new UsageError(`\`${table.name}\` has no date that \`--since\` and \`--until\` could go by.`, {
      hint: 'use `--where "…"` instead',
    });
  if (request.asOf !== undefined && !table.shape)
    throw new UsageError(`\`--as-of\` is for the API's records, not for \`${table.name}\`.`, {
      hint: "leave `--as-of` out",
    });
  if (request.where !== undefined) checkCondition(mirror, table, request.where);
}

/** What the mirror did not know yet, it cannot tell. */
function layAsOf(
  mirror: Mirror,
  table: ReadableTable,
  at: number,
  now: number,
  warn: (text: string) => void,
): void {
  if (!table.shape) return;
  if (at > now)
    warn(`${table.name}: ${formatInstant(at)} is yet to come: these are the records as they are known now`);
  const { firstReadAt } = readAsOf(mirror, table.shape, at);
  if (firstReadAt !== null && firstReadAt > formatInstant(at))
    warn(`${table.name}: the mirror read this first at ${firstReadAt}, later than ${formatInstant(at)}`);
}
