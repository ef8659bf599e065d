import { firstPage, maxPerPage, requestSent } from "../api/pagination.js";
import { beginTransaction } from "../store/database.js";
import { recordDate } from "../store/record-key.js";
import type { WrittenRecords } from "../store/record-writer.js";
import type { RangeRecords } from "../store/sync-state.js";
import type { Json } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { readByPage } from "./by-page.js";
import { cover, dropStoredTotals } from "./daily-totals.js";
import { checkDates, rangeQuery } from "./dates.js";
import type { DatedSync } from "./run.js";
import { readSlice, resolveCopies, writeSlice } from "./slices.js";

/** A response with the newest records in a range, up to one page. */
interface NewestRecords {
  records: readonly Json[];
  /** The time of the request, in milliseconds since 1970. */
  requestedAt: number;
  /** The number of records in the range, according to the API. */
  total: number;
  /** True if the response violates A1, A2 or A3. The range must then be read by page number. */
  hasFault: boolean;
  /** The dates for which the response has all records, or null if it has only part of a dense second. */
  coveredRange: Range | null;
  /** The number of records in `coveredRange`. */
  coveredCount: number;
  /** The oldest record's second, in milliseconds, or the end of the range if there are no records. */
  oldest: number;
}

/**
 * Requests the newest records in a range. A full response covers only the dates after its oldest second, because the
 * next page may have more records from that second. Any other response covers the complete range.
 */
async function requestNewest(run: DatedSync, range: Range): Promise<NewestRecords> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, requestedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items: total } = pagination;
  const { fault, seconds } = checkDates(resource, records, range);
  const oldest = seconds.at(-1) ?? range.to;
  const isFull = records.length >= per_page || records.length < total;
  const from = isFull && records.length > 0 ? oldest + 1_000 : range.from;
  const coveredRange = from <= range.to ? { from, to: range.to } : null;
  const coveredCount = seconds.filter((second) => second >= from).length;
  return { records, requestedAt, total, hasFault: fault !== null, coveredRange, coveredCount, oldest };
}

/** A response that covers some dates, because it contains all records with these dates. */
type CoveringResponse = NewestRecords & { coveredRange: Range };

/** The result of reading a range of dates. */
export interface RangeReading {
  /** The oldest instant that was read, in milliseconds. */
  reached: number;
  /** The number of new and changed records. */
  addedOrChanged: number;
}

/**
 * Reads a range of dates into the mirror, newest first. Each response is written atomically, together with the coverage
 * of its dates. Mirrored records in these dates that the response lacks are marked as missing. If a response violates
 * A1, A2 or A3 (see `README.md`), the rest of the range is read by page number.
 * @param remaining returns the number of requests left; the first request and dense seconds are exempt
 */
