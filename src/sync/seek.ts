import { firstPage } from "../api/index.js";
import type { Range } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import type { Dated, Json, Query } from "../resources/types.js";
import { checkDates } from "./dates.js";
import { type DatedRun, mostPerPage } from "./run.js";

/** The newest records of a range, at most a page. */
export interface Newest {
  records: readonly Json[];
  /** Milliseconds since 1970: when it was requested. */
  askedAt: number;
  /** The API's number of records in the range. */
  total: number;
  /** True if it breaks A1, A2 or A3: then the range has to be read by page number. */
  isBroken: boolean;
  /** The dates that the response shows completely. Null if it shows no second completely: a dense second. */
  covers: Range | null;
  /** How many of the records lie in these dates. */
  shown: number;
  /** The second of the oldest record, in milliseconds; the range's end if there is none. */
  oldest: number;
}

/**
 * Requests the newest records of a range. A response that is not full shows the complete range; a full one may cut the
 * second of its oldest record, and shows everything above it.
 */
export async function readNewest(run: DatedRun, range: Range): Promise<Newest> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: mostPerPage };
  const response = await api.get(resource.path, query, resource.scope);
  const { items: records, askedAt, pagination } = firstPage(resource.path, response);
  const { per_page, total_items } = pagination;
  const { fault, seconds } = checkDates(resource, records, range);
  const oldest = seconds.at(-1) ?? range.to;
  const isCut = records.length >= per_page || records.length < total_items;
  const from = isCut && records.length > 0 ? oldest + 1_000 : range.from;
  const covers = from <= range.to ? { from, to: range.to } : null;
  const shown = seconds.filter((second) => second >= from).length;
  return { records, askedAt, total: total_items, isBroken: fault !== null, covers, shown, oldest };
}

/**
 * Returns the query of a range of dates, as full timestamps. An inclusive end is sent with microseconds, because dates may
 * be as fine. Source: the API document, "4. GET /orders", "7. GET /content".
 */
export function rangeQuery({ end, from, until }: Dated, range: Range): Query {
  const last = (to: number) =>
    end === "exclusive" ? formatInstant(to + 1) : formatInstant(to).replace("Z", "999Z");
  return {
    [from]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [until]: Number.isFinite(range.to) ? last(range.to) : undefined,
  };
}
