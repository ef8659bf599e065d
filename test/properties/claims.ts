import { mergeRanges } from "../../src/util/time-ranges.js";
import { isDated } from "./model.js";
import type { Version } from "./versions.js";
import type { World } from "./world.js";

/** A date range in milliseconds, including both ends. */
export interface Range {
  from: number;
  to: number;
}

/** The claims that a mirror makes: the records that exist, and the ranges that were read. */
export interface MirrorClaims {
  /** The merged date ranges that were read; empty for lists without a date filter. */
  coveredRanges: Range[];
  /** Returns the time of the last read that covered the given second; undefined if no read covered it. */
  readAt(second: number): number | undefined;
  /** Returns the read time of each part of the range; null if any part was never read. */
  readTimes(range: Range): number[] | null;
  records: ReadonlyMap<string, MirrorRecord>;
  /** The records that have not been removed. */
  present: MirrorRecord[];
  /** The filters that sync ignores because their counts were wrong. */
  ignoredFilters: ReadonlySet<string>;
}

export interface MirrorRecord {
  key: string;
  /** The record's JSON from the list, without its details. */
  json: string;
  /** The record's JSON with its details merged in. */
  full: string;
  /** The removal time in milliseconds; null if the record has not been removed. */
  removedAt: number | null;
  /** True if the record was absent from the latest response, but its removal has not been confirmed yet. */
  isMissing: boolean;
  /** The record's date in milliseconds; null if the date is unreadable. */
  dated: number | null;
  /** The API's version of the record with the same JSON; null if the API never returned this JSON. */
  version: Version | null;
}

interface Row {
  key: string;
  json: string;
  full: string;
  removed_at: string | null;
  missing: 0 | 1;
  dated_ms: number | null;
}

export function readClaims(world: World): MirrorClaims {
  const { resource, versionHistory, listName } = world;
  const { db } = world.mirror;
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
      `SELECT key, coalesce(list_json, json) AS json, json AS full, removed_at, dated_ms,
         record_id IN (SELECT record_id FROM missing) AS missing FROM records WHERE resource = ?`,
    )
    .all(resource.name) as Row[];
  const records = rows.map(({ key, json, full, removed_at, missing, dated_ms }) => ({
    key,
    json,
    full,
    isMissing: missing === 1,
    dated: dated_ms,
    removedAt: removed_at === null ? null : Date.parse(removed_at),
    version: versionHistory.versions.get(key)?.findLast((version) => version.json === json) ?? null,
  }));
  const ignoredFilters = db.prepare("SELECT ignored_filters FROM sync_state WHERE resource = ?").pluck();
  const newest = spans.length > 0 ? Math.max(...spans.map(({ readAt }) => readAt)) : undefined;
  const readAt = (second: number) => spans.find(({ from, to }) => from <= second && second <= to)?.readAt;
  return {
    coveredRanges: isDated(listName) ? mergeRanges(spans) : [],
    readAt: isDated(listName) ? readAt : () => newest,
    readTimes(range) {
      const parts = spans.filter(({ from, to }) => from <= range.to && to >= range.from);
      const isWhole = mergeRanges(parts).some(({ from, to }) => from <= range.from && to >= range.to);
      return isWhole ? parts.map((part) => part.readAt) : null;
    },
    records: new Map(records.map((one) => [one.key, one])),
    present: records.filter(({ removedAt }) => removedAt === null),
    ignoredFilters: new Set(
      JSON.parse((ignoredFilters.get(resource.name) as string | undefined) ?? "[]") as string[],
    ),
  };
}
