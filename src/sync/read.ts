import { firstPage, maxPerPage } from "../api/pagination.js";
import { recordDate, recordKey } from "../store/record-key.js";
import type { Json } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { checkDates, rangeQuery } from "./dates.js";
import type { DatedSync } from "./run.js";
import { readAsList, readByPage, resolveCopies } from "./slices.js";

/** The first page of a range: its newest records. */
interface NewestRecords {
  records: readonly Json[];
  requestedAt: number;
  /** The API's number of records in the range. */
  total: number;
  /** True if the response violates A1, A2 or A3. The range must then be read by page number. */
  hasFault: boolean;
  /** The dates for which the response is complete, or null if it contains only part of a dense second. */
  coveredRange: Range | null;
  /** The number of records in `coveredRange`. */
  coveredCount: number;
  /** The start of `coveredRange` or of the dense second, in milliseconds. */
  reached: number;
}

/**
 * Requests the newest records in a range. A full response covers only the dates after its oldest second, because the
 * next page may have more records from that second. Any other response covers the complete range.
 * @throws UnexpectedResponse if a record has no ID
 */
async function requestNewest(run: DatedSync, range: Range): Promise<NewestRecords> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, requestedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items: total } = pagination;
  // In a transaction, an invalid record would roll back earlier responses as well.
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
 * Reads a range of dates into the mirror, newest first. Mirrored records that the API no longer returns for their dates
 * become missing. If a response violates A1, A2 or A3, the rest of the range is read by page number.
 * @param remaining returns the number of requests left; the first request and dense seconds are exempt
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
    // An inconsistent total means that records changed between the requests, or that the previous response lacked some.
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
    // The API processes the next request while earlier responses are being written.
    const next = reached > from && remaining() > 0 ? requestNewest(run, { from, to }) : null;
    // A failure is thrown when the response is awaited, not as an unhandled rejection.
    next?.catch(() => {});
    previous = coveredRange ? { ...newest, coveredRange } : null;
    if (previous) await queue.add(previous, next);
    if (!next) return reached;
    response = next;
  }
}

/**
 * True if a response lacked some of the API's records for its dates. In that case, its order was right only by
 * coincidence (A1), or its dates are less precise than the dates that the API filters by (A3).
 */
async function lacksRecords(
  run: DatedSync,
  { coveredCount, coveredRange }: CoveringResponse,
): Promise<boolean> {
  const repeated = await requestNewest(run, coveredRange);
  return repeated.hasFault || repeated.total > coveredCount;
}

/** The maximum number of responses in a transaction. */
const maxResponses = 8;
/** The maximum time to wait for the next response before writing, in milliseconds. */
const maxWaitMs = 25;

/**
 * Collects the responses for a range and writes several of them in one transaction if they arrive in quick succession,
 * because a transaction per response takes longer. Slow responses are written while the next one is awaited.
 */
class WriteQueue {
  #responses: CoveringResponse[] = [];
  /** The records in the last written response. */
  #lastIds: ReadonlySet<number> = new Set();

  constructor(private readonly run: DatedSync) {}

  /** @param next the request for the preceding dates, or null after the last one */
  async add(response: CoveringResponse, next: Promise<unknown> | null): Promise<void> {
    const { total, coveredCount } = response;
    this.run.progress.advance(next ? Math.ceil((total - coveredCount) / maxPerPage) : 0);
    this.#responses.push(response);
    const isFull = this.#responses.length >= maxResponses;
    if (!next || isFull || !(await this.#arrivesSoon(next))) await this.write();
  }

  /** Writes all collected responses and covers their dates. */
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
      state.cover({ range, ids, requestedAt: first.requestedAt }, apiTotals);
      return results;
    });
    for (const { copies, requestedAt } of written) await resolveCopies(this.run, copies, requestedAt);
  }

  #writeRecords({ records, requestedAt, coveredRange }: CoveringResponse) {
    const { progress, resource, state, writer } = this.run;
    const written = writer.writeNewest(records, { readAt: requestedAt });
    state.missing.delete(written.ids);
    if (written.addedOrChanged > 0) state.storedTotals.delete(coveredRange);
    // Each response repeats the records from the last second of the previous response, but they are counted only once.
    progress.addRows(written.ids.filter((id) => !this.#lastIds.has(id)).length);
    this.#lastIds = new Set(written.ids);
    // The next response returns the records from the oldest second again, including their copies.
    const copies = written.copies.filter(
      ({ value }) => (recordDate(resource, value) ?? 0) >= coveredRange.from,
    );
    return { ids: written.ids, copies, requestedAt };
  }

  /** True if the response arrives soon. After a failure, the collected responses are written before the error is thrown. */
  async #arrivesSoon(next: Promise<unknown>): Promise<boolean> {
    const arrival = next.then(
      () => true,
      () => false,
    );
    return await Promise.race([arrival, this.run.clock.sleep(maxWaitMs).then(() => false)]);
  }
}
