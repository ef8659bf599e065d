import type { Range } from "../lib/ranges.js";
import { type Mirror, readInfo, writeInfo } from "../mirror/index.js";

/** What is known of a resource's dates: how coarsely the API shows them, and where it lists records that have none. */
export interface Dates {
  /** As coarsely as the API has shown a date of this resource, in milliseconds. */
  resolution(): number;
  noteResolution(ms: number): void;
  /** The range with its ends moved inwards to where no record is close: the API may keep finer dates than it shows. */
  quiet(range: Range): Range;
  /** Notes that the API sent a record without a date, in a range of dates or only where none was asked for. */
  noteUndated(inRange: boolean): { isFirst: boolean };
  /** Notes that a range of dates shows none: an answer that ignored its dates may have said otherwise. */
  noteNoneUndated(): void;
  /** Whether records without a date are listed in every range. */
  areUndatedEverywhere(): boolean;
  /** The present records without a date, less those that are missing; with `flags`, those that have these bits. */
  undated(flags?: number): number[];
}

/** Records tried before two are found that lie apart. */
const mostTried = 50;
/** Dates that are shown more coarsely than this are counted from where one begins; finer ones away from all records. */
const finestCutMs = 1_000;

export function openDates(mirror: Mirror, resource: string): Dates {
  const { db } = mirror;
  const undatedName = `undated:${resource}`;
  const resolutionName = `resolution:${resource}`;
  let resolution = Number(readInfo(mirror, resolutionName) ?? 1);

  function dates(condition: string, at: number): number[] {
    const select = `SELECT dated_at FROM records WHERE resource = ? AND removed_at IS NULL AND dated_at ${condition}`;
    return db.prepare(`${select} LIMIT ${mostTried}`).pluck().all(resource, at) as number[];
  }

  function quietBelow(to: number): number {
    if (resolution > finestCutMs) return Math.floor((to + 1) / resolution) * resolution - 1;
    let at = to;
    const near = dates("<= ? ORDER BY dated_at DESC", to + resolution);
    for (const dated of near) {
      if (dated <= at - resolution) return at;
      at = Math.floor(dated) - resolution - 1;
    }
    return near.length < mostTried ? at : to;
  }

  function quietAbove(from: number): number {
    if (resolution > finestCutMs) return Math.ceil(from / resolution) * resolution;
    let at = from;
    const near = dates(">= ? ORDER BY dated_at", from - resolution);
    for (const dated of near) {
      if (dated >= at + resolution) return at;
      at = Math.ceil(dated) + resolution + 1;
    }
    return near.length < mostTried ? at : from;
  }

  return {
    resolution: () => resolution,
    noteResolution(ms) {
      if (ms <= resolution) return;
      resolution = ms;
      writeInfo(mirror, resolutionName, String(ms));
    },
    quiet: ({ from, to }) => ({
      from: Number.isFinite(from) ? quietAbove(from) : from,
      to: Number.isFinite(to) ? quietBelow(to) : to,
    }),
    noteUndated(inRange) {
      const known = readInfo(mirror, undatedName);
      if (known === null || (inRange && known === "apart"))
        writeInfo(mirror, undatedName, inRange ? "in ranges" : "apart");
      return { isFirst: known === null };
    },
    noteNoneUndated() {
      if (readInfo(mirror, undatedName) === "in ranges") writeInfo(mirror, undatedName, "apart");
    },
    areUndatedEverywhere: () => readInfo(mirror, undatedName) === "in ranges",
    undated(flags = 0) {
      const select = `SELECT record_id FROM records AS r
        WHERE resource = ? AND dated_at IS NULL AND removed_at IS NULL AND flags & ? = ? AND NOT EXISTS (
          SELECT 1 FROM missing AS m WHERE m.resource = r.resource AND m.record_id = r.record_id)`;
      return db.prepare(select).pluck().all(resource, flags, flags) as number[];
    },
  };
}
