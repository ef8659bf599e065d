import { firstPage } from "../api/pagination.js";
import type { DatedStrategy } from "../resources/resource.js";
import { recordDate } from "../store/records.js";
import type { Json, QueryParameters } from "../util/json-value.js";
import type { Range } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { readByPage, readSlice, resolveCopies } from "./by-page.js";
import { checkDates } from "./dates.js";
import { type DatedRun, maxPerPage, reportProgress } from "./session.js";
import { WriteBatch } from "./write.js";

/** The newest records of a range, at most a page. */
export interface NewestRecords {
  records: readonly Json[];
  /** Milliseconds since 1970: when it was requested. */
  requestedAt: number;
  /** The API's number of records in the range. */
  total: number;
  /** True if it breaks A1, A2 or A3: then the range has to be read by page number. */
  isBroken: boolean;
  /** The dates that the response shows completely. Null if it shows no second completely: a dense second. */
  coveredRange: Range | null;
  /** How many of the records lie in these dates. */
  coveredCount: number;
  /** The second of the oldest record, in milliseconds; the range's end if there is none. */
  oldest: number;
}

/**
 * Requests the newest records of a range. A response that is not full shows the complete range; a full one may cut the
 * second of its oldest record, and shows everything above it.
 */
export async function readNewest(run: DatedRun, range: Range): Promise<NewestRecords> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: maxPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, requestedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items } = pagination;
  const { fault, seconds } = checkDates(resource, records, range);
  const oldest = seconds.at(-1) ?? range.to;
  const isCut = records.length >= per_page || records.length < total_items;
  const from = isCut && records.length > 0 ? oldest + 1_000 : range.from;
  const coveredRange = from <= range.to ? { from, to: range.to } : null;
  const coveredCount = seconds.filter((second) => second >= from).length;
  return {
    records,
    requestedAt,
    total: total_items,
    isBroken: fault !== null,
    coveredRange,
    coveredCount,
    oldest,
  };
}

/**
 * Returns the query of a range of dates, as full timestamps. An inclusive end is sent with microseconds, because dates may
 * be as fine. Source: the API document, "4. GET /orders", "7. GET /content".
 */
export function rangeQuery({ end, from, until }: DatedStrategy, range: Range): QueryParameters {
  const last = (to: number) =>
    end === "exclusive" ? formatInstant(to + 1) : formatInstant(to).replace("Z", "999Z");
  return {
    [from]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [until]: Number.isFinite(range.to) ? last(range.to) : undefined,
  };
}

/**
 * Reads a range of dates into the mirror, newest first, response by response. Each response's records are written, its
 * dates covered, and the mirrored records that it should have shown and did not are noted as missing, all or nothing. The
 * next request is on its way while a response is written. A response that breaks A1, A2 or A3 ends this: the rest of the
 * range is read by page number.
 * @param left requests that may still be spent; the first one, and a dense second, are read in any case
 * @returns the oldest instant that was read
 */
export async function readRange(
  run: DatedRun,
  range: Range,
  left = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  const batch = new WriteBatch(run);
  const request = (to: number) => {
    const response = readNewest(run, { from: range.from, to });
    // A failure is thrown where the response is awaited.
    response.catch(() => {});
    return response;
  };
  let to = range.to;
  let coming: Promise<NewestRecords> | null = request(to);
  let previous: NewestRecords | null = null;
  /** The records of the last response's oldest second, which the next response is to show again. */
  let cut: readonly number[] = [];
  try {
    while (coming) {
      const response: NewestRecords = await coming;
      const { coveredRange, isBroken, oldest, coveredCount, total } = response;
      // Another number of records is left than the last response has announced.
      const doubted =
        previous?.coveredRange && total !== previous.total - previous.coveredCount ? previous : null;
      if (doubted || isBroken) batch.commit();
      if (doubted?.coveredRange && (await hidesRecords(run, doubted.coveredRange, doubted.coveredCount)))
        return await readByPage(run, { from: range.from, to: doubted.coveredRange.to }, left);
      if (isBroken) return await readByPage(run, { from: range.from, to }, left);
      const from = coveredRange?.from ?? oldest;
      const requestNext = () => (from <= range.from || left() <= 0 ? null : request(from - 1));
      if (coveredRange) {
        const next = requestNext();
        const { copies, ids } = await batch.write(response, coveredRange, next);
        const settled = copies.filter(({ value }) => (recordDate(run.resource, value) ?? 0) >= from);
        if (settled.length > 0) {
          batch.commit();
          await resolveCopies(run, settled, response.requestedAt);
        }
        const withdrawn = cut.filter((id) => !ids.includes(id)).length;
        cut = ids.slice(coveredCount - settled.length);
        reportProgress(
          run,
          coveredCount + withdrawn,
          next ? Math.ceil((total - coveredCount) / maxPerPage) : 0,
        );
        coming = next;
        previous = response;
      } else {
        batch.commit();
        await readSlice(run, { from, to });
        cut = [];
        previous = null;
        coming = requestNext();
      }
      to = from - 1;
    }
  } finally {
    batch.commit();
  }
  run.row.rows_read += cut.length;
  return to + 1;
}

/**
 * True if a response did not show all records of the dates that it covers, although another number of records than expected
 * is left below them: it was in order by chance (A1), or its dates are coarser than those that the API filters by (A3).
 * Otherwise records have come or left meanwhile.
 */
async function hidesRecords(run: DatedRun, covers: Range, shown: number): Promise<boolean> {
  const again = await readNewest(run, covers);
  return again.isBroken || again.total > shown;
}
