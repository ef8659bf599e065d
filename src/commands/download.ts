import { Argument, Command } from "commander";
import { expandPath } from "../config/folders.js";
import type { DownloadSummary, FileResult } from "../download/index.js";
import { ApiUnavailable, type BrandapiError, ConfigurationError, Incomplete, UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { suggest } from "../lib/nearest.js";
import { content } from "../resources/content.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { printJson } from "../ui/print.js";
import { version } from "../version.js";
import type { Context, GlobalOptions } from "./context.js";
import { filterFlag, maxWait, parsed, parseList, parseRange, rateLimit, wait } from "./flags.js";
import { examples } from "./help.js";

interface DownloadFlags {
  out?: string;
  source?: readonly string[];
  mediaType?: readonly string[];
  opportunity?: readonly string[];
  host?: readonly string[];
  since?: string;
  until?: string;
  limit?: number;
  wait?: boolean;
}

const kinds = ["content"];
const defaultFolder = "brandapi-content";
/** Failures that are named one by one. */
const mostNamed = 20;

/**
 * With `--json`, one line a file on stdout as it ends, then one for all of them:
 * `{"file":{"source","id","path","outcome":"downloaded"|"failed","bytes","sha256","resumed_from","error"}}` and
 * `{"summary":{"folder","selected","already_complete","downloaded","failed","not_tried","bytes"}}`.
 */
export function define(context: Context): Command {
  return new Command("download")
    .description(
      "Fetches what `brandapi sync content` has listed and is not in the folder yet, as <date>_<id>_<name>. " +
        "An interrupted file is resumed, a complete one is not fetched again. " +
        "The table content_downloads says where each file is, with its SHA-256.",
    )
    .addArgument(new Argument("<what>", "content"))
    .option("-o, --out <dir>", `the folder that the files go to (default: ./${defaultFolder})`)
    .addOption(filterFlag("source", "only files of these sources"))
    .addOption(filterFlag("media_type", "only files of these types"))
    .addOption(parsed("--opportunity <id...>", "only files of these campaigns", parseList).hideHelp())
    .addOption(parsed("--host <id...>", "only files of these hosts", parseList))
    .option("--since <time>", "only files added from here")
    .option("--until <time>", "only files added up to here")
    .addOption(parsed("--limit <n>", "fetch at most this many, newest first", parseLimit))
    .addOption(wait())
    .addOption(rateLimit())
    .addOption(maxWait())
    .addHelpText(
      "after",
      examples(
        ["brandapi download content", `everything, into ./${defaultFolder}`],
        [
          "brandapi download content --media-type image,video --since 30d",
          "the last month's pictures and films",
        ],
        ["brandapi download content --limit 10", "the ten newest that are not there yet"],
      ),
    )
    .action((what: string, _, command: Command) => runDownload(what, command.optsWithGlobals(), context));
}

async function runDownload(
  what: string,
  options: DownloadFlags & GlobalOptions,
  { deps }: Context,
): Promise<void> {
  if (!kinds.includes(what))
    throw new UsageError(`Nothing to download is called \`${what}\`.`, { hint: suggest(what, kinds) });
  const { since, until } = parseRange(options, deps.clock.now());
  const selection = {
    sources: options.source ?? [],
    mediaTypes: options.mediaType ?? [],
    opportunities: options.opportunity ?? [],
    hosts: options.host ?? [],
    since,
    until,
  };
  const { withMirrorRun } = await import("./session.js");
  const wait = options.wait ?? false;
  await withMirrorRun({ deps, options, purpose: "write", wait, command: "download" }, async (session) => {
    const { downloadFiles, selectFiles } = await import("../download/index.js");
    const { wasSynced } = await import("../query/index.js");
    const { mirror, reporter } = session;
    if (!wasSynced(mirror, content))
      throw new ConfigurationError("The mirror does not know the library yet.", {
        hint: "run `brandapi sync content` first",
      });
    const print = (line: unknown) => {
      if (options.json) printJson(deps.stdout, line);
    };
    const task = reporter.begin({ name: "download content", unit: "bytes" });
    const failures: FileResult[] = [];
    const summary = await downloadFiles(
      selectFiles(mirror, selection),
      {
        ...session,
        fetch: deps.fetch,
        random: () => deps.random(),
        later: deps.later,
        baseUrl: session.settings.baseUrl ?? "",
        maxWaitMs: session.settings.maxWaitMs,
        userAgent: `brandapi/${version}`,
        task,
        folder: expandPath(options.out ?? defaultFolder, deps),
      },
      options.limit ?? Number.POSITIVE_INFINITY,
      (file) => {
        print({ file });
        if (file.outcome === "failed") failures.push(file);
      },
    );
    task.end(summaryText(summary));
    print({ summary });
    for (const line of failureLines(failures)) reporter.warn(line);
    const failure = failureOf(summary);
    if (failure) throw failure;
  });
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`Not a number of files: \`${text}\`.`, { hint: "use a whole number such as 10" });
}

/** The one line that says what a download came to. */
function summaryText(summary: DownloadSummary): string {
  const { downloaded, failed, not_tried, already_complete, bytes, folder } = summary;
  const parts = [
    `${counted(downloaded, "file", formatCount)}, ${formatBytes(bytes)}, in ${folder}`,
    already_complete > 0 ? `${formatCount(already_complete)} there already` : "",
    failed > 0 ? `${formatCount(failed)} failed` : "",
    not_tried > 0 ? `${formatCount(not_tried)} not tried` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A line for each file that failed, as far as a person reads them. */
function failureLines(failures: readonly FileResult[]): string[] {
  const lines = failures.slice(0, mostNamed).map(({ path, error }) => `${path}: ${error}`);
  const more = failures.length - lines.length;
  return more > 0 ? [...lines, `${more} more files failed: \`--json\` names them all`] : lines;
}

/** The error that a download with failures ends with; undefined where there were none. */
function failureOf({ downloaded, failed, not_tried }: DownloadSummary): BrandapiError | undefined {
  if (failed === 0) return undefined;
  if (not_tried > 0 && downloaded === 0)
    return new ApiUnavailable("The file host is unavailable: no file could be fetched.", {
      hint: "check the network, or try again later",
    });
  const rest = not_tried > 0 ? `; ${not_tried} were not tried, because the file host stopped answering` : "";
  return new Incomplete(
    `${failed} of ${counted(failed + not_tried + downloaded, "file")} could not be fetched${rest}.`,
    { hint: "run the same command again: what is complete is kept" },
  );
}
