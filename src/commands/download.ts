import { Argument, type Command } from "commander";
import { parseCount, parsedOption, parseRange, waitOption, withChoices } from "../cli/flags.js";
import { resumeHint, withMirrorSession } from "../cli/mirror-session.js";
import { resolveSyncedTable } from "../cli/table-selection.js";
import { expandPath } from "../config/folders.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context } from "../deps.js";
import { type DownloadSummary, downloadFiles, selectFiles } from "../download/library-download.js";
import { ApiUnavailable, Incomplete } from "../errors.js";
import { findWrongComparisons } from "../query/wrong-comparisons.js";
import { formatBytes, formatCount, pluralize } from "../util/format-text.js";
import { printJson } from "../util/terminal.js";
import { readVersion } from "../version.js";

interface DownloadFlags extends GlobalFlags {
  out?: string;
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  wait?: boolean;
}

const defaultFolder = "brandapi-content";

export const about =
  "Downloads the files that `brandapi sync content` has listed and that are not yet in the folder. Names each file <date>_<id>_<name>. " +
  "Resumes an interrupted download if the file has not changed. " +
  "The content_downloads table contains each file's path and SHA-256.";

export const examples = {
  "brandapi download content": `download all files into ./${defaultFolder}`,
  "brandapi download content --where \"media_type = 'image'\" --since 30d":
    "download only images added in the last 30 days",
  "brandapi download content --limit 10": "download only the ten newest missing files",
};

export function define(command: Command): void {
  command
    .addArgument(withChoices(new Argument("<resource>"), "resource", ["content"]))
    .option("-o, --out <dir>", `folder to write to (default: ./${defaultFolder})`)
    .option("--where <condition>", "only files that match this SQL condition on the `content` table")
    .option("--since <time>", "only files added since TIME")
    .option("--until <time>", "only files added up to TIME")
    .addOption(parsedOption("--limit <n>", "maximum number of files, newest first", parseCount))
    .addOption(waitOption());
}

/**
 * Downloads files. With `--json`, prints one line per file and a summary at the end:
 * `{"file":{"source","id","path","outcome":"downloaded"|"failed","bytes","library_bytes","sha256","resumed_from","error"}}`
 * and `{"summary":{"folder","selected","already_complete","downloaded","failed","not_tried","bytes"}}`.
 */
export async function run(flags: DownloadFlags, { deps }: Context): Promise<void> {
  const range = parseRange(flags, deps.clock.now());
  const folder = expandPath(flags.out ?? defaultFolder, deps);
  const settings = readSettings(flags, deps);
  const command = { name: "download", deps, flags, settings, appliesOmit: true, stopHint: resumeHint };
  await withMirrorSession(command, async (session) => {
    const { api, mirror, reporter } = session;
    const files = selectFiles(mirror, resolveSyncedTable(mirror, "content"), {
      where: flags.where,
      ...range,
    });
    for (const warning of findWrongComparisons(flags.where ?? "")) reporter.warn(warning);
    const task = reporter.begin({ name: "download content" });
    const options = {
      ...deps,
      api,
      mirror,
      task,
      folder,
      limit: flags.limit ?? files.length,
      userAgent: `brandapi/${readVersion()}`,
      baseUrl: settings.baseUrl ?? "",
      maxWaitMs: settings.maxWaitMs,
    };
    const { summary, hasMissing } = await downloadFiles(files, options, (file) => {
      if (flags.json) printJson(deps.stdout, { file });
      const { path, bytes, library_bytes: librarySize, error } = file;
      if (error !== null) reporter.warn(`${path}: ${error}`);
      else if (librarySize !== null && bytes !== librarySize)
        reporter.warn(
          `${path}: the file is ${bytes} bytes long, but the library reports ${librarySize} bytes; the file was kept`,
        );
    });
    task.end(formatSummary(summary));
    if (flags.json) printJson(deps.stdout, { summary });
    throwIfNotDownloaded(summary, hasMissing);
  });
}

function formatSummary(summary: DownloadSummary): string {
  const { downloaded, failed, not_tried, already_complete, bytes, folder } = summary;
  const otherCounts = { "already complete": already_complete, failed, "not tried": not_tried };
  const counts = Object.entries(otherCounts).filter(([, count]) => count > 0);
  const first = `${pluralize(downloaded, "file")}, ${formatBytes(bytes)}, in ${folder}`;
  return [first, ...counts.map(([what, count]) => `${formatCount(count)} ${what}`)].join("; ");
}

/**
 * @param hasMissing true if some of the files are no longer in the library
 * @throws ApiUnavailable if the file host is down; Incomplete if some files failed
 */
function throwIfNotDownloaded({ downloaded, failed, not_tried }: DownloadSummary, hasMissing: boolean): void {
  if (failed === 0) return;
  const incomplete = failed + not_tried;
  const total = pluralize(incomplete + downloaded, "file");
  const text = `${incomplete} of ${total} ${incomplete === 1 ? "was" : "were"} not downloaded.`;
  const hint = hasMissing
    ? "run `brandapi sync content` to update the list of files, then run the same command again"
    : "run the same command again; complete files are kept";
  if (not_tried > 0 && downloaded === 0) throw new ApiUnavailable(text, { hint });
  throw new Incomplete(text, { hint });
}
