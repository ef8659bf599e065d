import type { Mirror } from "../mirror/mirror.js";
import { formatInstant } from "../times.js";

/** A span of dates that was read completely, and when that read began. Milliseconds; -Infinity: from the beginning. */
export interface Span {
  from: number;
  to: number;
  readAt: number;
  runId: number;
}

/**
 * Spans that are no further apart than this touch. The API's dates may be finer than a millisecond: whoever reads on
 * where a span ends begins at its last millisecond, so that no record lies between the two.
 */
const touching = 1;

/**
 * Lays a newer read over older ones: each instant keeps its newest read. The spans stay sorted and apart, and
 * neighbours of one run are one.
 */
export function addSpan(spans: readonly Span[], added: Span): Span[] {
  const rest = spans.flatMap((span) => {
    const before = { ...span, to: Math.min(span.to, added.from - touching) };
    const after = { ...span, from: Math.max(span.from, added.to + touching) };
    return [before, after].filter((piece) => piece.from <= piece.to && Number.isFinite(piece.to));
  });
  const sorted = [...rest, added].sort((a, b) => a.from - b.from);
  return sorted.reduce<Span[]>((merged, span) => {
    const last = merged.at(-1);
    if (last && last.runId === span.runId && span.from - last.to <= touching)
      merged[merged.length - 1] = { ...last, to: span.to, readAt: Math.min(last.readAt, span.readAt) };
    else merged.push(span);
    return merged;
  }, []);
}

/** The unbroken stretches of coverage: where it begins and ends. More than one means gaps between them. */
export function stretches(spans: readonly Span[]): { from: number; to: number }[] {
  return spans.reduce<{ from: number; to: number }[]>((joined, { from, to }) => {
    const last = joined.at(-1);
    if (last && from - last.to <= touching) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
    return joined;
  }, []);
}

/** Coverage without what lies beyond `now`: written while the clock was ahead, of dates that nobody can have read. */
export function coverageUntil(spans: readonly Span[], now: number): Span[] {
  return spans.filter(({ from }) => from <= now).map((span) => ({ ...span, to: Math.min(span.to, now) }));
}

/** A resource's coverage, sorted by date. */
export function readCoverage(mirror: Mirror, resource: string): Span[] {
  const rows = mirror.db
    .prepare("SELECT from_at, to_at, read_at, run_id FROM coverage WHERE resource = ? ORDER BY from_at")
    .all(resource) as { from_at: string | null; to_at: string; read_at: string; run_id: number }[];
  return rows.map((row) => ({
    from: row.from_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.from_at),
    to: Date.parse(row.to_at),
    readAt: Date.parse(row.read_at),
    runId: row.run_id,
  }));
}

/** Records that a span was read completely. */
export function recordCoverage(mirror: Mirror, resource: string, added: Span): void {
  writeCoverage(mirror, resource, addSpan(readCoverage(mirror, resource), added));
}

/** Takes back what is claimed beyond `now`. */
export function trimCoverage(mirror: Mirror, resource: string, now: number): void {
  const spans = readCoverage(mirror, resource);
  if (spans.some(({ to }) => to > now)) writeCoverage(mirror, resource, coverageUntil(spans, now));
}

function writeCoverage(mirror: Mirror, resource: string, spans: readonly Span[]): void {
  const insert = mirror.db.prepare("INSERT INTO coverage VALUES (?, ?, ?, ?, ?)");
  mirror.db.transaction(() => {
    mirror.db.prepare("DELETE FROM coverage WHERE resource = ?").run(resource);
    for (const { from, to, readAt, runId } of spans) {
      const start = from === Number.NEGATIVE_INFINITY ? null : formatInstant(from);
      insert.run(resource, start, formatInstant(to), formatInstant(readAt), runId);
    }
  })();
}
