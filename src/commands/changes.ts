import { Command } from "commander";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { formatInstant, minuteOf } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { Change, ChangeFilter } from "../query/index.js";
import { resources } from "../resources/index.js";
import { formatCount } from "../ui/numbers.js";
import type { TerminalReporter } from "../ui/reporter.js";
import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { terminalWidth, truncate } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { chooseResources, parseCount, parsed, parseRange } from "./flags.js";
import { examples } from "./help.js";
import { chooseOutput, type Output, writeOutput } from "./output.js";

interface ChangesFlags extends GlobalOptions {
  since?: string;
  until?: string;
  run?: number;
  limit?: number;
  csv?: boolean;
}

interface Request {
  deps: Deps;
  settings: Settings;
  filter: ChangeFilter;
  limit: number | undefined;
  reporter: TerminalReporter;
}

/** The resources whose changes are kept. */
const kept = resources.filter(({ history }) => history).map(({ name }) => name);
const lately = "7d";
/** The most changes in a terminal; files take all. */
const shownAtMost = 500;

export function define(context: Context): Command {
  return new Command("changes")
    .description(
      "Refunds, cancellations, rates, states, joins and leaves. The API gives no date of a change, so each is shown " +
        "as an interval: last seen as it was, first seen as it is.",
    )
    .argument("[resource]", kept.join(", "))
    .option("--since <time>", `seen since then (default: ${lately})`)
    .option("--until <time>", "seen until then")
    .addOption(parsed("--run <n>", "those that this run found, by its `run_id` in `sync_runs`", parseCount))
    .addOption(parsed("--limit <n>", "the newest so many; in a table, whole records", parseCount))
    .option("--csv", "CSV on stdout, as `export changes` writes it")
    .option("--json", "a JSON array on stdout, as `export changes` writes it")
    .addHelpText(
      "after",
      examples(
        ["brandapi changes", "the last week, every resource"],
        ["brandapi changes orders --since 30d --csv > refunds.csv", "a month of refunds and corrections"],
      ),
    )
    .action((resource: string | undefined, _, command: Command) =>
      context.deps.killable(() => runChanges(resource, command.optsWithGlobals(), context)),
    );
}

async function runChanges(name: string | undefined, options: ChangesFlags, { deps }: Context): Promise<void> {
  const resource = name === undefined ? undefined : chooseResources([name]).resources[0];
  if (resource && !resource.history)
    throw new UsageError(`Changes of \`${resource.name}\` are not kept.`, {
      hint: `changes are kept of ${kept.join(", ")}`,
    });
  const { csv, json, run, limit } = options;
  const output = chooseOutput({ csv, json });
  // A run may be of any age.
  const from = options.since ?? (run === undefined ? lately : "1970-01-01");
  const { since = 0, until } = parseRange({ ...options, since: from }, deps.clock.now());
  const filter = {
    run,
    resource: resource?.name,
    since: formatInstant(since),
    until: until === undefined ? undefined : formatInstant(until),
  };
  const { readSettings } = await import("../config/settings.js");
  const { openMirrorReadOnly } = await import("../query/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  const settings = await readSettings(options, deps);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  const reporter = createReporter(deps, settings.output);
  const request = { deps, settings, filter, limit, reporter };
  try {
    if (output) await writeChanges(mirror, output, request);
    else await printChanges(mirror, request);
  } finally {
    mirror.db.close();
    reporter.close();
  }
}

async function writeChanges(
  mirror: Mirror,
  output: Output,
  { deps, settings, filter, limit, reporter: { warn } }: Request,
): Promise<void> {
  const { changesCondition, describeTable, openSource, withSnapshot } = await import("../query/index.js");
  const table = describeTable(mirror, "changes");
  await withSnapshot(mirror, async () => {
    const source = openSource(mirror, {
      table,
      where: changesCondition(filter, limit),
      includeRemoved: true,
    });
    await writeOutput([source], output, { deps, dbPath: settings.dbPath, warn });
  });
}

/** Prints the changes, the newest last. */
async function printChanges(
  mirror: Mirror,
  { deps, settings, filter, limit, reporter }: Request,
): Promise<void> {
  const { firstRead } = await import("../mirror/index.js");
  const { listChanges } = await import("../query/index.js");
  const { styleFor } = await import("../ui/style.js");
  const { changes, total } = listChanges(mirror, filter, limit ?? shownAtMost);
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = terminalWidth(deps.stdout);
  if (total === 0) return reporter.note(noneText(filter, firstRead(mirror, filter.resource)));
  const groups = groupTogether(changes).map((group) => renderGroup(group, style, width));
  deps.stdout.write(`${groups.join("\n\n")}\n`);
  if (total > changes.length) {
    const [shown, all] = [changes.length, total].map(formatCount);
    reporter.note(`The newest ${shown} of ${all} changes; more with \`--limit\`, all with \`--csv\`.`);
  }
}

/** @param first when the mirror was first read: nothing is known of the time before */
function noneText({ run, since, until }: ChangeFilter, first: string | null): string {
  if (run !== undefined) return `Run ${run} found no changes.`;
  const isLater = first !== null && first > since && first <= (until ?? first);
  const from = isLater ? `the first read, ${minuteOf(first)}` : minuteOf(since);
  return `No changes were seen since ${from}${until === undefined ? "" : ` until ${minuteOf(until)}`} UTC.`;
}

/** Groups neighbours whose heading is the same. */
function groupTogether(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const first = groups.at(-1)?.[0];
    if (first?.resource === change.resource && interval(first) === interval(change))
      groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Returns a value for the screen; CSV and JSON have all of it. */
function brief(value: Change["old"]): Change["old"] {
  return typeof value === "string" ? truncate(value, longestValue) : value;
}

const longestValue = 40;

function renderGroup(group: readonly Change[], style: Style, width: number | undefined): string {
  const [first] = group;
  if (!first) return "";
  const rows = group.map((change) => [
    change.label ?? change.key,
    change.field ?? change.kind,
    change.field === null ? "" : brief(change.old),
    change.field === null ? "" : "→",
    change.field === null ? "" : brief(change.new),
    change.label === null ? "" : change.key,
  ]);
  const body = renderTable(["record", "what", "was", "", "is now", "key"], rows, {
    width,
    alignRight: [],
    none: "null",
    spare: ["key"],
  });
  return `${style.bold(first.resource)} ${style.dim(interval(first))}\n${body}`;
}

/** Returns the interval in which a change happened. */
function interval({ last_seen_unchanged_at: since, seen_changed_at }: Change): string {
  return `${since === null ? "before" : `${minuteOf(since)} to`} ${minuteOf(seen_changed_at)} UTC`;
}
