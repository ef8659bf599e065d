import type { Fields } from "./brand.js";
import { swapsAt } from "./check.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

interface Change {
  key: string;
  kind: string;
  field: string | null;
  new: string | null;
  last_seen_unchanged_at: string | null;
  seen_changed_at: string;
}

/** A reading is as old as its request; the API may have changed until it answered. */
const answerMs = 100;

/** The change that each row of `changes` tells lies in its interval: after the one time, and no later than the other. */
export function falseIntervals(world: World, { startedAt }: RunEnd): string[] {
  const since = new Date(startedAt).toISOString();
  const rows = world
    .mirror()
    .db.prepare(
      "SELECT * FROM changes WHERE resource = ? AND run_id >= (SELECT coalesce(min(run_id), 0) FROM sync_runs WHERE started_at >= ?)",
    )
    .all(world.resource.name, since) as Change[];
  return rows.flatMap((row) => {
    const from =
      row.last_seen_unchanged_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.last_seen_unchanged_at);
    const to = Date.parse(row.seen_changed_at) + answerMs;
    const versions = world.truth.versions.get(row.key) ?? [];
    const isIts = versions.some(
      (version, at) => version.from > from && version.from <= to && isChange(row, versions[at - 1], version),
    );
    if (["added", "returned"].includes(row.kind) && slippedPast(world, from)) return [];
    const interval = `${row.last_seen_unchanged_at} to ${row.seen_changed_at}`;
    return isIts
      ? []
      : [`${row.key}: no \`${row.kind}\` (${row.field ?? ""} ${row.new ?? ""}) from ${interval}`];
  });
}

/** True if a record may have slipped past the reading of a list: one left and another came between two of its responses. */
function slippedPast(world: World, readAt: number): boolean {
  return world.isReadByPage && swapsAt(world, readAt, Number.NaN) > 0;
}

/** True if a version began as a row of `changes` says. */
function isChange(row: Change, before: Version | undefined, { json, record }: Version): boolean {
  const wasThere = before !== undefined && before.json !== null;
  if (row.kind === "removed") return wasThere && json === null;
  if (row.kind !== "changed") return !wasThere && json !== null;
  const field = row.field ?? "";
  // Items of a list are told by their ids: only when they changed is checked.
  if (field.includes(".")) return json !== null;
  const value = membersOf(record).get(field) ?? null;
  return value === row.new && before !== undefined && (membersOf(before.record).get(field) ?? null) !== value;
}

/** Returns a record's members as text, those of nested objects with the object's name before them. */
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
