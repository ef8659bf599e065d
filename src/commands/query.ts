import { readFile } from "node:fs/promises";
import { Command } from "commander";
import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { formats } from "../export/formats/index.js";
import { counted } from "../lib/counted.js";
import type { Parameters, Row, Source } from "../query/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { renderTable, tableFits } from "../ui/table.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { examples } from "./help.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";

interface QueryFlags extends OutputFlags, GlobalOptions {
  file?: string;
  param?: Parameters;
  limit?: number;
}

/** A table is for reading; the other formats take all rows. */
const tableRows = 1_000;

/** Singer sends records, and an answer has none. */
const answerFormats = formats.filter(({ name }) => name !== "singer");

export function query(context: Context): Command {
  const command = new Command("query")
    .summary("Ask the mirror in SQL")
    .description(
      "One statement that reads: from the argument, a file or stdin. It cannot change the mirror. Ctrl-C ends it at " +
        "once. Needs no key and no network. `brandapi tables` lists tables, views and columns; `day` and `month` of " +
        "`orders` compare with `date('now', '-7 days')`.",
    )
    .argument("[sql...]", "the statement, in quotes; without it, stdin")
    .option("-f, --file <file>", "read the statement from a file; - is stdin")
    .addOption(
      parsed(
        "-p, --param <name=value>",
        "a value for `:name` in the statement; may be given again",
        parseParameter,
      ),
    );
  for (const option of outputFlags(answerFormats)) command.addOption(option);
  return command
    .addOption(
      parsed("--limit <n>", "at most so many rows (default: 1000 for a table, else all)", parseCount),
    )
    .addHelpText(
      "after",
      examples(
        ['brandapi query "SELECT * FROM sales_by_month"', "month over month"],
        [
          'brandapi query "SELECT host_name, orders, net_by_currency FROM hosts" --csv',
          "orders per host, as CSV",
        ],
        [
          "brandapi query -f october.sql -p month=2026-10 -o october.xlsx",
          "your own statement with `:month` in it, as a file",
        ],
      ),
    )
    .action((words: string[], _, own: Command) =>
      context.deps.killable(() => runQuery(words, own.optsWithGlobals(), context)),
    );
}

async function runQuery(words: readonly string[], options: QueryFlags, { deps }: Context): Promise<void> {
  const output = chooseOutput(options, answerFormats);
  if (!output && options.out !== undefined) throw noFormat(answerFormats);
  const { readSettings } = await import("../config/settings.js");
  const { answerSource, openMirrorReadOnly, prepareReading, readAnswer, unreadOf } = await import(
    "../query/index.js"
  );
  const { refuseKept } = await import("./kept-files.js");
  const { createReporter } = await import("../ui/reporter.js");
  const settings = await readSettings(options, deps);
  const read = { flag: "-f", file: options.file === "-" ? undefined : options.file };
  refuseKept([{ flag: "-o", file: output?.path }], [read], { options, settings, deps });
  const sql = await readSql(words, options.file, deps);
  const reporter = createReporter(deps, settings.output);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const statement = prepareReading(mirror, sql, options.param);
    for (const { name, resource } of unreadOf(mirror, sql))
      reporter.warn(`\`${name}\` is empty because it was never read: run \`brandapi sync ${resource}\``);
    const source = answerSource(mirror, statement, options.limit);
    if (output) return await writeAnswer(source, output, deps, reporter);
    const most = options.limit ?? tableRows;
    const rows = [...readAnswer(statement, most + 1)].flat();
    deps.stdout.write(await tableText(source, rows.slice(0, most), deps, settings));
    if (rows.length === 0) reporter.note("No rows.");
    if (rows.length > most && options.limit === undefined)
      reporter.note(
        `The first ${counted(most, "row", formatCount)}; more with \`--limit\`, all with \`--csv\`.`,
      );
  } finally {
    reporter.close();
    mirror.db.close();
  }
}

/** @throws UsageError if there is no statement, or more than one; ConfigurationError if the file cannot be read */
async function readSql(words: readonly string[], file: string | undefined, deps: Deps): Promise<string> {
  const [sql, second] = words;
  if (second !== undefined)
    throw new UsageError("The statement came as several words.", {
      hint: 'put the statement in quotes: `brandapi query "SELECT …"`',
    });
  if (sql !== undefined && file !== undefined)
    throw new UsageError("One statement at a time, not an argument and `--file`.", {
      hint: "leave one of them out",
    });
  if (sql !== undefined) return sql;
  if (file !== undefined && file !== "-")
    return (await readFile(expandPath(file, deps), "utf8").catch(cannotRead(file))).replace(/^\ufeff/, "");
  if (deps.stdin.isTTY)
    throw new UsageError("No SQL was given.", {
      hint: '`brandapi query "SELECT …"`, `brandapi query -f FILE`, or a pipe; `brandapi tables` lists the tables',
    });
  const pieces: Buffer[] = [];
  for await (const piece of deps.stdin) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}

function cannotRead(file: string) {
  return (cause: Error): never => {
    throw new ConfigurationError(`Cannot read ${file}: ${cause.message}.`, { hint: "check the path", cause });
  };
}

interface Notes {
  warn(text: string): void;
  note(text: string): void;
}

async function writeAnswer(source: Source, output: Output, deps: Deps, { warn, note }: Notes): Promise<void> {
  const { writeOutput } = await import("./data-sink.js");
  const done = await writeOutput([source], output, { deps, warn });
  if (output.path !== undefined)
    note(`${counted(done.rows, "row", formatCount)}, ${formatBytes(done.bytes)}: ${output.path}`);
}

/** A table; if the terminal is too narrow for it, each row as a list of its fields. */
async function tableText(
  source: Source,
  rows: readonly Row[],
  deps: Deps,
  settings: Settings,
): Promise<string> {
  const { styleFor } = await import("../ui/style.js");
  const { renderFacts } = await import("../ui/facts.js");
  const names = source.columns.map(({ name }) => name);
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = terminalWidth(deps.stdout);
  if (width === undefined || tableFits(names, rows, { width, none: "null" }))
    return `${renderTable(names, rows, { style, none: "null" })}\n`;
  const lists = rows.map((row) =>
    renderFacts(
      names.map((name, index) => [name, String(row[index])] as const),
      { style, width },
    ),
  );
  return `${lists.join("\n\n")}\n`;
}

/** Parses `name=value`. A value that reads as a number is one; in single quotes it is text. */
function parseParameter(text: string, previous: Parameters | undefined): Parameters {
  const [, name, value] = /^:?([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`Not a parameter: \`${text}\`.`, {
      hint: "use `-p name=value`, and `:name` in the statement",
    });
  return new Map([...(previous ?? []), [name, parameterValue(value)]]);
}

function parameterValue(text: string): string | number | bigint {
  if (/^-?(?:0|[1-9]\d{0,17})$/.test(text)) return BigInt(text);
  if (/^-?(?:0|[1-9]\d{0,14})\.\d{1,15}$/.test(text)) return Number(text);
  return /^'([\s\S]*)'$/.exec(text)?.[1] ?? text;
}
