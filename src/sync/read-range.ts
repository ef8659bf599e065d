import { firstPage, maxPerPage } from "../api/pagination.js";
import type { SkippedCopy } from "../store/record-writer.js";
import { recordKey } from "../store/records.js";
import type { Json } from "../util/json-value.js";
import type { TimeRange } from "../util/time-ranges.js";
import { rangeQuery, readSortedDates } from "./check-dates.js";
import { resolveCopies, storeSlice } from "./copies.js";
import { type RangeResult, readByPage } from "./read-by-page.js";
import { Budget, type DatedRun, type IncompleteReason } from "./run.js";
import { readSlice } from "./slices.js";

/**
 * Pages that arrive in quick succession share a transaction, because a first sync without a rate limit then takes less
 * time.
 */
const maxPagesPerTransaction = 8;

/** The records in `range`, all of which are in one response. */
interface CompletePage {
  kind: "complete";
  range: TimeRange;
  records: readonly Json[];
  /** The page's remaining records, which are from the second before `range`. The next page contains them as well. */
  olderRecords: readonly Json[];
  /** The API's count for the requested dates. These can start earlier than `range`. */
  total: number;
  requestedAt: number;
}

/**
 * The response to a request for the newest records in a range.
 * - dense: All records on the page are from the newest second, which may contain more records than fit on a page.
 * - faulty: The response violates A1, A2 or A3.
 */
type NewestPage =
  | CompletePage
  | { kind: "dense"; range: TimeRange; total: number }
  | { kind: "faulty"; total: number };

/**
 * Reads a date range into the mirror, newest records first. Mirrored records that the API no longer returns for their
 * dates are marked as missing. If a response violates A1, A2 or A3, the rest of the range is read by page number. The
 * first request is sent, and a dense second is read to the end, even if the budget is used up.
 */
export async function readRange(
  run: DatedRun,
  { from, to }: TimeRange,
  budget = new Budget(run.api),
): Promise<RangeResult> {
  const reasons: IncompleteReason[] = [];
  // Pages that have been received but not stored.
  let pages: CompletePage[] = [];
  const storeReceived = async (): Promise<void> => {
    const received = pages;
    pages = [];
    reasons.push(...(await storePages(run, received)));
  };
  const readRestByPage = async (newest: number): Promise<RangeResult> => {
    await storeReceived();
    const rest = await readByPage(run, { from, to: newest }, budget);
    return { reached: rest.reached, reasons: [...reasons, ...rest.reasons] };
  };

  // Before each response, all records from `reached` to the end of the range have been received. `previous` is the last
  // page. Only the count in the next response shows whether records were missing from it.
  let reached = to + 1;
  let previous: CompletePage | null = null;
  let request: Promise<NewestPage> | null = requestNewest(run, { from, to });
  while (request) {
    const page: NewestPage = await request;
    if (previous !== null && (await lackedRecords(run, previous, page.total)))
      return await readRestByPage(previous.range.to);
    if (page.kind === "faulty") return await readRestByPage(reached - 1);
    reached = page.range.from;
    const requestNext = () => {
      if (reached <= from || budget.remaining <= 0) return null;
      const next = requestNewest(run, { from, to: reached - 1 });
      // The loop awaits the request after pages have been stored. Until then, a failure is not unhandled.
      next.catch(() => {});
      return next;
    };
    if (page.kind === "dense") {
      await storeReceived();
      reasons.push(...(await storeSlice(run, await readSlice(run, page.range))));
      request = requestNext();
      previous = null;
    } else {
      const remaining = Math.ceil((page.total - page.records.length) / maxPerPage);
      run.progress.advance(Math.min(remaining, budget.remaining));
      pages.push(page);
      // The API processes the next request while these pages are being stored.
      request = requestNext();
      if (pages.length === maxPagesPerTransaction || !(await arrivesSoon(run, request)))
        await storeReceived();
      previous = page;
    }
  }
  // If the budget is used up, no later page is read that would count these records, so count them now.
  const uncounted = previous?.olderRecords.length ?? 0;
  if (uncounted > 0) run.mirror.transaction(() => run.progress.addRows(uncounted));
  return { reached, reasons };
}

interface RangesResult {
  /** False if the budget was too small to read all ranges. */
  isFinished: boolean;
  /** The reasons why the run is incomplete: one for each list that never settled (A9). */
  reasons: IncompleteReason[];
}

