import { firstPage, maxPerPage } from "../api/pagination.js";
import type { Resource } from "../resources/resource.js";
import { truncationRange } from "../store/coverage.js";
import type { SkippedCopy } from "../store/record-writer.js";
import { recordKey } from "../store/records.js";
import type { Json } from "../util/json-value.js";
import type { TimeRange } from "../util/time-ranges.js";
import { batchArrivals } from "./batch-arrivals.js";
import { resolveCopies } from "./copies.js";
import { parseSortedDates, rangeQuery } from "./dates.js";
import { readByPage } from "./read-by-page.js";
import { Budget, type DatedRun } from "./session.js";
import { storeDatedReading } from "./store-reading.js";

/** A response that contains all the records in `range`. */
interface CompletePage {
  kind: "complete";
  range: TimeRange;
  inRange: readonly Json[];
  /**
   * The records in the page's oldest second or, if their dates could be truncated, in its oldest minute or day. The
   * next page repeats them.
   */
  boundary: readonly Json[];
  /** The API's count of the records that match the request but are dated before `range`. */
  countBefore: number;
  requestedAt: number;
}

/**
 * A range that must be read by page number: a dense second or, if the response violates A1, A2 or A3, the entire
 * requested range. If a dense second's dates could be truncated to the minute or day, `range` runs from the start of
 * that minute or day to the end of the requested range.
 */
interface RangeByPage {
  kind: "byPage";
  range: TimeRange;
}

type NewestPage = CompletePage | RangeByPage;

/**
 * Reads a date range into the mirror, newest records first. Mirrored records that the API no longer returns for their
 * dates are marked as missing. A dense second, or the rest of the range after a faulty response, is read by page
 * number. The first request is sent even if the budget is used up.
 * @returns the oldest time that was read, in milliseconds since the Unix epoch
 */
export async function readRange(
  run: DatedRun,
  range: TimeRange,
  budget = new Budget(run.api),
): Promise<number> {
  let oldestRead = range.to + 1;
  const pages = requestPages(run, range, budget);
  // If a range must be read by page number, read it before requesting the next page. If the next page repeats a
  // record from that range, the newer version is then stored last.
  const endsBatch = ({ kind }: NewestPage) => kind === "byPage";
  for await (const batch of batchArrivals(pages, { clock: run.clock, endsBatch })) {
    await storePages(run, batch);
    for (const page of batch)
      oldestRead = page.kind === "complete" ? page.range.from : await readByPage(run, page.range, budget);
  }
  return oldestRead;
}

/** Reads the ranges in the given order until the budget is used up. */
export async function readRanges(
  run: DatedRun,
  ranges: readonly TimeRange[],
  budget = new Budget(run.api),
): Promise<void> {
  for (const range of ranges) {
    if (budget.remaining <= 0) return;
    await readRange(run, range, budget);
  }
}

/**
 * Requests pages, newest first, until the entire range has been returned or the budget is used up. If a page had four
 * records, the first pages could be:
 *
 * | page | seconds of the records | range           | boundary |
 * | ---- | ---------------------- | --------------- | -------- |
 * | 1    | 9, 8, 7, 7             | from 8 onwards  | 7, 7     |
 * | 2    | 7, 7, 7, 5             | from 6 to 7     | 5        |
 * | 3    | 5, 5, 2                | everything else | none     |
 *
 * Each response also contains the API's count of the records that are still to be read, which shows whether the
 * previous page was complete. The previous page may already have been stored by then. If it was not complete, its range
 * and all older dates are read by page number.
 */
async function* requestPages(
  run: DatedRun,
  { from, to }: TimeRange,
  budget: Budget,
): AsyncGenerator<NewestPage, void> {
  let previous: CompletePage | null = null;
  for (let newest = to; ; ) {
    const { page, count } = await requestNewest(run, { from, to: newest });
    if (previous && !(await confirmComplete(run, previous, count))) {
      yield { kind: "byPage", range: { from, to: previous.range.to } };
      return;
    }
    if (page.kind === "complete")
      run.progress.advance(Math.min(Math.ceil(page.countBefore / maxPerPage), budget.remaining));
    yield page;
    if (page.range.from <= from || budget.remaining <= 0) return;
    previous = page.kind === "complete" ? page : null;
    newest = page.range.from - 1;
  }
}

