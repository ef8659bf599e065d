import { type Covered, join, type Range, subtract, touches } from "../lib/ranges.js";
import { formatInstant, instantOrNull } from "../lib/times.js";
import { type Mirror, statement } from "../mirror/index.js";

/** Lays a newer read over older ones: each instant keeps its newest. Neighbours of one run are one, as old as the older. */
export function addCovered(all: readonly Covered[], added: Covered): Covered[] {
  const sorted = [...without(all, added), added].sort((a, b) => a.from - b.from);
  return sorted.reduce<Covered[]>((merged, one) => {
    const last = merged.at(-1);
    if (last && last.runId === one.runId && one.from - last.to <= 1)
      merged[merged.length - 1] = { ...last, to: one.to, readAt: Math.min(last.readAt, one.readAt) };
    else merged.push(one);
    return merged;
  }, []);
}

/** Coverage less a range; what the range does not touch is the very same. */
function without(all: readonly Covered[], range: Range): Covered[] {
  return all.flatMap((one) =>
    touches(one, range) ? subtract([one], [range]).map((piece) => ({ ...one, ...piece })) : [one],
  );
}

/**
 * Coverage without what a clock that was ahead has claimed: dates that nobody can have read, reads of the future.
 * @param earliest when such a read can have been at the earliest
 */
export function trimCovered(
  all: readonly Covered[],
  now: number,
  earliest: (one: Covered) => number,
): Covered[] {
  return upToNow(all, now).map((one) => (one.readAt < now ? one : { ...one, readAt: earliest(one) }));
}

/** Coverage without dates to come; what has none is the very same. */
function upToNow(all: readonly Covered[], now: number): Covered[] {
  return all.filter(({ from }) => from <= now).map((one) => (one.to > now ? { ...one, to: now } : one));
}

/** A resource's coverage, sorted by date. */
export function readCoverage(mirror: Mirror, resource: string): Covered[] {
  const rows = statement(
    mirror,
    "SELECT from_at, to_at, read_at, run_id FROM coverage WHERE resource = ? ORDER BY from_at",
  ).all(resource) as { from_at: string | null; to_at: string; read_at: string; run_id: number }[];
  return rows.map((row) => ({
    from: row.from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.from_at),
    to: Date.parse(row.to_at),
    readAt: Date.parse(row.read_at),
    runId: row.run_id,
  }));
}

/** Writes what is new in a resource's coverage, and takes away what is no longer in it. */
export function writeCoverage(
  mirror: Mirror,
  resource: string,
  before: readonly Covered[],
  after: readonly Covered[],
): void {
  const values = ({ from, to }: Covered) => [
    resource,
    from === Number.NEGATIVE_INFINITY ? null : formatInstant(from),
    formatInstant(to),
  ];
  const remove = statement(mirror, "DELETE FROM coverage WHERE resource = ? AND from_at IS ? AND to_at = ?");
  const insert = statement(mirror, "INSERT INTO coverage VALUES (?, ?, ?, ?, ?)");
  for (const one of before) if (!after.includes(one)) remove.run(...values(one));
  for (const one of after)
    if (!before.includes(one)) insert.run(...values(one), formatInstant(one.readAt), one.runId);
}

/** Notes what is covered after an answer to a run, for whoever asks later what it was after the last one. */
export function noteRunCoverage(mirror: Mirror, runId: number, covered: readonly Covered[]): void {
  statement(mirror, "DELETE FROM run_coverage WHERE run_id = ?").run(runId);
  const insert = statement(mirror, "INSERT INTO run_coverage VALUES (?, ?, ?)");
  for (const { from, to } of join(covered)) insert.run(runId, instantOrNull(from), formatInstant(to));
}

/** Lays a read over the coverage of a name: a resource, or a part of one that is read by itself. */
export function recordCoverage(mirror: Mirror, name: string, added: Covered): void {
  const before = readCoverage(mirror, name);
  writeCoverage(mirror, name, before, addCovered(before, added));
}

/**
 * Takes what was read of a range, of the parts of a resource that are read by themselves (`resource/…`), for read long
 * ago: whoever asks for it next reads it again.
 */
export function ageParts(mirror: Mirror, resource: string, range: Range, runId: number): void {
  for (const name of partsOf(mirror, resource))
    if (readCoverage(mirror, name).some((one) => touches(one, range)))
      recordCoverage(mirror, name, { ...range, readAt: 0, runId });
}

/** Whether dates to come are claimed, of a resource or of its parts: a clock was ahead then, or is behind now. */
export function isAhead(mirror: Mirror, resource: string, now: number): boolean {
  const names = [resource, ...partsOf(mirror, resource)];
  return names.some((name) => readCoverage(mirror, name).some(({ from }) => from > now));
}

/** Takes back what a clock that was ahead has claimed of dates to come, of the parts of a resource too. */
export function forgetAhead(mirror: Mirror, resource: string, now: number): void {
  for (const name of [resource, ...partsOf(mirror, resource)]) {
    const before = readCoverage(mirror, name);
    writeCoverage(mirror, name, before, upToNow(before, now));
  }
}

function partsOf(mirror: Mirror, resource: string): string[] {
  const names = statement(mirror, "SELECT DISTINCT resource FROM coverage WHERE resource GLOB ?").pluck();
  return names.all(`${resource}/*`) as string[];
}
