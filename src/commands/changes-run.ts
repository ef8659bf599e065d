import type { Settings } from "../config.js";
import type { Deps } from "../deps.js";
import { formats } from "../export/formats/index.js";
import { runExport } from "../export/run.js";
import type { Mirror } from "../mirror/mirror.js";
import { type Change, type ChangeFilter, changesCondition, listChanges } from "../query/change-list.js";
import { openMirrorReadOnly } from "../query/open.js";
import { openSource, withSnapshot } from "../query/select.js";
import { formatInstant } from "../times.js";
import { formatCount } from "../ui/numbers.js";
import { createReporter } from "../ui/reporter.js";
import { type Style, styleFor } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { dataSink } from "./data-sink.js";
import { findTable } from "./export-run.js";

export interface ChangesRequest {
  deps: Deps;
  settings: Settings;
  resource: string | undefined;
  since: number;
  until: number | undefined;
  limit: number | undefined;
  format: "table" | "csv" | "json";
}

/** A screen is for reading; files take everything. */
const shownAtMost = 500;

/** Prints the changes, the newest last. */
export async function showChanges(request: ChangesRequest): Promise<void> {
  const mirror = await openMirrorReadOnly(request.settings.dbPath);
  try {
    const filter = {
      resource: request.resource,
      since: formatInstant(request.since),
      until: request.until === undefined ? undefined : formatInstant(request.until),
    };
    if (request.format === "table") printChanges(mirror, filter, request);
    else await writeChanges(mirror, filter, request);
  } finally {
    mirror.db.close();
  }
}

async function writeChanges(mirror: Mirror, filter: ChangeFilter, request: ChangesRequest): Promise<void> {
  const { deps, settings } = request;
  const reporter = createReporter(deps, settings.output);
  const format = formats.find(({ name }) => name === request.format);
  if (!format) throw new Error(`no format: ${request.format}`);
  const { write } = await format.load();
  await withSnapshot(mirror, async () => {
    const source = openSource(mirror, {
      table: findTable(mirror, "changes"),
      where: changesCondition(filter, request.limit),
      includeRemoved: true,
    });
    const options = { excel: false, warn: reporter.warn, signal: deps.signal, clock: deps.clock };
    await runExport(source, write, dataSink(deps), options);
  });
  reporter.close();
}

function printChanges(mirror: Mirror, filter: ChangeFilter, { deps, settings, limit }: ChangesRequest): void {
  const { changes, total } = listChanges(mirror, filter, limit ?? shownAtMost);
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = deps.stdout.isTTY ? deps.stdout.columns : undefined;
  const quiet = settings.output.quiet;
  if (total === 0) {
    if (!quiet) deps.stderr.write(`No changes were seen since ${minute(filter.since)} UTC.\n`);
    return;
  }
  const groups = groupTogether(changes).map((group) => renderGroup(group, style, width));
  deps.stdout.write(`${groups.join("\n\n")}\n`);
  if (total > changes.length && !quiet)
    deps.stderr.write(
      `The newest ${formatCount(changes.length)} of ${formatCount(total)} changes; more with \`--limit\`, all with \`--csv\`.\n`,
    );
}

/** Neighbours under one heading: what differs by less than it shows is not worth another. */
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

function renderGroup(group: readonly Change[], style: Style, width: number | undefined): string {
  const [first] = group;
  if (!first) return "";
  const rows = group.map((change) => [
    change.label ?? change.key,
    change.field ?? change.kind,
    change.field === null ? "" : change.old,
    change.field === null ? "" : "→",
    change.field === null ? "" : change.new,
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

/** When it happened, as far as is known. */
function interval({ last_seen_unchanged_at: since, seen_changed_at }: Change): string {
  return `${since === null ? "before" : `${minute(since)} to`} ${minute(seen_changed_at)} UTC`;
}

function minute(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 16)}`;
}
