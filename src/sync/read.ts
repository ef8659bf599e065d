import { firstPage } from "../api/pagination.js";
import { recordDate } from "../store/records/record-key.js";
import type { Json } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { maxPerPage } from "./budget.js";
import { readByPage } from "./by-page.js";
import { resolveCopies } from "./copies.js";
import { checkDates, rangeQuery } from "./dates.js";
import type { DatedSync } from "./session.js";
import { readSlice, writeSlice } from "./slices.js";
import { WriteBatch } from "./write.js";

/** A response with the newest records of a range, at most one page. */
interface NewestRecords {
  records: readonly Json[];
  /** The time of the request, in milliseconds since 1970. */
  requestedAt: number;
  /** The API's number of records in the range. */
  total: number;
  /** True if the response breaks A1, A2 or A3. The range must then be read by page number. */
  isBroken: boolean;
  /** The dates of which the response has all records; null if it has only a part of a dense second. */
  coveredRange: Range | null;
  /** The number of records in `coveredRange`. */
  coveredCount: number;
  /** The oldest record's second, in milliseconds; the end of the range if there are no records. */
  oldest: number;
}

/**
 * Requests the newest records of a range. A full response covers only the dates after its oldest second, because the next
 * page may have more records of that second. Any other response covers the complete range.
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
  return { records, requestedAt, total, isBroken: fault !== null, coveredRange, coveredCount, oldest };
}

/** The result of reading a range. */
export interface RangeReading {
  /** The oldest instant that was read, in milliseconds. */
  reached: number;
  /** The number of mirrored records that changed. */
  addedOrChanged: number;
}

/**
 * Reads a range of dates into the mirror, newest first. Each response is written atomically, together with the coverage of
 * its dates and the mirrored records of these dates that it lacks: they become missing. If a response breaks A1, A2 or
 * A3, the rest of the range is read by page number.
 * @param remaining returns the number of remaining requests; the first request and dense seconds are exempt
 */
export async function readRange(
  run: DatedSync,
  range: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<RangeReading> {
  const batch = new WriteBatch(run);
  const request = (to: number) => {
    const response = requestNewest(run, { from: range.from, to });
    // Errors are thrown where the response is awaited.
    response.catch(() => {});
    return response;
  };
  let changed = 0;
  const continueByPage = async (to: number): Promise<RangeReading> => {
    const rest = await readByPage(run, { from: range.from, to }, remaining);
    return { ...rest, addedOrChanged: changed + rest.addedOrChanged };
  };
  let to = range.to;
  let coming: Promise<NewestRecords> | null = request(to);
  /** The last response, unless it was a part of a dense second. */
  let previous: NewestRecords | null = null;
  try {
    while (coming) {
      const response: NewestRecords = await coming;
      const { coveredRange, coveredCount, isBroken, oldest, total } = response;
      // The total of the remaining range follows from the previous response, unless that response lacked records.
      const isDoubtful = previous !== null && total !== previous.total - previous.coveredCount;
      if (isDoubtful || isBroken) batch.commit();
      if (previous?.coveredRange && isDoubtful && (await hidesRecords(run, previous.coveredRange, previous)))
        return await continueByPage(previous.coveredRange.to);
      if (isBroken) return await continueByPage(to);

      const from = coveredRange?.from ?? oldest;
      const requestNext = () => (from <= range.from || remaining() <= 0 ? null : request(from - 1));
      if (coveredRange) {
        // The API works on the next request while this response is written.
        coming = requestNext();
        const written = await batch.write({ ...response, coveredRange }, coming);
        changed += written.addedOrChanged;
        // The next response returns the records of the oldest second again, including their copies.
        const copies = written.copies.filter(({ value }) => (recordDate(run.resource, value) ?? 0) >= from);
        if (copies.length > 0) {
          batch.commit();
          changed += await resolveCopies(run, copies, response.requestedAt);
        }
        run.progress.advance(coming ? Math.ceil((total - coveredCount) / maxPerPage) : 0);
        previous = response;
      } else {
        batch.commit();
        const reading = await readSlice(run, { from, to });
        const written = writeSlice(run, reading);
        changed += written.changed + (await resolveCopies(run, written.copies, reading.list.requestedAt));
        coming = requestNext();
        previous = null;
      }
      to = from - 1;
    }
  } finally {
    batch.commit();
  }
  return { reached: to + 1, addedOrChanged: changed };
}

/**
 * True if a response lacked records of the dates that it covered. Its order was right only by coincidence (A1), or its
 * dates are less precise than those that the API filters by (A3). False if the total changed because records were added
 * or withdrawn between two requests.
 */
async function hidesRecords(
  run: DatedSync,
  coveredRange: Range,
  { coveredCount }: NewestRecords,
): Promise<boolean> {
  const repeated = await requestNewest(run, coveredRange);
  return repeated.isBroken || repeated.total > coveredCount;
}