export async function readRange(
  run: DatedSync,
  range: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<RangeReading> {
  const batch = new WriteBatch(run);
  let addedOrChanged = 0;
  const request = (to: number) => {
    const response = requestNewest(run, { from: range.from, to });
    // If the request fails, the error is thrown when the response is awaited.
    response.catch(() => {});
    return response;
  };
  const readRestByPage = async (to: number): Promise<RangeReading> => {
    const rest = await batch.flushThen(() => readByPage(run, { from: range.from, to }, remaining));
    return { ...rest, addedOrChanged: addedOrChanged + rest.addedOrChanged };
  };

  // Before each response, all dates after `to` have been read. `coming` is the request for the dates up to `to`.
  // `previous` is the response that covers the dates just after `to`; it is null after a dense second.
  let to = range.to;
  let coming: Promise<NewestRecords> | null = request(to);
  let previous: CoveringResponse | null = null;
  try {
    while (coming) {
      const response: NewestRecords = await coming;
      if (previous && (await lackedRecords(run, batch, previous, response)))
        return await readRestByPage(previous.coveredRange.to);
      if (response.hasFault) return await readRestByPage(to);

      const from: number = response.coveredRange?.from ?? response.oldest;
      const requestNext = () => (from <= range.from || remaining() <= 0 ? null : request(from - 1));
      if (isCovering(response)) {
        // The API processes the next request while this response is being written.
        coming = requestNext();
        addedOrChanged += await writeResponse(run, batch, response, coming);
        previous = response;
      } else {
        addedOrChanged += await batch.flushThen(() => readDenseSecond(run, { from, to }));
        coming = requestNext();
        previous = null;
      }
      to = from - 1;
    }
  } finally {
    batch.commit();
  }
  return { reached: to + 1, addedOrChanged };
}

function isCovering(response: NewestRecords): response is CoveringResponse {
  return response.coveredRange !== null;
}

/**
 * True if a response lacked some records in the dates that it covered. In that case, its order was right only by
 * coincidence (A1), or its dates are less precise than the dates that the API filters by (A3). False if the total
 * changed because records were added or withdrawn between the two requests.
 * @param next the response for the preceding dates, whose total follows from the first response's total if that
 * response lacked nothing
 */
async function lackedRecords(
  run: DatedSync,
  batch: WriteBatch,
  { coveredCount, coveredRange, total }: CoveringResponse,
  next: NewestRecords,
): Promise<boolean> {
  if (next.total === total - coveredCount) return false;
  const repeated = await batch.flushThen(() => requestNewest(run, coveredRange));
  return repeated.hasFault || repeated.total > coveredCount;
}

/**
 * Writes a response, including the copies of records that it contains twice. Returns the number of new and changed
 * records.
 */
async function writeResponse(
  run: DatedSync,
  batch: WriteBatch,
  response: CoveringResponse,
  next: Promise<unknown> | null,
): Promise<number> {
  const { coveredCount, coveredRange, requestedAt, total } = response;
  const written = await batch.write(response, next);
  // The next response returns the records from the oldest second again, including their copies.
  const copies = written.copies.filter(
    ({ value }) => (recordDate(run.resource, value) ?? 0) >= coveredRange.from,
  );
  const fromCopies =
    copies.length > 0 ? await batch.flushThen(() => resolveCopies(run, copies, requestedAt)) : 0;
  run.progress.advance(next ? Math.ceil((total - coveredCount) / maxPerPage) : 0);
  return written.addedOrChanged + fromCopies;
}

/**
 * Reads a second that has more records than fit on a page, as a list. Returns the number of new and changed records.
 */
async function readDenseSecond(run: DatedSync, second: Range): Promise<number> {
  const reading = await readSlice(run, second);
  const { addedOrChanged, copies } = writeSlice(run, reading);
  return addedOrChanged + (await resolveCopies(run, copies, reading.list.requestedAt));
}

/** The maximum duration of a transaction, in milliseconds, if responses arrive faster than they are written. */
const maxBatchMs = 250;
/** The maximum time to wait for the next response before a commit, in milliseconds. */
const maxWaitMs = 25;

/**
 * Writes the responses for a range, one or more per transaction. If the process is killed, only the open transaction is
 * lost.
 *
 * The transaction stays open while the next response is awaited, so all other writes during that time become part of
 * it. All other code that sends requests or writes must therefore run in `flushThen`.
 */
class WriteBatch {
  /** A function that commits the open transaction, or null if no transaction is open. */
  #commit: ReturnType<typeof beginTransaction> | null = null;
  #openedAt = 0;
  /** The records and dates in the open transaction. */
  #written: (RangeRecords & { ids: Set<number> }) | null = null;
  /** The records in the last response. */
  #lastIds: ReadonlySet<number> = new Set();

  constructor(private readonly run: DatedSync) {}

  /**
   * Writes one response atomically. Commits unless the next response arrives soon.
   * @throws Error if the response's dates do not end just before those of the previous response in the transaction
   */
  async write(response: CoveringResponse, next: Promise<unknown> | null): Promise<WrittenRecords> {
    const { clock, mirror } = this.run;
    if (next) await requestSent(clock);
    if (!this.#commit) this.#openedAt = clock.monotonic();
    this.#commit ??= beginTransaction(mirror);
    const written = mirror.transaction(() => this.#writeRecords(response));
    this.#extend(response, written.ids);
    const isOld = clock.monotonic() - this.#openedAt >= maxBatchMs;
    if (isOld || !next || !(await this.#arrivesSoon(next))) this.commit();
    return written;
  }

  #writeRecords({ records, requestedAt, coveredRange }: CoveringResponse): WrittenRecords {
    const { progress, state, writer } = this.run;
    const written = writer.writeNewest(records, { readAt: requestedAt });
    state.missing.delete(written.ids);
    if (written.addedOrChanged > 0) dropStoredTotals(this.run, coveredRange);
    // Each response repeats the records from the last second of the previous response, but they are counted only once.
    progress.addRows(written.ids.filter((id) => !this.#lastIds.has(id)).length);
    this.#lastIds = new Set(written.ids);
    return written;
  }

  /**
   * Extends the transaction's date range by the dates of its newest response. The time of the first request is used for
   * all responses.
   */
  #extend({ coveredRange, requestedAt }: CoveringResponse, ids: readonly number[]): void {
    const { runId } = this.run;
    this.#written ??= {
      range: { from: coveredRange.to + 1, to: coveredRange.to },
      ids: new Set(),
      requestedAt,
      runId,
    };
    // Responses arrive newest first. If there were a gap between two responses, its dates would be covered without
    // having been read.
    if (coveredRange.to + 1 !== this.#written.range.from)
      throw new Error("the dates of two responses in one transaction are not adjacent");
    this.#written.range.from = coveredRange.from;
    for (const id of ids) this.#written.ids.add(id);
  }

  /** Marks the responses' dates as covered, and commits. */
  commit(): void {
    const [commit, written] = [this.#commit, this.#written];
    this.#commit = this.#written = null;
    commit?.(() => written && cover(this.run, written));
  }

  /** Commits, and then runs work that must not be part of the transaction. */
  async flushThen<T>(work: () => Promise<T>): Promise<T> {
    this.commit();
    return await work();
  }

  async #arrivesSoon(next: Promise<unknown>): Promise<boolean> {
    const arrival = Promise.allSettled([next]).then(() => true);
    return await Promise.race([arrival, this.run.clock.sleep(maxWaitMs).then(() => false)]);
  }
}
