import { extname } from "node:path";
import { Command, Option } from "commander";
import { expandPath } from "../config/folders.js";
import { UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import { writeAll } from "../export/sink.js";
import { runUnderWay } from "../mirror/index.js";
import { withSnapshot } from "../query/index.js";
import { createNumbers, type Document, makeReport, readLocale } from "../report/index.js";
import { writeHtml } from "../report/write-html.js";
import { writeText } from "../report/write-text.js";
import { formatBytes } from "../ui/numbers.js";
import { drawsUnicode } from "../ui/reporter.js";
import { plainStyle } from "../ui/style.js";
import { escapeData } from "../ui/text.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed, parseRange } from "./flags.js";
import { examples } from "./help.js";
import { type Reading, readMirror } from "./reading.js";

interface ReportFlags extends GlobalOptions {
  month?: string;
  since?: string;
  until?: string;
  out?: string;
  text?: boolean;
  open?: boolean;
}

/** The forms of a report, and the ending of a file in each. */
const endings = { html: ".html", text: ".txt", json: ".json" };
type Form = keyof typeof endings;

export function define(context: Context): Command {
  const month = parsed("--month <month>", "the month: 2026-10, `this-month` or `last-month`", parseMonth);
  return new Command("report")
    .description(
      "Made from the mirror; nothing is downloaded. Compares with the previous period, and a month with the same " +
        "month a year ago. Default: the month of the last complete day (UTC).",
    )
    .addOption(month.conflicts(["since", "until"]))
    .option("--since <time>", "from this day on")
    .option("--until <time>", "through this day")
    .option("-o, --out <file>", "the file to write; `-`: stdout (default: report-2026-10.html)")
    .addOption(new Option("--open", "show the page in the browser").conflicts("text"))
    .option("--text", "text on stdout instead; with `-o`, in a `.txt` file")
    .option("--json", "JSON on stdout instead; with `-o`, in a `.json` file")
    .addHelpText(
      "after",
      examples(
        ["brandapi report --open", "the page of the current month, in the browser"],
        ["brandapi report --month last-month -o october.html", "the page of the previous month"],
        ["brandapi report --since 7d --text", "the last days, in the terminal"],
      ),
    )
    .action((_, own: Command) => runReport(own.optsWithGlobals(), context));
}

async function runReport(options: ReportFlags, { deps }: Context): Promise<void> {
  const form = options.text ? "text" : options.json ? "json" : "html";
  const { month: since, month: until } = options;
  const asked = parseRange(since === undefined ? options : { since, until }, deps.clock.now());
  const numbers = createNumbers(readLocale(deps.env));
  await readMirror(options, deps, async (reading) => {
    const { mirror, settings } = reading;
    const underWay = await runUnderWay(settings.dbPath);
    const context = { now: deps.clock.now(), underWay, numbers };
    const made = await withSnapshot(mirror, async () => makeReport(mirror, asked, context));
    const file = options.out ?? (form === "html" ? `report-${made.period.slug}.html` : "-");
    if (file !== "-") return await save(made, form, file, reading, options.open);
    if (options.open)
      throw new UsageError("`--open` shows the page, which needs a file.", { hint: "name one with `-o`" });
    const text = write(made, form, reading);
    deps.stdout.write(form === "json" && deps.stdout.isTTY ? escapeData(text) : text);
  });
}

function write(made: Document, form: Form, { deps, style, width }: Reading): string {
  if (form === "html") return writeHtml(made);
  if (form === "json") return `${JSON.stringify(made)}\n`;
  return writeText(made, { style, unicode: drawsUnicode(deps), width: Math.min(80, width ?? 80) });
}

/** @throws UsageError if the file's name has the ending of a different form, or of something else */
async function save(made: Document, form: Form, file: string, reading: Reading, isShown = false) {
  const ending = endings[form];
  if (extname(file).toLowerCase() !== ending)
    throw new UsageError(`This report is written as \`${ending}\`, not as \`${extname(file)}\`: ${file}`, {
      hint: `name it \`-o report${ending}\`; \`--text\` writes \`.txt\`, \`--json\` writes \`.json\``,
    });
  const { deps, reporter } = reading;
  const data = write(made, form, { ...reading, style: plainStyle, width: undefined });
  const path = expandPath(file, deps);
  const { bytes } = await writeAll([{ data, rows: 0 }], await openFileSink(path, deps));
  reporter.note(`${made.period.name}: ${formatBytes(bytes)}: ${file}`);
  if (isShown) deps.open(path);
}

/** @throws UsageError unless it has the form of a month; `parseRange` says which days it has */
function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text) || text === "this-month" || text === "last-month") return text;
  throw new UsageError(`Not a month: \`${text}\`.`, { hint: "use for example `2026-10` or `last-month`" });
}
