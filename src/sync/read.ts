import { firstPage, maxPerPage } from "../api/pagination.js";
import { recordDate, recordKey } from "../store/records.js";
import type { Json } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { type RangeResult, readAsList, readByPage } from "./by-page.js";
import { resolveCopies } from "./copies.js";
import { checkDates, rangeQuery } from "./dates.js";
import { Budget, type DatedRun, type IncompleteReason } from "./run.js";

/** A response with all records in `range`, and possibly some of the records in the second before it. */
interface CoveringResponse {
  kind: "covering";
  range: Range;
  records: readonly Json[];
  /** The number of records in `range`. */
  count: number;
  total: number;
  requestedAt: number;
}

/**
 * A response to a request for the newest records in a range.
 * - dense: All records on the page are from the newest second of the range, which may contain more records than fit on
 * a page.
 * - faulty: The response violates A1, A2 or A3, so the dates up to `to` must be read by page number.
 */
type NewestResponse =
  | CoveringResponse
  | { kind: "dense"; range: Range; total: number }
  | { kind: "faulty"; to: number; total: number };

/**
 * Reads a date range into the mirror, newest records first. Mirrored records that the API no longer returns for their
 * dates are marked as missing. If a response violates A1, A2 or A3, the rest of the range is read by page number. The
 * first request is always sent, and a dense second is always read completely.
 */
export async function readRange(
  run: DatedRun,
  range: Range,
  budget = new Budget(run.api),
): Promise<RangeResult> {
  const queue = new WriteQueue(run);
  const unsettled: IncompleteReason[] = [];
  let reached = range.to + 1;
  for await (const { next, response } of requestNewestFirst(run, range, budget)) {
    if (response.kind === "covering") {
      unsettled.push(...(await queue.add(response, next)));
      reached = response.range.from;
      continue;
    }
    unsettled.push(...(await queue.write()));
    if (response.kind === "faulty") {
      const byPage = await readByPage(run, { from: range.from, to: response.to }, budget);
      return { reached: byPage.reached, unsettled: [...unsettled, ...byPage.unsettled] };
    }
    unsettled.push(...(await readAsList(run, response.range)));
    reached = response.range.from;
  }
  return { reached, unsettled };
}

/**
 * Requests a range page by page. While the caller writes a response, the API is already processing the request for the
 * next page (`next`). Only a dense second is read before the next request is sent.
 */
async function* requestNewestFirst(
  run: DatedRun,
  { from, to }: Range,
  budget: Budget,
): AsyncGenerator<{ response: NewestResponse; next: Promise<NewestResponse> | null }, void> {
  let next: Promise<NewestResponse> | null = requestAndCheck(run, { from, to }, null);
  while (next) {
    const response: NewestResponse = await next;
    if (response.kind === "faulty") return yield { response, next: null };
    const reached: number = response.range.from;
    const hasMore = (): boolean => reached > from && budget.remaining > 0;
    if (response.kind === "covering") {
      next = hasMore() ? requestAndCheck(run, { from, to: reached - 1 }, response) : null;
      // Prevent an unhandled rejection if the request fails before it is awaited.
      next?.catch(() => {});
      yield { response, next };
    } else {
      yield { response, next: null };
      next = hasMore() ? requestAndCheck(run, { from, to: reached - 1 }, null) : null;
    }
  }
}

/**
 * Requests the newest records in a range. If the total does not match the number of records that remained after the
 * previous response, checks that the previous response had all records in its range.
 */
async function requestAndCheck(
  run: DatedRun,
  range: Range,
  previous: CoveringResponse | null,
): Promise<NewestResponse> {
  const response = await requestNewest(run, range);
  if (!previous || response.total === previous.total - previous.count) return response;
  // Either records have changed between the two requests, or the previous response lacked records. In the latter case,
  // its records were in the right order only by chance (A1), or their dates are less precise than the API's date filter
  // (A3).
  const repeated = await requestNewest(run, previous.range);
  const lackedRecords = repeated.kind === "faulty" || repeated.total > previous.count;
  return lackedRecords ? { kind: "faulty", to: previous.range.to, total: response.total } : response;
}

