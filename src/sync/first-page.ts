import { firstPageOf } from "../api/pages.js";
import type { Range } from "../lib/ranges.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { valueAt } from "../records/index.js";
import type { ApiRecord, Dated, Query, Recognise } from "../resources/types.js";
import { datedOf, keyOf } from "./former.js";
import { type DatedRun, mostPerPage } from "./run.js";
import type { Answered } from "./write.js";

/** One answer, and the range of dates that it proves; null while a list is still being read. */
export interface Slice extends Answered {
  covers: Range | null;
  /** Whether several answers, of several instants, prove it. */
  isList: boolean;
  /** Whoever takes the slice puts the keys of its records here: the pages of a list share one. */
  found: Set<unknown>;
  /** How many records the API counts from the range's beginning to the answer's end. */
  total: number;
}

/** What a reader of dates works with; `resolution` is learned: as coarsely as the API has ever shown a date. */
export type Reader = Pick<DatedRun, "api" | "clock" | "signal" | "resource" | "resolution">;

/** The reading of one range. */
export interface Seeking {
  run: Reader;
  range: Range;
  recognise?: Recognise | undefined;
  signal: AbortSignal;
  /** Requests so far. */
  asked: number;
  /** At most so many: what they show is proven, and the rest left. */
  most?: number | undefined;
  /** Whether nothing of the range was ever read. */
  isNew?: boolean | undefined;
  /** Hears of a range that could not be read, and why. */
  givenUp(range: Range, why: string): void;
}

/** An answer to "page 1 of what lies at or below `to`", asked for `over` milliseconds beyond it. */
export interface FirstPage extends Answered {
  records: ApiRecord[];
  to: number;
  over: number;
  /** How many records there are from the range's beginning to the end that was asked for, and on how many pages. */
  total: number;
  pages: number;
  /** The last millisecond of which it may not show all. */
  edge: number;
  /** Whether it shows everything down to the range's beginning. */
  isAll: boolean;
  /** Whether it shows nothing below the end that was asked for: more records of one instant than a page holds. */
  isCrowd: boolean;
}

/** What an answer proves of a lane: it is of one instant, and shows all down to its edge. */
export function sliceOf({ askedAt, edge, isAll, records, to, total }: FirstPage, { from }: Range): Slice {
  const covers = { from: isAll ? from : Math.max(from, edge + 1), to };
  return { records, askedAt, total, covers, isList: false, found: new Set() };
}

/** The list is in no order of its dates: it has to be read as one. */
export class Disorder extends Error {}

/** Asked for beyond the ends of a range, since the API's dates may be finer than what it shows of them. */
const marginMs = 1_000;
const minuteMs = 60_000;

export function marginOf({ resolution }: Reader): number {
  return Math.max(marginMs, resolution);
}

/** The beginning that all requests of a range share, so that their totals can be compared. */
export function beginningOf({ from }: Range): number {
  return from - marginMs;
}

/**
 * Asks for the newest records of a range at or below an instant.
 * @param turn the answer waits as bytes until then: as records it would fill the memory
 * @throws Disorder when its dates rise or lie above that instant, or it shows none; UnexpectedAnswer when it is no list
 */
export async function askFirstPage(
  seeking: Seeking,
  to: number,
  over = marginOf(seeking.run),
  turn?: Promise<void>,
): Promise<FirstPage> {
  const { range, recognise, run, signal } = seeking;
  const { api, resource } = run;
  const query = rangeQuery(resource.strategy, { from: beginningOf(range), to: to + over });
  const asked = { ...resource.query, ...query, page: 1, per_page: mostPerPage };
  const arrived = turn && (() => turn);
  const ask = async () => {
    seeking.asked += 1;
    const answer = await api.get(resource.path, asked, { scope: resource.scope, signal, recognise, arrived });
    return firstPageOf(resource.path, answer);
  };
  let page = await ask();
  // Nothing in it could speak against the mirror: that there is nothing where something was is believed of two answers.
  if (page.records.length === 0 && !seeking.isNew) page = await ask();
  const { records, pagination, askedAt } = page;
  const { per_page, total_items: total, total_pages: pages } = pagination;
  // A full answer of as many as it says there are may hide one: totals can lag. What lies below it is asked for, too.
  const isAll = records.length >= total && records.length < per_page;
  learnResolution(run, records);
  const dates = records.map((record) => datedOf(resource, record)).filter((date) => date !== null);
  const oldest = dates.at(-1);
  const rises = dates.some((date, at) => at > 0 && date >= (dates[at - 1] ?? 0) + run.resolution);
  // An answer from above the end that was asked for: the API does not go by it, and the end would never be reached.
  const isBeyond = (dates[0] ?? to) > to + over + 1;
  if ((oldest === undefined || rises || isBeyond) && !isAll) throw new Disorder();
  const edge = Math.floor(oldest ?? range.from) + run.resolution - 1;
  const isCrowd = !isAll && edge >= to;
  return { records, askedAt, to, over, total, pages, edge, isAll, isCrowd };
}

