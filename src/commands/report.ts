import { statSync } from "node:fs";
import { extname, join } from "node:path";
import { type Command, Option } from "commander";
import { addBrandFlags } from "../cli/brand-flags.js";
import { parsedOption, parseRange } from "../cli/flags.js";
import { type ReadSession, withReadSession } from "../cli/read-session.js";
import { parseInstant } from "../cli/time-flags.js";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context } from "../deps.js";
import { UsageError } from "../errors.js";
import { writeToFile } from "../export/write-output.js";
import type { ReportDocument } from "../report/document.js";
import { renderPage } from "../report/page.js";
import { renderText } from "../report/plain-text.js";
import { createReport } from "../report/sales-report.js";
import { findRunningCommand } from "../store/mirror-lock.js";
import { formatBytes, quoteShellWord } from "../util/format-text.js";
import { printJson } from "../util/terminal.js";

interface ReportFlags extends GlobalFlags {
  month?: string;
  since?: string;
  until?: string;
  out?: string;
  text?: boolean;
  open?: boolean;
}

export const about =
  "Generates one self-contained HTML page, or text, from the mirror. Compares the period with the preceding period and, for a month, with the same month a year earlier. " +
  "If part of the period has not been read, the report covers only complete days and states their range. " +
  "Default: the month of the last complete day (UTC).";

export const examples = {
  "brandapi report --open": "open this month's report in the browser",
  "brandapi report --month last-month -o october.html": "write last month's report to a file",
  "brandapi report --since 7d --text": "print a report for the last 7 days in the terminal",
};

export function define(command: Command): void {
  const month = parsedOption(
    "--month <month>",
    "month that the report covers: 2026-10, `this-month` or `last-month`",
    parseMonth,
  );
  command
    .addOption(month.conflicts(["since", "until"]))
    .option("--since <time>", "first day of the period")
    .option("--until <time>", "last day of the period")
    .option("-o, --out <file>", "file to write, or `-` for stdout (default: report-2026-10.html)")
    .option("--open", "open the page in the browser")
    .addOption(new Option("--text", "print the report as text to stdout").conflicts(["json", "open", "out"]))
    .addOption(new Option("--json", "print the report as JSON to stdout").conflicts(["open", "out"]));
}

export async function run(flags: ReportFlags, { deps }: Context): Promise<void> {
  const { month, text, json, out, open } = flags;
  if (open && out === "-")
    throw new UsageError("`--open` needs a file, but `-o -` writes to stdout.", {
      hint: "omit `--open` or `-o -`",
    });
  if (month !== undefined && parseInstant(month, "--month", "start", deps.clock.now()) > deps.clock.now())
    throw new UsageError(`\`--month ${month}\` is in the future.`, {
      hint: "choose an earlier month, or `this-month`",
    });
  const period = month === undefined ? flags : { since: month, until: month };
  const range = parseRange(period, deps.clock.now());
  await withReadSession(flags, deps, async (session) => {
    const { mirror, style, width = 80 } = session;
    const runningCommand = await findRunningCommand(mirror.path);
    const report = createReport(mirror, range, { now: deps.clock.now(), runningCommand });
    // The commands in the HTML page and in JSON omit the flags, because both are sent to others.
    const completeCommands = (sentence: string) => addBrandFlags(sentence, flags, deps.env);
    if (text) deps.stdout.write(renderText(report, { style, width: Math.min(80, width), completeCommands }));
    else if (json) printJson(deps.stdout, report);
    else if (out === "-") deps.stdout.write(renderPage(report));
    else await writePage(report, out ?? `report-${report.period.slug}.html`, session, open);
  });
}

function parseMonth(text: string, option: string): string {
  if (/^(\d{4}-(0[1-9]|1[0-2])|(this|last)-month)$/.test(text)) return text;
  throw new UsageError(`\`${option}\` is not a month: \`${text}\`.`, {
    hint: "use a month such as `2026-10`, or `last-month`",
  });
}

async function writePage(
  report: ReportDocument,
  file: string,
  { deps, reporter }: ReadSession,
  open = false,
): Promise<void> {
  const path = expandPath(file, deps);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`The output path is a folder: \`${file}\``, {
      hint: `specify a file in this folder: \`-o ${quoteShellWord(join(file, "report.html"))}\``,
    });
  if (extname(file).toLowerCase() !== ".html")
    throw new UsageError(`The report's file name must end in .html: ${file}`, {
      hint: "use a name such as `-o report.html`",
    });
  const { bytes } = await writeToFile([{ data: renderPage(report) }], path, deps);
  reporter.note(`${report.period.name}: ${formatBytes(bytes)}: ${file}`);
  if (open) deps.openInBrowser(path);
}
