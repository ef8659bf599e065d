import { countSwaps } from "./checks.js";
import type { Fields } from "./model.js";
import type { Version } from "./versions.js";
import type { RunResult, World } from "./world.js";

interface Change {
  key: string;
  kind: string;
  field: string | null;
  new: string | null;
  last_seen_unchanged_at: string | null;
  seen_changed_at: string;
}

/** The maximum time between a request and its response. */
const responseMs = 100;

/**
 * Checks that each change in the `changes` table happened in the API between `last_seen_unchanged_at` and
 * `seen_changed_at`.
 */
export function checkChangeTimes(world: World, { startedAt }: RunResult): string[] {
  const since = new Date(startedAt).toISOString();
  const rows = world.mirror.db
    .prepare(
      "SELECT * FROM changes WHERE resource = ? AND run_id >= (SELECT coalesce(min(run_id), 0) FROM sync_runs WHERE started_at >= ?)",
    )
    .all(world.resource.name, since) as Change[];
  return rows.flatMap((row) => {
    const from =
      row.last_seen_unchanged_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.last_seen_unchanged_at);
    const to = Date.parse(row.seen_changed_at) + responseMs;
    const versions = world.versionHistory.versions.get(row.key) ?? [];
    const isIts = versions.some(
      (version, at) => version.from > from && version.from <= to && isChange(row, versions[at - 1], version),
    );
    if (["added", "returned"].includes(row.kind) && mayHaveMissed(world, from)) return [];
    const interval = `${row.last_seen_unchanged_at} to ${row.seen_changed_at}`;
    return isIts
      ? []
      : [`${row.key}: no \`${row.kind}\` (${row.field ?? ""} ${row.new ?? ""}) from ${interval}`];
  });
}

/** Returns true if records moved between pages while a list was read page by page. */
function mayHaveMissed(world: World, readAt: number): boolean {
  return countSwaps(world, readAt, Number.NaN) > 0;
}

/** Returns true if the row describes the change from one version to the next. */
function isChange(row: Change, before: Version | undefined, { json, record }: Version): boolean {
  const wasThere = before !== undefined && before.json !== null;
  if (row.kind === "removed") return wasThere && json === null;
  if (row.kind !== "changed") return !wasThere && json !== null;
  const field = row.field ?? "";
  // `membersOf` does not look into lists, so for a field of a list item, only the time of the change is checked.
  if (field.includes(".")) return json !== null;
  const value = membersOf(record).get(field) ?? null;
  return value === row.new && before !== undefined && (membersOf(before.record).get(field) ?? null) !== value;
}

/** Returns the fields as strings. The names of nested fields are prefixed with the object's name. */
function membersOf(record: Fields, prefix = ""): Map<string, string> {
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    if (value === null || value === undefined) continue;
    if (typeof value === "object" && !Array.isArray(value))
      for (const [inner, text] of membersOf(value as Fields, `${prefix}${name}_`)) members.set(inner, text);
    else members.set(prefix + name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return members;
}
