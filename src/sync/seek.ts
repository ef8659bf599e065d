import { firstPage } from "../api/index.js";
import { UnexpectedAnswer } from "../errors.js";
import { type Range, startOfSecond } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import { readTimestamp } from "../lib/timestamp.js";
import { valueAt } from "../records/index.js";
import type { Dated, Json, Query } from "../resources/types.js";
import { type DatedRun, mostPerPage } from "./run.js";

/** The newest records of a range, at most a page. */
export interface Newest {
  records: readonly Json[];
  /** Milliseconds since 1970: when it was asked for. */
  askedAt: number;
  /** The API's number of records in the range. */
  total: number;
  /** The dates that the answer shows completely. Null if it shows no second completely: a crowd. */
  covers: Range | null;
  /** How many of the records lie in these dates. */
  shown: number;
  /** The second of the oldest record, in milliseconds; the range's end if there is none. */
  oldest: number;
}

/**
 * Asks for the newest records of a range. An answer that is not full shows the whole range; a full one may cut the
 * second of its oldest record, and shows everything above it.
 * @throws UnexpectedAnswer if the answer breaks A1, A2 or A3
 */
export async function askNewest(run: DatedRun, range: Range): Promise<Newest> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, range);
  const query = { ...resource.query, ...dates, page: 1, per_page: mostPerPage };
  const answer = await api.get(resource.path, query, resource.scope);
  const { items: records, askedAt, pagination } = firstPage(resource.path, answer);
  const { per_page, total_items } = pagination;
  const seconds = checkDates(run, records, range);
  const oldest = seconds.at(-1) ?? range.to;
  const isCut = records.length >= per_page || records.length < total_items;
  const from = isCut && records.length > 0 ? oldest + 1_000 : range.from;
  const covers = from <= range.to ? { from, to: range.to } : null;
  const shown = seconds.filter((second) => second >= from).length;
  return { records, askedAt, total: total_items, covers, shown, oldest };
}

/**
 * Checks the dates of an answer, at whole seconds. A1: newest first. A2: each record has a timestamp with seconds.
 * A3: each lies within the dates that were asked for.
 * @returns each record's second, in milliseconds
 * @throws UnexpectedAnswer
 */
export function checkDates({ resource }: DatedRun, records: readonly Json[], range: Range): number[] {
  let newest = Number.POSITIVE_INFINITY;
  const { path, strategy } = resource;
  return records.map((record) => {
    const text = valueAt(record, [strategy.date]);
    const timestamp = typeof text === "string" ? readTimestamp(text) : undefined;
    if (!timestamp?.hasSeconds)
      throw broken(path, `shows ${shown(text)} as \`${strategy.date}\`, which is no timestamp with seconds`);
    const second = startOfSecond(timestamp.ms);
    if (second > newest)
      throw broken(path, `is not newest first: ${shown(text)} stands below an older record`);
    if (second < range.from || second > range.to)
      throw broken(path, `shows a record of ${shown(text)}, outside the dates that were asked for`);
    newest = second;
    return second;
  });
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

function broken(path: string, what: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`The API's answer to ${path} ${what}.`, {
    status: 200,
    hint: "nothing of this answer was kept; the page on syncing says what is assumed of the API",
  });
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : `\`${JSON.stringify(value).slice(0, 60)}\``;
}