/**
 * Requests the newest records in a range. A full page covers only the dates after the second in which its oldest record
 * is dated, because the next page may contain more records from that second. A page that is not full covers the
 * complete range.
 * @throws UnexpectedResponse if a record has no ID
 */
async function requestNewest(run: DatedRun, range: Range): Promise<NewestResponse> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, requestedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items: total } = pagination;
  // Check the IDs before the transaction, because an invalid record would roll back earlier responses as well.
  for (const record of records) recordKey(resource, record, 0);
  const { fault, seconds } = checkDates(resource, records, range);
  if (fault !== null) return { kind: "faulty", to: range.to, total };
  const oldest = seconds.at(-1) ?? range.to;
  const isFull = records.length >= per_page || records.length < total;
  const from = isFull && records.length > 0 ? oldest + 1_000 : range.from;
  if (from > range.to) return { kind: "dense", range: { from: oldest, to: range.to }, total };
  const count = seconds.filter((second) => second >= from).length;
  return { kind: "covering", range: { from, to: range.to }, records, count, total, requestedAt };
}

const maxResponses = 8;
/** The maximum time to wait for a response to add to a batch, in milliseconds. */
const batchWaitMs = 25;

/**
 * Writes the responses for a range. Responses that arrive in quick succession share a transaction, because a first sync
 * then takes 11% less CPU time. If the next response is slow, earlier responses are written in the meantime.
 */
class WriteQueue {
  #responses: CoveringResponse[] = [];
  #previousIds: ReadonlySet<number> = new Set();

  constructor(private readonly run: DatedRun) {}

  async add(response: CoveringResponse, next: Promise<NewestResponse> | null): Promise<IncompleteReason[]> {
    const { total, count } = response;
    this.run.progress.advance(next ? Math.ceil((total - count) / maxPerPage) : 0);
    this.#responses.push(response);
    const isFull = this.#responses.length >= maxResponses;
    return !next || isFull || !(await this.#arrivesSoon(next)) ? await this.write() : [];
  }

  async write(): Promise<IncompleteReason[]> {
    const responses = this.#responses;
    this.#responses = [];
    const [first, last] = [responses[0], responses.at(-1)];
    if (!first || !last) return [];
    const { apiTotals, mirror, runId, state } = this.run;
    const written = mirror.transaction(() => {
      const results = responses.map((response) => this.#writeRecords(response));
      const range = { from: last.range.from, to: first.range.to };
      const ids = new Set(results.flatMap((result) => result.ids));
      state.coverRange({ runId, range, ids, requestedAt: first.requestedAt }, apiTotals);
      return results;
    });
    const unsettled: IncompleteReason[] = [];
    for (const { copies, requestedAt } of written)
      unsettled.push(...(await resolveCopies(this.run, copies, requestedAt)));
    return unsettled;
  }

  /**
   * Writes a response. Records that are older than its range also appear in the next response. They are counted once,
   * and their copies are resolved when the next response is written.
   */
  #writeRecords({ records, requestedAt, range }: CoveringResponse) {
    const { progress, resource, state, writer } = this.run;
    const { addedOrChanged, copies, ids } = writer.write(records, { readAt: requestedAt });
    state.missing.delete(ids);
    if (addedOrChanged > 0) state.storedTotals.delete(range);
    progress.addRows(ids.filter((id) => !this.#previousIds.has(id)).length);
    this.#previousIds = new Set(ids);
    const copiesInRange = copies.filter(({ value }) => (recordDate(resource, value) ?? 0) >= range.from);
    return { ids, copies: copiesInRange, requestedAt };
  }

  /**
   * Returns true if the next response arrives within `batchWaitMs`. Returns false if the request fails, so that earlier
   * responses are written before the error is thrown.
   */
  async #arrivesSoon(next: Promise<NewestResponse>): Promise<boolean> {
    const arrival = next.then(
      () => true,
      () => false,
    );
    return await Promise.race([arrival, this.run.clock.sleep(batchWaitMs).then(() => false)]);
  }
}
