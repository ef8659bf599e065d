import { isDeepStrictEqual } from "node:util";
import { openMirror } from "../../src/query/open.js";
import { readCoverage } from "../../src/state/coverage.js";
import type { RunEnd, World } from "./world.js";

interface MirrorRow {
  key: string;
  json: string;
  dated_at: number | null;
  removed_at: string | null;
}

/**
 * What the mirror claims against what the API said: one line for each lie.
 * - a span that is claimed as covered holds every record that the API listed in it when it was read, as it was then;
 * - after a run that says `verified`, it holds none that had gone by then;
 * - a run removes nothing that the API has listed from its beginning to its end.
 */
export async function lies(world: World, end: RunEnd, before: ReadonlySet<string>): Promise<string[]> {
  const mirror = await openMirror(world.path);
  try {
    const found: string[] = [];
    const integrity = mirror.db.pragma("integrity_check", { simple: true });
    if (integrity !== "ok") found.push(`integrity_check: ${integrity}`);
    const rows = mirror.db
      .prepare("SELECT key, json, dated_at, removed_at FROM records WHERE resource = ?")
      .all(world.resource.name) as MirrorRow[];
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const spans = readCoverage(mirror, world.resource.name);
    const readAt = (dated: number | null, fallback: number) =>
      spans.find(({ from, to }) => dated === null || (from <= dated && to >= dated))?.readAt ?? fallback;
    const { current, touchedAt } = world.truth;
    for (const [key, { json, dated }] of current) {
      if ((touchedAt.get(key) ?? 0) >= readAt(dated, Number.NEGATIVE_INFINITY)) continue;
      const row = byKey.get(key);
      if (!row) found.push(`${key}: claimed as covered, and not in the mirror`);
      else if (row.removed_at !== null) found.push(`${key}: in the API, and marked as removed`);
      else if (!sameText(row.json, json)) found.push(`${key}: differs from what was read`);
    }
    for (const row of rows) {
      const now = current.get(row.key);
      const since = touchedAt.get(row.key) ?? 0;
      const isThere = now !== undefined && (now.dated === null || now.dated === row.dated_at);
      if (row.removed_at === null && !isThere && end.verified) {
        if (since < readAt(row.dated_at, Number.NEGATIVE_INFINITY))
          found.push(`${row.key}: gone from where it is dated, and still in a verified mirror`);
      }
      // A record that moved to where nothing was read yet is gone from all that the mirror can know.
      const isWithin =
        now !== undefined && readAt(now.dated, Number.NEGATIVE_INFINITY) > Number.NEGATIVE_INFINITY;
      const wasThroughout = isWithin && (since < end.startedAt || before.has(row.key));
      const removedNow = row.removed_at !== null && Date.parse(row.removed_at) >= end.startedAt;
      if (removedNow && wasThroughout) found.push(`${row.key}: falsely removed`);
    }
    return found;
  } finally {
    mirror.db.close();
  }
}

/** How the mirror's present records differ from the API's. */
export async function differences(world: World): Promise<string[]> {
  const mirror = await openMirror(world.path);
  try {
    const rows = mirror.db
      .prepare("SELECT key, json FROM records WHERE resource = ? AND removed_at IS NULL")
      .all(world.resource.name) as Pick<MirrorRow, "key" | "json">[];
    const mine = new Map(rows.map(({ key, json }) => [key, json]));
    const { current } = world.truth;
    return [
      ...[...current]
        .filter(([key, { json }]) => !sameText(mine.get(key) ?? "null", json))
        .map(([key]) => `${key}: ${mine.has(key) ? "differs" : "missing"}`),
      ...[...mine.keys()].filter((key) => !current.has(key)).map((key) => `${key}: too many`),
    ];
  } finally {
    mirror.db.close();
  }
}

function sameText(a: string, b: string): boolean {
  return a === b || isDeepStrictEqual(JSON.parse(a), JSON.parse(b));
}
