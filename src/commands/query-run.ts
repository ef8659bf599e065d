import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { type QueryCell, type RunningQuery, readRows, startQuery } from "../export/query.js";
import { ReaderGone, streamSink } from "../export/sink.js";
import { openMirrorReadOnly } from "../query/open.js";
import { prepareReading } from "../query/read-only-sql.js";
import { formatCount } from "../ui/numbers.js";
import { styleFor } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { dataSink } from "./data-sink.js";

export interface QueryPrint {
  deps: Deps;
  settings: Settings;
  sql: string;
  format: "table" | "csv" | "json";
  limit: number | undefined;
  timeoutMs: number;
}

/** A table is read by people, and its widths need every row. */
const tableRows = 1_000;

/** Runs a query and prints its answer; a reader that leaves ends it quietly. */
export async function printQuery(request: QueryPrint): Promise<void> {
  const { deps, settings, sql, format, limit } = request;
  const mirror = await openMirrorReadOnly(settings.dbPath);
  let names: string[];
  try {
    const columns = prepareReading(mirror, sql).columns();
    names = distinct(columns.map(({ name }) => name));
  } finally {
    mirror.db.close();
  }
  const query = startQuery(
    {
      path: mirror.path,
      sql,
      names,
      limit: limit ?? (format === "table" ? tableRows : null),
      format: format === "table" ? "rows" : format,
    },
    { timeoutMs: request.timeoutMs, clock: deps.clock, signal: deps.signal },
  );
  // A table is escaped cell by cell: its colours are ours.
  const sink = format === "table" ? streamSink(deps.stdout, deps.signal) : dataSink(deps);
  try {
    if (format === "table") await printTable(names, query, request, sink.write);
    else for await (const piece of query.answer) await sink.write(piece as Buffer);
    await query.ended;
    await sink.finish();
  } catch (error) {
    await sink.discard();
    if (!(error instanceof ReaderGone)) throw error;
  } finally {
    query.stop();
    await query.ended.catch(() => {});
  }
}

async function printTable(
  names: readonly string[],
  query: RunningQuery,
  { deps, settings, limit }: QueryPrint,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const rows: QueryCell[][] = [];
  for await (const row of readRows(query.answer)) rows.push(row);
  const more = await query.ended;
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = deps.stdout.isTTY ? deps.stdout.columns : undefined;
  await write(`${renderTable(names, rows, { width, style, none: "null" })}\n`);
  if (more && limit === undefined && !settings.output.quiet)
    deps.stderr.write(
      `The first ${formatCount(rows.length)} rows; more with \`--limit\`, all with \`--csv\`.\n`,
    );
}

/** Two columns of one name would be one member of a JSON object. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}
