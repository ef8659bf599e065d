import type { DownloadSummary, FileResult } from "../download/engine.js";
import { ApiUnavailable, type BrandapiError, Incomplete } from "../errors.js";
import { formatBytes, formatCount } from "../ui/numbers.js";

/** Failures that are named one by one. */
const mostNamed = 20;

/** The one line that says what a download came to. */
export function summaryText(summary: DownloadSummary): string {
  const { downloaded, failed, not_tried, already_complete, bytes, folder } = summary;
  const parts = [
    `${formatCount(downloaded)} ${downloaded === 1 ? "file" : "files"}, ${formatBytes(bytes)}, in ${folder}`,
    already_complete > 0 ? `${formatCount(already_complete)} there already` : "",
    failed > 0 ? `${formatCount(failed)} failed` : "",
    not_tried > 0 ? `${formatCount(not_tried)} not tried` : "",
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** A line for each file that failed, as far as a person reads them. */
export function failureLines(failures: readonly FileResult[]): string[] {
  const lines = failures.slice(0, mostNamed).map(({ path, error }) => `${path}: ${error}`);
  const more = failures.length - lines.length;
  return more > 0 ? [...lines, `${more} more files failed: \`--json\` names them all`] : lines;
}

/** The error that a download with failures ends with; undefined where there were none. */
export function failureOf({ downloaded, failed, not_tried }: DownloadSummary): BrandapiError | undefined {
  if (failed === 0) return undefined;
  if (not_tried > 0 && downloaded === 0)
    return new ApiUnavailable("The file host is unavailable: no file could be fetched.", {
      hint: "check the network, or try again later",
    });
  const rest = not_tried > 0 ? `; ${not_tried} were not tried, because the file host stopped answering` : "";
  return new Incomplete(
    `${failed} of ${failed + not_tried + downloaded} files could not be fetched${rest}.`,
    { hint: "run the same command again: what is complete is kept" },
  );
}
