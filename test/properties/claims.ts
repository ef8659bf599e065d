import { mergeRanges } from "../../src/util/ranges.js";
import { isDated } from "./brand.js";
import type { Version } from "./truth.js";
import type { World } from "./world.js";

/** Dates in milliseconds, both ends included. */
export interface Range {
  from: number;
  to: number;
}

/** What a mirror says that it has read, and what it holds. */
export interface Claims {
  /** Unbroken ranges of dates that were read; none for a list that is read whole. */
  stretches: Range[];
  /** When the place of a record was read: by the second of its date; undefined if never. */
  readAt(second: number): number | undefined;
  /** When the parts of a range were read; null if some of it never was. */
  readsOf(range: Range): number[] | null;
  held: ReadonlyMap<string, Held>;
  /** The records that the mirror says are there. */
  present: Held[];
  /** The filters that the mirror says are no evidence. */
  distrusted: ReadonlySet<string>;
}

/** A record of the mirror, and which of the API's versions it is; null if it never was one. */
export interface Held {
  key: string;
  /** As its list had it. */
  json: string;
  /** With its details. */
  full: string;
  /** Milliseconds; null while it is present. */
  removedAt: number | null;
  /** True if the newest reading of its date did not show it, and nothing was decided yet. */
  isMissing: boolean;
  version: Version | null;
}

interface Row {
  key: string;
  json: string;
  full: string;
  removed_at: string | null;
  missing: 0 | 1;
}

export function claimsOf(world: World): Claims {
  const { resource, truth, watched } = world;
  const { db } = world.mirror();
  const spans = db
    .prepare("SELECT from_at, to_at, read_at FROM coverage WHERE resource = ? ORDER BY from_at")
    .all(resource.name)
    .map((row) => {
      const { from_at, to_at, read_at } = row as { from_at: string | null; to_at: string; read_at: string };
      const from = from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(from_at);
      return { from, to: Date.parse(to_at), readAt: Date.parse(read_at) };
    });
  const rows = db
    .prepare(
      `SELECT key, coalesce(list_json, json) AS json, json AS full, removed_at,
         record_id IN (SELECT record_id FROM missing) AS missing FROM records WHERE resource = ?`,
    )
    .all(resource.name) as Row[];
  const held = rows.map(({ key, json, full, removed_at, missing }) => ({
    key,
    json,
    full,
    isMissing: missing === 1,
    removedAt: removed_at === null ? null : Date.parse(removed_at),
    version: truth.versions.get(key)?.findLast((version) => version.json === json) ?? null,
  }));
  const distrusted = db.prepare("SELECT distrusted FROM sync_state WHERE resource = ?").pluck();
  const newest = spans.length > 0 ? Math.max(...spans.map(({ readAt }) => readAt)) : undefined;
  const readAt = (second: number) => spans.find(({ from, to }) => from <= second && second <= to)?.readAt;
  return {
    stretches: isDated(watched) ? mergeRanges(spans) : [],
    readAt: isDated(watched) ? readAt : () => newest,
    readsOf(range) {
      const parts = spans.filter(({ from, to }) => from <= range.to && to >= range.from);
      const isWhole = mergeRanges(parts).some(({ from, to }) => from <= range.from && to >= range.to);
      return isWhole ? parts.map((part) => part.readAt) : null;
    },
    held: new Map(held.map((one) => [one.key, one])),
    present: held.filter(({ removedAt }) => removedAt === null),
    distrusted: new Set(
      JSON.parse((distrusted.get(resource.name) as string | undefined) ?? "[]") as string[],
    ),
  };
}