/** The API may show the dates of some records more coarsely than those of others. */
export function learnResolution(run: Reader, records: readonly ApiRecord[]): void {
  run.resolution = Math.max(run.resolution, ...records.map((record) => resolutionOf(run, record)));
}

/** How coarsely a record shows its date, in milliseconds; looked at only where it may be coarser than known. */
function resolutionOf({ resolution, resource }: Reader, record: ApiRecord): number {
  const dated = datedOf(resource, record) ?? 1;
  if (dated % 1_000 !== 0 || (resolution >= 1_000 && dated % minuteMs !== 0)) return 1;
  const text = String(valueAt(record.value, [resource.strategy.date]));
  if (text.length === "2026-01-31".length) return dayMs;
  if (text.length <= "2026-01-31T23:59Z".length) return minuteMs;
  return text.includes(".") ? 1 : 1_000;
}

/**
 * What two answers, one after the other, say against each other. The total of the upper one less that of the lower one
 * should be the number of records that only the upper one shows: of 1,000 and 901, say, the upper one shows 99 that the
 * lower one does not. Beside a crowd, of which the lower one shows a part, nobody knows on which side of its end the
 * closest ones are.
 * @returns `surplus`: how many more there are than were shown; `isContradicted`: whether the lower one shows a record
 * that the upper one should have shown
 */
export function comparePair({ resource }: Reader, upper: FirstPage, lower: FirstPage) {
  const key = (record: ApiRecord) => keyOf(resource, record, 0);
  const dated = (record: ApiRecord) => datedOf(resource, record);
  // Keys are dear: only what stands close to the end, or has no date, can be in both.
  const near = upper.records.filter((record) => (dated(record) ?? upper.edge) <= upper.edge + lower.over);
  const from = Math.min(...near.map((record) => dated(record) ?? upper.edge));
  const below = new Set(lower.records.filter((record) => (dated(record) ?? from) >= from).map(key));
  const onlyUpper = near.filter((record) => !below.has(key(record)));
  const most = upper.records.length - near.length + onlyUpper.length;
  const unsure = lower.isCrowd ? onlyUpper.filter((record) => dated(record) !== null).length : 0;
  const least = most - unsure;
  const between = upper.total - lower.total;
  const surplus = between > most ? between - most : Math.min(0, between - least);
  return { surplus, isContradicted: hasStranger({ resource }, upper, lower.records) };
}

/** Whether a later answer shows a record above an answer's edge that it has not shown. */
export function hasStranger(
  { resource }: Pick<Reader, "resource">,
  { edge, records }: FirstPage,
  later: readonly ApiRecord[],
): boolean {
  const above = later.filter((record) => (datedOf(resource, record) ?? edge) > edge);
  if (above.length === 0) return false;
  const known = new Set(records.map((record) => keyOf(resource, record, 0)));
  return above.some((record) => !known.has(keyOf(resource, record, 0)));
}

/** The query of a range of dates, as full timestamps. */
export function rangeQuery({ end, from, until }: Dated, range: Range): Query {
  const last = end === "exclusive" ? range.to + 1 : range.to;
  return {
    [from]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [until]: Number.isFinite(last) ? formatInstant(last) : undefined,
  };
}