/** Reads each range until the budget is used up. */
export async function readRanges(
  run: DatedRun,
  ranges: readonly TimeRange[],
  budget = new Budget(run.api),
): Promise<RangesResult> {
  const reasons: IncompleteReason[] = [];
  let isFinished = true;
  for (const range of ranges) {
    if (budget.remaining <= 0) return { isFinished: false, reasons };
    const result = await readRange(run, range, budget);
    reasons.push(...result.reasons);
    if (result.reached > range.from) isFinished = false;
  }
  return { isFinished, reasons };
}

/**
 * Requests the newest records in a range. A full page covers only the dates after the second in which its oldest record
 * is dated, because more records from that second may follow. A page that is not full covers the whole range.
 * @throws UnexpectedResponse if a record has no valid ID
 */
async function requestNewest(run: DatedRun, range: TimeRange): Promise<NewestPage> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items, pagination, requestedAt } = firstPage(resource.path, response);
  const { per_page, total_items: total } = pagination;
  // A record without a valid ID must not be in a transaction with earlier pages, because they would be rolled back.
  for (const item of items) recordKey(resource, item, 0);
  const seconds = readSortedDates(resource, items, range);
  if (!seconds) return { kind: "faulty", total };
  const oldest = seconds.at(-1);
  const hasMore = items.length >= per_page || items.length < total;
  if (oldest === undefined || !hasMore)
    return { kind: "complete", range, records: items, olderRecords: [], total, requestedAt };
  const from = oldest + 1_000;
  if (from > range.to) return { kind: "dense", range: { from: oldest, to: range.to }, total };
  const count = seconds.filter((second) => second >= from).length;
  const [records, olderRecords] = [items.slice(0, count), items.slice(count)];
  return { kind: "complete", range: { from, to: range.to }, records, olderRecords, total, requestedAt };
}

/**
 * Returns true if a page did not contain all the records in its range. This happens if the records were sorted only by
 * chance (A1), or if their dates are less precise than the API's date filter (A3). The page is requested again only if
 * the API's count of the remaining records differs from the expected count, because that can also mean that records have
 * changed.
 */
async function lackedRecords(run: DatedRun, page: CompletePage, remaining: number): Promise<boolean> {
  const { range, records, total } = page;
  if (remaining === total - records.length) return false;
  const repeated = await requestNewest(run, range);
  return repeated.kind === "faulty" || repeated.total > records.length;
}

/**
 * Returns true if the response to a request arrives within 25 ms. Returns false if there is no request, or if it fails,
 * so that earlier pages are stored before the caller gets the error.
 */
async function arrivesSoon({ clock }: DatedRun, request: Promise<unknown> | null): Promise<boolean> {
  if (!request) return false;
  const arrival = request.then(
    () => true,
    () => false,
  );
  return await Promise.race([arrival, clock.sleep(25).then(() => false)]);
}

/** Stores consecutive pages, newest first, in one transaction. */
async function storePages(run: DatedRun, pages: readonly CompletePage[]): Promise<IncompleteReason[]> {
  const copies = run.mirror.transaction(() => pages.map((page) => storePage(run, page)));
  const reasons: IncompleteReason[] = [];
  for (const [index, { requestedAt }] of pages.entries())
    reasons.push(...(await resolveCopies(run, copies[index] ?? [], requestedAt)));
  return reasons;
}

/** @returns the copies of mirrored records, which are still to be resolved */
function storePage(run: DatedRun, page: CompletePage): SkippedCopy[] {
  const { apiTotals, progress, runId, state, writer } = run;
  const { olderRecords, range, records, requestedAt } = page;
  const written = writer.write(records, { readAt: requestedAt });
  // Write the older records as well, so that an interrupted run loses none of them. The next page contains them too, so
  // their number, their copies and their effect on the totals are left to that page.
  const older = writer.write(olderRecords, { readAt: requestedAt });
  state.missing.delete([...written.ids, ...older.ids]);
  const ids = new Set(written.ids);
  progress.addRows(ids.size);
  if (written.addedOrChanged > 0) state.storedTotals.invalidate(range);
  state.coverRange({ runId, range, ids, requestedAt }, apiTotals);
  return written.copies;
}
