import { BrandapiError, KeyRejected, Stopped } from "../../errors.js";
import { readInfo, writeInfo } from "../../mirror/info.js";
import { valueAt } from "../../records/values.js";
import type { Json, Resource } from "../../resources/types.js";
import { readCoverage, type Span, stretches } from "../../state/coverage.js";
import { type DayFigures, readTripwires, saveTripwires } from "../../state/tripwires.js";
import { dayMs, formatInstant } from "../../times.js";
import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { dayOf, dayRange } from "./days.js";

/** The API's figures by day, asked for before the records they speak of were read. */
export interface Wire {
  askedAt: number;
  figures: DayFigures;
}

/**
 * Asks for the figures of the whole history: one request. Ask before reading, so that what changes meanwhile shows
 * the next time. Where the API does not give them, the run goes on without.
 */
export async function askTripwire(context: SyncContext): Promise<Wire | null> {
  const { api, clock, resource, signal } = context;
  const { strategy } = resource;
  if (strategy.kind !== "window") return null;
  const { tripwire } = strategy;
  const askedAt = clock.now();
  try {
    const query = { ...tripwire.query, end_date: formatInstant(context.now) };
    const { data } = await api.get(tripwire.path, query, { scope: resource.scope, signal });
    return { askedAt, figures: readFigures(data, tripwire) };
  } catch (error) {
    if (!(error instanceof BrandapiError) || error instanceof Stopped || error instanceof KeyRejected)
      throw error;
    context.reporter.detail(`${resource.name}: no figures by day (${error.message})`);
    return null;
  }
}

/**
 * Keeps the figures that a read began with: should it be stopped, the run that goes on with it learns from them what
 * moved behind the place where it stood.
 */
export function keepWire({ mirror, resource }: SyncContext, wire: Wire | null): void {
  const kept = wire && { askedAt: wire.askedAt, figures: [...wire.figures] };
  writeInfo(mirror, keptName(resource), JSON.stringify(kept));
}

export function keptWire({ mirror, resource }: SyncContext): Wire | null {
  const text = readInfo(mirror, keptName(resource));
  const kept =
    text === null ? null : (JSON.parse(text) as { askedAt: number; figures: [string, string][] } | null);
  return kept && { askedAt: kept.askedAt, figures: new Map(kept.figures) };
}

function keptName({ name }: Resource): string {
  return `figures:${name}`;
}

/** Whether there are figures for almost all days of a range that have records: otherwise they show nothing. */
export function speaksOf({ mirror, resource }: SyncContext, wire: Wire | null, { from, to }: Goal): boolean {
  if (!wire) return false;
  const days = mirror.db
    .prepare(
      `SELECT DISTINCT CAST(dated_at / ${dayMs} AS INTEGER) FROM records
       WHERE resource = ? AND dated_at >= ? AND dated_at <= ? AND removed_at IS NULL`,
    )
    .pluck()
    .all(resource.name, Math.max(from, -8.64e15), to) as number[];
  const told = days.filter((day) => wire.figures.has(dayOf(day * dayMs))).length;
  return told >= days.length * 0.9;
}

function readFigures(
  data: Json,
  { points, day, figures }: { points: string; day: string; figures: readonly string[] },
): DayFigures {
  const list = valueAt(data, [points]);
  const found = new Map<string, string>();
  for (const point of Array.isArray(list) ? list : []) {
    const date = String(valueAt(point, [day])).slice(0, 10);
    if (/^\d{4}-\d\d-\d\d$/.test(date))
      found.set(date, JSON.stringify(figures.map((name) => valueAt(point, [name]) ?? null)));
  }
  return found;
}

/** Days whose figures moved since their records were last read, and that this run has not read. */
export function movedDays({ mirror, resource }: SyncContext, wire: Wire): string[] {
  const before = readTripwires(mirror, resource.name);
  if (before.size === 0) return [];
  const spans = readCoverage(mirror, resource.name);
  const isCovered = containing(stretches(spans));
  const isFresh = containing(readSince(spans, wire));
  const days = new Set([...before.keys(), ...wire.figures.keys()]);
  return [...days].filter((day) => before.get(day) !== figure(wire, day) && isCovered(day) && !isFresh(day));
}

/** Remembers the figures of every day that was read completely after they were asked for. */
export function rememberDays({ mirror, resource }: SyncContext, wire: Wire): void {
  const isFresh = containing(readSince(readCoverage(mirror, resource.name), wire));
  const days = new Set([...readTripwires(mirror, resource.name).keys(), ...wire.figures.keys()]);
  saveTripwires(
    mirror,
    resource.name,
    new Map([...days].filter(isFresh).map((day) => [day, figure(wire, day)])),
  );
}

/** A day without a point is a day without figures. */
function figure({ figures }: Wire, day: string): string {
  return figures.get(day) ?? "none";
}

/** What was read after the figures were asked for. A day that two runs have read, one after the other, is whole. */
function readSince(spans: readonly Span[], { askedAt }: Wire): Goal[] {
  return stretches(spans.filter(({ readAt }) => readAt >= askedAt));
}

/** Whether one of the ranges holds a whole day. */
function containing(ranges: readonly Goal[]): (day: string) => boolean {
  return (day) => {
    const { from, to } = dayRange(day);
    return ranges.some((range) => range.from <= from && range.to >= to);
  };
}
