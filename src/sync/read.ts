import { firstPage, maxPerPage } from "../api/pagination.js";
import { recordDate, recordKey } from "../store/record-key.js";
import type { Json } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { checkDates, rangeQuery } from "./dates.js";
import type { DatedSync } from "./run.js";
import { readAsList, readByPage, resolveCopies } from "./slices.js";

interface NewestRecords {
  records: readonly Json[];
  requestedAt: number;
  total: number;
  hasFault: boolean;
  /** The dates for which the response has all records, or null if it has only part of a dense second. */
  coveredRange: Range | null;
  coveredCount: number;
  /** The oldest instant read: the start of `coveredRange` or of the dense second, in milliseconds. */
  reached: number;
}

/**
 * Requests the newest records in a range. A full page covers only the dates after the second of its oldest record,
 * because the next page may contain more records from that second. A page that is not full covers the complete range.
 * @throws UnexpectedResponse if a record has no ID
 */
async function requestNewest(run: DatedSync, range: Range): Promise<NewestRecords> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, requestedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items: total } = pagination;
  // Check the IDs before the transaction, because an invalid record would roll back earlier responses as well.
  for (const record of records) recordKey(resource, record, 0);
  const { fault, seconds } = checkDates(resource, records, range);
  const oldest = seconds.at(-1) ?? range.to;
  const isFull = records.length >= per_page || records.length < total;
  const from = isFull && records.length > 0 ? oldest + 1_000 : range.from;
  const coveredRange = from <= range.to ? { from, to: range.to } : null;
  const coveredCount = seconds.filter((second) => second >= from).length;
  const reached = coveredRange?.from ?? oldest;
  return { records, requestedAt, total, hasFault: fault !== null, coveredRange, coveredCount, reached };
}

type CoveringResponse = NewestRecords & { coveredRange: Range };

/**
 * Reads a date range into the mirror, newest records first. Mirrored records that the API no longer returns for their
 * dates become missing. If a response violates A1, A2 or A3, the rest of the range is read by page number.
 * @param remaining returns the number of requests left; the first request is always sent, and a dense second is always
 * read completely
 * @returns the oldest instant that was read, in milliseconds
 */
export async function readRange(
  run: DatedSync,
  { from, to: end }: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  const queue = new WriteQueue(run);
  let to = end;
  let response = requestNewest(run, { from, to });
  let previous: CoveringResponse | null = null;
  for (;;) {
    const newest = await response;
    // If the total is not as expected, records have changed between the two requests, or the previous response lacked
    // some.
    if (previous && newest.total !== previous.total - previous.coveredCount) {
      await queue.write();
      if (await lacksRecords(run, previous))
        return await readByPage(run, { from, to: previous.coveredRange.to }, remaining);
    }
    if (newest.hasFault) {
      await queue.write();
      return await readByPage(run, { from, to }, remaining);
    }

    const { coveredRange, reached } = newest;
    if (!coveredRange) {
      await queue.write();
      await readAsList(run, { from: reached, to });
    }
    to = reached - 1;
    // Request the next page now, so that the API processes it while earlier responses are being written.
    const next = reached > from && remaining() > 0 ? requestNewest(run, { from, to }) : null;
    // Prevents an unhandled rejection if the request fails before it is awaited.
    next?.catch(() => {});
    previous = coveredRange ? { ...newest, coveredRange } : null;
    if (previous) await queue.add(previous, next);
    if (!next) return reached;
    response = next;
  }
}

/**
 * True if the response lacked records. If it did, its records were in the right order only by chance (A1), or their
 * dates are less precise than the API's date filter (A3).
 */
async function lacksRecords(
  run: DatedSync,
  { coveredCount, coveredRange }: CoveringResponse,
): Promise<boolean> {
  const repeated = await requestNewest(run, coveredRange);
  return repeated.hasFault || repeated.total > coveredCount;
}

const maxResponses = 8;
/** The maximum time to wait for the next response before writing, in milliseconds. */
const batchWaitMs = 25;

/**
 * Writes the responses for a range. Responses that arrive in quick succession share a transaction, because a first sync
 * then takes 11% less CPU time. If the next response is slow, earlier responses are written in the meantime.
 */
class WriteQueue {
  #responses: CoveringResponse[] = [];
  #lastIds: ReadonlySet<number> = new Set();

  constructor(private readonly run: DatedSync) {}

  async add(response: CoveringResponse, next: Promise<unknown> | null): Promise<void> {
    const { total, coveredCount } = response;
    this.run.progress.advance(next ? Math.ceil((total - coveredCount) / maxPerPage) : 0);
    this.#responses.push(response);
    const isFull = this.#responses.length >= maxResponses;
    if (!next || isFull || !(await this.#arrivesSoon(next))) await this.write();
  }

  async write(): Promise<void> {
    const responses = this.#responses;
    this.#responses = [];
    const [first, last] = [responses[0], responses.at(-1)];
    if (!first || !last) return;
    const { apiTotals, mirror, state } = this.run;
    const written = mirror.transaction(() => {
      const results = responses.map((response) => this.#writeRecords(response));
      const range = { from: last.coveredRange.from, to: first.coveredRange.to };
      const ids = new Set(results.flatMap((result) => result.ids));
      state.coverRange({ range, ids, requestedAt: first.requestedAt }, apiTotals);
      return results;
    });
    for (const { copies, requestedAt } of written) await resolveCopies(this.run, copies, requestedAt);
  }

  #writeRecords({ records, requestedAt, coveredRange }: CoveringResponse) {
    const { progress, resource, state, writer } = this.run;
    const written = writer.writeNewest(records, { readAt: requestedAt });
    state.missing.delete(written.ids);
    if (written.addedOrChanged > 0) state.storedTotals.delete(coveredRange);
    // A response repeats the oldest second of the previous response, whose records must not be counted again.
    progress.addRows(written.ids.filter((id) => !this.#lastIds.has(id)).length);
    this.#lastIds = new Set(written.ids);
    // Copies from the oldest second are resolved with the next response, which contains that second again.
    const copies = written.copies.filter(
      ({ value }) => (recordDate(resource, value) ?? 0) >= coveredRange.from,
    );
    return { ids: written.ids, copies, requestedAt };
  }

  /**
   * True if the next response arrives within `maxWaitMs`. Returns false if the request fails, so that earlier responses
   * are written before the error is thrown.
   */
  async #arrivesSoon(next: Promise<unknown>): Promise<boolean> {
    const arrival = next.then(
      () => true,
      () => false,
    );
    return await Promise.race([arrival, this.run.clock.sleep(batchWaitMs).then(() => false)]);
  }
}
