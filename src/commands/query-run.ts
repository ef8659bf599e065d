import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { ReaderGone, streamSink } from "../export/sink.js";
import { openMirrorReadOnly } from "../mirror/open.js";
import { type QueryCell, runQuery } from "../mirror/query.js";
import { prepareReading } from "../mirror/read-only-sql.js";
import { formatCount } from "../ui/numbers.js";
import { styleFor } from "../ui/style.js";
import { renderTable } from "../ui/table.js";

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
  const { deps, settings, sql, format } = request;
  const mirror = await openMirrorReadOnly(settings.dbPath);
  let names: string[];
  try {
    names = distinct(
      prepareReading(mirror, sql)
        .columns()
        .map(({ name }) => name),
    );
  } finally {
    mirror.db.close();
  }
  const answer = runQuery({
    path: mirror.path,
    sql,
    limit: request.limit ?? (format === "table" ? tableRows : null),
    timeoutMs: request.timeoutMs,
    clock: deps.clock,
    signal: deps.signal,
  });
  const sink = streamSink(deps.stdout, deps.signal);
  try {
    if (format === "table") await printTable(names, answer, request, (text) => sink.write(text));
    else
      for await (const text of format === "csv" ? csvText(names, answer) : jsonText(names, answer))
        await sink.write(text);
  } catch (error) {
    if (!(error instanceof ReaderGone)) throw error;
  } finally {
    await answer.return(false);
    await sink.finish();
  }
}

async function printTable(
  names: readonly string[],
  answer: AsyncGenerator<QueryCell[][], boolean>,
  { deps, settings, limit }: QueryPrint,
  write: (text: string) => Promise<void>,
): Promise<void> {
  const rows: QueryCell[][] = [];
  let next = await answer.next();
  for (; !next.done; next = await answer.next()) rows.push(...next.value);
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = deps.stdout.isTTY ? deps.stdout.columns : undefined;
  await write(`${renderTable(names, rows, { width, style })}\n`);
  if (next.value && limit === undefined && !settings.output.quiet)
    deps.stderr.write(
      `The first ${formatCount(rows.length)} rows; more with \`--limit\`, all with \`--csv\`.\n`,
    );
}

async function* csvText(
  names: readonly string[],
  answer: AsyncIterable<QueryCell[][]>,
): AsyncIterable<string> {
  const { stringify } = await import("csv-stringify/sync");
  const options = { quote_record_delimiter: true, ...(names.length === 1 ? { quoted_empty: true } : {}) };
  yield stringify([[...names]], options);
  for await (const rows of answer) yield stringify(rows, options);
}

async function* jsonText(
  names: readonly string[],
  answer: AsyncIterable<QueryCell[][]>,
): AsyncIterable<string> {
  const members = names.map((name) => JSON.stringify(name));
  let separator = "[\n";
  for await (const rows of answer) {
    const objects = rows.map(
      (row) => `{${members.map((name, index) => `${name}:${jsonOf(row[index] ?? null)}`)}}`,
    );
    yield separator + objects.join(",\n");
    separator = ",\n";
  }
  yield separator === "[\n" ? "[]\n" : "\n]\n";
}

function jsonOf(value: QueryCell): string {
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
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
