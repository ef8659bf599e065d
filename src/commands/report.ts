import { expandPath } from "../config/folders.js";
import type { Settings } from "../config/settings.js";
import { exitCodes, UsageError } from "../errors.js";
import type { Report } from "../report/index.js";
import { printJson } from "../ui/data.js";
import { formatBytes } from "../ui/numbers.js";
import { terminalWidth } from "../ui/width.js";
import { type CommandSpec, defineCommand, type Invocation } from "./command.js";
import { allProfilesFlag } from "./globals.js";
import { apartIfLarge } from "./large.js";
import { isStdout } from "./output.js";
import { parseRange } from "./values.js";

interface ReportFlags {
  month?: string;
  since?: string;
  until?: string;
  out?: string;
  text?: boolean;
  locale?: string;
  allProfiles?: boolean;
}

export const report: CommandSpec = defineCommand<ReportFlags>({
  name: "report",
  summary: "Make a page to send on: sales, refunds, what was restated, what is proven",
  description:
    "One HTML file without scripts that asks no network, or text. Made from the mirror alone, beside the time " +
    "before; without a time, the month of the last day (UTC) that was read whole, as far as it was read. " +
    "Needs no key and no network.",
  arguments: [],
  flags: [
    {
      flags: "--month <month>",
      about: "the month: 2026-10, `this-month` or `last-month`",
      parse: parseMonth,
    },
    { flags: "--since <time>", about: "from this day on" },
    { flags: "--until <time>", about: "through this day" },
    {
      flags: "-o, --out <file>",
      about: "the file to write, whole or not at all; `-`: stdout",
      shown: "report-2026-10.html",
    },
    { flags: "--text", about: "text on stdout instead" },
    { flags: "--locale <name>", about: "how numbers are written: en, de-CH, fr (default: this machine's)" },
    allProfilesFlag,
  ],
  examples: [
    { command: "brandapi report", about: "the page of the current month, in a file named for it" },
    { command: "brandapi report --month last-month -o october.html", about: "the page of the month before" },
    { command: "brandapi report --since 7d --text", about: "the last days, in the terminal" },
  ],

  apart: apartIfLarge,

  async run(invocation) {
    const { deps, options, profile } = invocation;
    const range = askedRange(options, deps.clock.now());
    const other = options.text ? "--text" : options.json ? "--json" : null;
    if (other !== null && options.out !== undefined && !isStdout(options.out))
      throw new UsageError(`\`-o\` is for the page: it does not go with \`${other}\`, which prints.`, {
        hint: `leave one of them out, or add \`> FILE\``,
      });
    if (options.allProfiles) {
      if (options.out !== undefined)
        throw new UsageError("`-o` is for one page: it does not go with `--all-profiles`.", {
          hint: "leave one of them out",
        });
      const { eachProfile } = await import("./each-profile.js");
      return await eachProfile(invocation, report, "look");
    }
    const { readSettings } = await import("../config/settings.js");
    const { runUnderWay } = await import("../mirror/index.js");
    const { openMirrorReadOnly, withSnapshot } = await import("../query/index.js");
    const { createNumbers, readLocale, reportOf, writeText } = await import("../report/index.js");
    const locale = readLocale(options.locale, deps.env);
    const settings = await readSettings(options, deps);
    const mirror = await deps.mortally(() => openMirrorReadOnly(settings.dbPath));
    try {
      const underWay = await runUnderWay(settings.dbPath);
      const told = await withSnapshot(mirror, async () =>
        reportOf(mirror, range, deps.clock.now(), underWay),
      );
      if (settings.output.json) printJson(deps.stdout, { profile, ...told });
      else if (options.text) {
        const { styleFor } = await import("../ui/style.js");
        const { drawsUnicode } = await import("../ui/reporter.js");
        const style = styleFor(deps.stdout, settings.output, deps.env);
        const width = Math.min(80, terminalWidth(deps.stdout) ?? 80);
        const text = writeText(told, createNumbers(locale), { style, unicode: drawsUnicode(deps), width });
        deps.stdout.write(text);
      } else await writeHtml(invocation, told, locale, settings);
      return exitCodes.done;
    } finally {
      mirror.db.close();
    }
  },
});

/** The page into its file, or to stdout. */
async function writeHtml(
  { deps, options, profile }: Invocation<ReportFlags>,
  told: Report,
  locale: string,
  settings: Settings,
): Promise<void> {
  const { openFileSink } = await import("../export/file-sink.js");
  const { runExport } = await import("../export/run.js");
  const { pageOf } = await import("../report/page.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { dataSink } = await import("./data-sink.js");
  const { refuseKept } = await import("./kept-files.js");
  const own = ["report", ...(profile === undefined ? [] : [profile]), told.period.slug].join("-");
  const out = options.out ?? `${own}.html`;
  if (!isStdout(out)) refuseKept([{ flag: "-o", file: out }], [], { options, settings, deps });
  const page = await pageOf(told, locale);
  const sink = isStdout(out) ? dataSink(deps) : await openFileSink(expandPath(out, deps), deps);
  const { bytes } = await runExport([{ data: page, rows: 0 }], sink, deps);
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
