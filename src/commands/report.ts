import { Command } from "commander";
import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import { UsageError } from "../errors.js";
import type { Report } from "../report/index.js";
import { printJson } from "../ui/data.js";
import { formatBytes } from "../ui/numbers.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";
import { examples } from "./help.js";
import { isStdout } from "./output.js";
import { parseRange } from "./values.js";

interface ReportFlags {
  month?: string;
  since?: string;
  until?: string;
  out?: string;
  text?: boolean;
  locale?: string;
}

export function report(context: Context): Command {
  return new Command("report")
    .summary("Make a page to send on: sales, refunds, what was restated, what is proven")
    .description(
      "One HTML file without scripts that asks no network, or text. Made from the mirror; nothing is downloaded. " +
        "Compares with the previous period. Default: the month of the last complete day (UTC).",
    )
    .addOption(parsed("--month <month>", "the month: 2026-10, `this-month` or `last-month`", parseMonth))
    .option("--since <time>", "from this day on")
    .option("--until <time>", "through this day")
    .option(
      "-o, --out <file>",
      "the file to write, whole or not at all; `-`: stdout (default: report-2026-10.html)",
    )
    .option("--text", "text on stdout instead")
    .option("--locale <name>", "how numbers are written: en, de-CH, fr (default: this machine's)")
    .addHelpText(
      "after",
      examples(
        ["brandapi report", "the page of the current month, in a file named for it"],
        ["brandapi report --month last-month -o october.html", "the page of the month before"],
        ["brandapi report --since 7d --text", "the last days, in the terminal"],
      ),
    )
    .action((_, command: Command) =>
      context.deps.killable(() => runReport(command.optsWithGlobals(), context)),
    );
}

async function runReport(options: ReportFlags & GlobalOptions, context: Context): Promise<void> {
  const { deps } = context;
  const range = askedRange(options, deps.clock.now());
  const other = options.text ? "--text" : options.json ? "--json" : null;
  if (other !== null && options.out !== undefined && !isStdout(options.out))
    throw new UsageError(`\`-o\` is for the page: it does not go with \`${other}\`, which prints.`, {
      hint: `leave one of them out, or add \`> FILE\``,
    });
  const { readSettings } = await import("../config/settings.js");
  const { runUnderWay } = await import("../mirror/index.js");
  const { openMirrorReadOnly, withSnapshot } = await import("../query/index.js");
  const { createNumbers, readLocale, reportOf, writeText } = await import("../report/index.js");
  const locale = readLocale(options.locale, deps.env);
  const settings = await readSettings(options, deps);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const underWay = await runUnderWay(settings.dbPath);
    const told = await withSnapshot(mirror, async () => reportOf(mirror, range, deps.clock.now(), underWay));
    if (settings.output.json) printJson(deps.stdout, told);
    else if (options.text) {
      const { styleFor } = await import("../ui/style.js");
      const { drawsUnicode } = await import("../ui/reporter.js");
      const style = styleFor(deps.stdout, settings.output, deps.env);
      const width = Math.min(80, terminalWidth(deps.stdout) ?? 80);
      const text = writeText(told, createNumbers(locale), { style, unicode: drawsUnicode(deps), width });
      deps.stdout.write(text);
    } else await writeHtml(options, context, told, locale, settings);
  } finally {
    mirror.db.close();
  }
}

/** The page into its file, or to stdout. */
async function writeHtml(
  options: ReportFlags & GlobalOptions,
  { deps }: Context,
  told: Report,
  locale: string,
  settings: Settings,
): Promise<void> {
  const { openFileSink } = await import("../export/file-sink.js");
  const { writeAll } = await import("../export/sink.js");
  const { pageOf } = await import("../report/page.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { dataSink } = await import("./data-sink.js");
  const { refuseKept } = await import("./kept-files.js");
  const out = options.out ?? `report-${told.period.slug}.html`;
  if (!isStdout(out)) refuseKept([{ flag: "-o", file: out }], [], { options, settings, deps });
  const page = await pageOf(told, locale);
  const sink = isStdout(out) ? dataSink(deps) : await openFileSink(expandPath(out, deps), deps);
  const { bytes } = await writeAll([{ data: page, rows: 0 }], sink);
  if (isStdout(out)) return;
  const reporter = createReporter(deps, settings.output);
  reporter.note(`${told.period.name}: ${formatBytes(bytes)}: ${out}`);
  reporter.close();
}

/** @throws UsageError for what is no month; which one it is, its time says */
function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text) || text === "this-month" || text === "last-month") return text;
  throw new UsageError(`Not a month: \`${text}\`.`, { hint: "use for example `2026-10` or `last-month`" });
}

function askedRange({ month, since, until }: ReportFlags, now: number) {
  if (month === undefined) return parseRange({ since, until }, now);
  if (since !== undefined || until !== undefined)
    throw new UsageError("`--month` does not go with `--since` and `--until`.", {
      hint: "leave one of them out",
    });
  return parseRange({ since: month, until: month }, now);
}
