import { extname } from "node:path";
import { Command, Option } from "commander";
import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Document } from "../report/index.js";
import { formatBytes } from "../ui/numbers.js";
import { escapeData } from "../ui/text.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed, parseRange } from "./flags.js";
import { examples } from "./help.js";

interface ReportFlags extends GlobalOptions {
  month?: string;
  since?: string;
  until?: string;
  out?: string;
  text?: boolean;
  open?: boolean;
  locale?: string;
}

export function define(context: Context): Command {
  return new Command("report")
    .description(
      "Made from the mirror; nothing is downloaded. Compares with the previous period, and a month with the same " +
        "month a year ago. Default: the month of the last complete day (UTC).",
    )
    .addOption(
      parsed("--month <month>", "the month: 2026-10, `this-month` or `last-month`", parseMonth).conflicts([
        "since",
        "until",
      ]),
    )
    .option("--since <time>", "from this day on")
    .option("--until <time>", "through this day")
    .option("-o, --out <file>", "the file to write; `-`: stdout (default: report-2026-10.html)")
    .addOption(new Option("--open", "show the page in the browser").conflicts("text"))
    .option("--text", "text on stdout instead; with `-o`, in a `.txt` file")
    .option("--json", "JSON on stdout instead; with `-o`, in a `.json` file")
    .option("--locale <name>", "how numbers are written: en, de-CH, fr (default: this machine's)")
    .addHelpText(
      "after",
      examples(
        ["brandapi report --open", "the page of the current month, in the browser"],
        ["brandapi report --month last-month -o october.html", "the page of the previous month"],
        ["brandapi report --since 7d --text", "the last days, in the terminal"],
      ),
    )
    .action((_, command: Command) =>
      context.deps.killable(() => runReport(command.optsWithGlobals(), context.deps)),
    );
}

async function runReport(options: ReportFlags, deps: Deps): Promise<void> {
  const form = options.text ? "text" : options.json ? "json" : "html";
  if (options.text && options.json)
    throw new UsageError("`--text` does not go with `--json`.", { hint: "leave one of them out" });
  const { month: since, month: until } = options;
  const asked = parseRange(since === undefined ? options : { since, until }, deps.clock.now());
  const { readSettings } = await import("../config/settings.js");
  const { runUnderWay } = await import("../mirror/index.js");
  const { openMirrorReadOnly, withSnapshot } = await import("../query/index.js");
  const { createNumbers, makeReport, readLocale } = await import("../report/index.js");
  const numbers = createNumbers(readLocale(options.locale, deps.env));
  const settings = await readSettings(options, deps);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const underWay = await runUnderWay(settings.dbPath);
    const now = deps.clock.now();
    const made = await withSnapshot(mirror, async () =>
      makeReport(mirror, asked, { now, underWay, numbers }),
    );
    const file = options.out ?? (form === "html" ? `report-${made.period.slug}.html` : "-");
    if (file !== "-") checkEnding(file, form);
    if (file === "-" && options.open)
      throw new UsageError("`--open` shows the page, which needs a file.", { hint: "name one with `-o`" });
    if (file === "-") deps.stdout.write(await write(made, form, deps, settings, terminalWidth(deps.stdout)));
    else await save(made, form, file, { options, deps, settings });
  } finally {
    mirror.db.close();
  }
}

const endings = { html: ".html", text: ".txt", json: ".json" };
type Form = keyof typeof endings;

/** @throws UsageError if the file's name has the ending of a different form, or of something else */
function checkEnding(file: string, form: Form): void {
  const ending = endings[form];
  if (extname(file).toLowerCase() !== ending)
    throw new UsageError(`This report is written as \`${ending}\`, not as \`${extname(file)}\`: ${file}`, {
      hint: `name it \`-o report${ending}\`; \`--text\` writes \`.txt\`, \`--json\` writes \`.json\``,
    });
}

/** @param width the terminal's columns; undefined for files and pipes, which get 80 */
async function write(
  made: Document,
  form: Form,
  deps: Deps,
  settings: Settings,
  width?: number,
): Promise<string> {
  if (form === "html") return (await import("../report/write-html.js")).writeHtml(made);
  if (form === "json") {
    const line = `${JSON.stringify(made)}\n`;
    return width === undefined ? line : escapeData(line);
  }
  const { writeText } = await import("../report/write-text.js");
  const { styleFor } = await import("../ui/style.js");
  const { drawsUnicode } = await import("../ui/reporter.js");
  const style = styleFor(deps.stdout, { color: settings.output.color && width !== undefined }, deps.env);
  return writeText(made, { style, unicode: drawsUnicode(deps), width: Math.min(80, width ?? 80) });
}

async function save(
  made: Document,
  form: Form,
  file: string,
  { options, deps, settings }: { options: ReportFlags; deps: Deps; settings: Settings },
): Promise<void> {
  const { openFileSink } = await import("../export/file-sink.js");
  const { writeAll } = await import("../export/sink.js");
  const { createReporter } = await import("../ui/reporter.js");
  const data = await write(made, form, deps, settings);
  const path = expandPath(file, deps);
  const { bytes } = await writeAll([{ data, rows: 0 }], await openFileSink(path, deps));
  const reporter = createReporter(deps, settings.output);
  reporter.note(`${made.period.name}: ${formatBytes(bytes)}: ${file}`);
  reporter.close();
  if (options.open) deps.open(path);
}

/** @throws UsageError unless it has the form of a month; `parseRange` says which days it has */
function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text) || text === "this-month" || text === "last-month") return text;
  throw new UsageError(`Not a month: \`${text}\`.`, { hint: "use for example `2026-10` or `last-month`" });
}