/**
 * Requests the newest records in a range. A full page is complete only for the dates after the second of its oldest
 * record, because more records from that second may follow. If that record's date could be truncated to a minute or a
 * day, that entire minute or day is incomplete. A page that is not full is complete for the whole range.
 * @returns the page, and the API's count of all records in the range
 * @throws UnexpectedResponse if a record has no valid ID
 */
async function requestNewest(run: DatedRun, range: TimeRange): Promise<{ page: NewestPage; count: number }> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items, pagination, requestedAt } = firstPage(resource.path, response);
  const { per_page, total_items: count } = pagination;
  checkIds(resource, items);
  const seconds = parseSortedDates(resource, items, range);
  if (!seconds) return { count, page: { kind: "byPage", range } };
  const oldest = seconds.at(-1);
  const hasMore = items.length >= per_page || items.length < count;
  // If all records on a full page are in the last second (or minute or day) of the range, no dates are complete, and
  // `from` is after the end of the range.
  const from = oldest === undefined || !hasMore ? range.from : truncationRange(oldest).to + 1;
  if (oldest !== undefined && from > range.to)
    return { count, page: { kind: "byPage", range: { from: oldest, to: range.to } } };
  const end = seconds.filter((second) => second >= from).length;
  const page: CompletePage = {
    kind: "complete",
    range: { from, to: range.to },
    inRange: items.slice(0, end),
    boundary: items.slice(end),
    countBefore: count - end,
    requestedAt,
  };
  return { count, page };
}

/**
 * Checks the IDs of records that have not been stored yet. Pages are stored several at a time in one transaction, so an
 * invalid ID would also roll back earlier pages.
 * @throws UnexpectedResponse if a record has no valid ID
 */
function checkIds(resource: Resource, records: readonly Json[]): void {
  for (const record of records) recordKey(resource, record);
}

/**
 * Returns true if a page contained all records in its range. It may lack some if its records were sorted only by chance
 * (A1), or if their dates are less precise than the API's date filter (A3). In that case, `nextCount` differs from the
 * page's `countBefore`. As records may also have been added or removed in the meantime, the page is requested again.
 * @param nextCount the number of records dated before the page's range, according to the next response
 */
async function confirmComplete(run: DatedRun, page: CompletePage, nextCount: number): Promise<boolean> {
  if (nextCount === page.countBefore) return true;
  const reread = await requestNewest(run, page.range);
  return reread.page.kind === "complete" && reread.count <= page.inRange.length;
}

/** Stores the complete pages of a batch in one transaction. */
async function storePages(run: DatedRun, pages: readonly NewestPage[]): Promise<void> {
  const complete = pages.filter((page) => page.kind === "complete");
  const copies = run.mirror.transaction(() => complete.map((page) => storePage(run, page)));
  for (const [index, { requestedAt }] of complete.entries())
    await resolveCopies(run, copies[index] ?? [], requestedAt);
}

/**
 * Stores a page. Its boundary records are stored as well, so that an interrupted run loses none of them, but only the
 * next page makes their dates part of the coverage.
 * @returns the copies of mirrored records, which the caller must resolve
 */
function storePage(run: DatedRun, page: CompletePage): readonly SkippedCopy[] {
  const { inRange, boundary, range, requestedAt } = page;
  const items = [...inRange, ...boundary];
  // The boundary records are from the day that contains the last millisecond before `range`. `returnedRange` need not
  // include their exact dates, because the stored totals are deleted for whole days.
  const returnedRange = boundary.length > 0 ? { from: range.from - 1, to: range.to } : range;
  const responses = [{ items, requestedAt }];
  return storeDatedReading(run, { range, returnedRange, requestedAt, isComplete: true, responses });
}
