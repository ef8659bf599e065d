import { Argument, type Command } from "commander";
import { parseCount, parsedOption, parseRange, withChoices } from "../cli/flags.js";
import { chooseOutput, formatOption, type OutputFlags, selectsOutput } from "../cli/output.js";
import { type ReadSession, withReadSession } from "../cli/read-session.js";
import { writeTables } from "../cli/write-tables.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context } from "../deps.js";
import { UsageError } from "../errors.js";
import { tableFormats } from "../export/formats.js";
import {
  type Change,
  type ChangeFilter,
  changesConditionSql,
  loadNewestChanges,
} from "../query/change-list.js";
import { openRows } from "../query/open-rows.js";
import { resolveTable } from "../query/readable-tables.js";
import { resources } from "../resources/registry.js";
import { loadNewestRunId } from "../store/runs.js";
import { formatCount } from "../util/format-text.js";
import { renderTable } from "../util/terminal-table.js";
import { formatInstant, formatMinute } from "../util/timestamps.js";

type ChangesFlags = GlobalFlags & OutputFlags & { since?: string; run?: number; limit?: number };

const trackedResourceNames = resources.filter(({ keepsHistory }) => keepsHistory).map(({ name }) => name);
const defaultSince = "7d";
/** The default for `--limit` in text output. CSV and JSON have no limit by default. */
const terminalLimit = 500;

export const about =
  "Lists refunds, cancellations, changes to rates and statuses, and hosts who joined or left. " +
  "The API does not report when a record changed, so each change is shown with the interval between the last sync that read the old value and the first that read the new value.";

export const examples = {
  "brandapi changes": "show the changes found in the last 7 days",
  "brandapi changes orders --since 30d --csv > refunds.csv":
    "export refunds and corrections found in the last 30 days",
};

export function define(command: Command): void {
  command
    .addArgument(
      withChoices(
        new Argument("[resource]", trackedResourceNames.join(", ")),
        "resource",
        trackedResourceNames,
      ),
    )
    .option("--since <time>", `show only changes found since TIME (default: ${defaultSince})`)
    .addOption(
      parsedOption(
        "--run <n>",
        "show only changes found by the run with this `run_id` in `sync_runs`",
        parseCount,
      ),
    )
    .addOption(parsedOption("--limit <n>", "maximum number of changes, newest first", parseCount))
    .addOption(formatOption({ name: "csv", about: "print CSV, as `export changes` does" }))
    .addOption(formatOption({ name: "json", about: "print a JSON array, as `export changes` does" }));
}

export async function run(flags: ChangesFlags, { deps }: Context, resourceName: string | undefined) {
  const { run: runId, limit } = flags;
  const output = selectsOutput(flags) ? chooseOutput(flags, tableFormats, deps) : undefined;
  // With `--run`, changes are listed no matter how old they are.
  const from = flags.since ?? (runId === undefined ? defaultSince : "1970-01-01");
  const { since: sinceMs = 0 } = parseRange({ since: from }, deps.clock.now());
  const filter = { runId, resourceName, since: formatInstant(sinceMs) };
  await withReadSession(flags, deps, async (session) => {
    const { mirror } = session;
    const newest = loadNewestRunId(mirror);
    if (runId !== undefined && runId > newest)
      throw new UsageError(`There is no run ${runId}.`, { hint: `the newest run is ${newest}` });
    if (!output) return printChanges(session, filter, limit);
    const table = resolveTable(mirror, "changes");
    const where = changesConditionSql(filter, limit);
    const source = openRows({ mirror, table, where });
    const { encode } = await output.format.load();
    await writeTables([source], output, session, encode);
  });
}

/** Formats changes, newest last, under one heading per resource and interval. */
function printChanges(
  { mirror, deps, reporter, style, width }: ReadSession,
  filter: ChangeFilter,
  limit = terminalLimit,
): void {
  const { changes, total } = loadNewestChanges(mirror, filter, limit);
  if (total === 0) {
    const { runId, since } = filter;
    reporter.note(
      runId === undefined
        ? `No changes were found since ${since.slice(0, 10)}; use \`--since\` to list older changes.`
        : `Run ${runId} found no changes to records that were already in the mirror.`,
    );
    return;
  }
  const groups = new Map<string, ReturnType<typeof formatChangeRow>[]>();
  for (const change of changes) {
    const heading = `${style.bold(change.resource)} ${style.dim(formatInterval(change))}`;
    groups.set(heading, [...(groups.get(heading) ?? []), formatChangeRow(change)]);
  }
  const format = { width, rightAligned: [], nullText: "null", optionalColumns: ["key"] };
  const texts = [...groups].map(
    ([heading, rows]) => `${heading}\n${renderTable(columnTitles, rows, format)}`,
  );
  deps.stdout.write(`${texts.join("\n\n")}\n`);
  if (total > changes.length) {
    const count = `${formatCount(changes.length)} of ${formatCount(total)}`;
    reporter.note(
      `Showing the newest ${count} changes; use \`--limit\` to show more, or \`--csv\` for all of them.`,
    );
  }
}

const columnTitles = ["record", "what", "was", "", "is now", "key"];

function formatChangeRow({ label, key, field, kind, old, new: current }: Change) {
  const values = field === null ? ["", "", ""] : [old, "→", current];
  return [label ?? key, field ?? kind, ...values, label === null ? "" : key];
}

function formatInterval({ last_seen_unchanged_at: since, seen_changed_at }: Change): string {
  return `${formatMinute(since)} to ${formatMinute(seen_changed_at)} UTC`;
}
