import { type Covered, join, type Range, subtract, touches } from "../lib/ranges.js";
import { formatInstant, instantOrNull } from "../lib/times.js";
import { type Mirror, statement } from "../mirror/index.js";

/** Returns the coverage with a newer reading laid over it. Neighbours of one run become one, as old as the older. */
export function addCovered(all: readonly Covered[], added: Covered): Covered[] {
  const kept = all.flatMap((one) =>
    touches(one, added) ? subtract([one], [added]).map((piece) => ({ ...one, ...piece })) : [one],
  );
  const sorted = [...kept, added].sort((a, b) => a.from - b.from);
  return sorted.reduce<Covered[]>((merged, one) => {
    const last = merged.at(-1);
    if (last && last.runId === one.runId && one.from - last.to <= 1)
      merged[merged.length - 1] = { ...last, to: one.to, readAt: Math.min(last.readAt, one.readAt) };
    else merged.push(one);
    return merged;
  }, []);
}

/** Returns a resource's coverage, sorted by date. */
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

/** Writes the spans that are new in a resource's coverage, and deletes those that are no longer in it. */
export function writeCoverage(
  mirror: Mirror,
  resource: string,
  before: readonly Covered[],
  after: readonly Covered[],
): void {
  const values = ({ from, to }: Range) => [resource, instantOrNull(from), formatInstant(to)];
  const remove = statement(mirror, "DELETE FROM coverage WHERE resource = ? AND from_at IS ? AND to_at = ?");
  const insert = statement(mirror, "INSERT INTO coverage VALUES (?, ?, ?, ?, ?)");
  for (const one of before) if (!after.includes(one)) remove.run(...values(one));
  for (const one of after)
    if (!before.includes(one)) insert.run(...values(one), formatInstant(one.readAt), one.runId);
}

/** Records what is covered after an answer of a run: `--as-of` and `changes` look it up. */
export function noteRunCoverage(mirror: Mirror, runId: number, covered: readonly Covered[]): void {
  statement(mirror, "DELETE FROM run_coverage WHERE run_id = ?").run(runId);
  const insert = statement(mirror, "INSERT INTO run_coverage VALUES (?, ?, ?)");
  for (const { from, to } of join(covered)) insert.run(runId, instantOrNull(from), formatInstant(to));
}
