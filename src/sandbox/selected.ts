import type { Brand } from "./brand.js";
import { inRange, type Range, shownDate } from "./dated.js";
import type { Doubts } from "./doubts.js";
import type { Asked } from "./endpoint.js";
import type { Paging } from "./parameters.js";
import { pageOf, type Reply } from "./reply.js";

const always: Range = { from: null, to: null };

/** What a request asks of a list. */
export interface Selection<T> {
  records(brand: Brand): readonly T[];
  /** The member that dates a record; null: the list promises no order. */
  dated: keyof T | null;
  range?: Range;
  keep?(record: T): boolean;
  /** Names what `keep` keeps. */
  filter?: string;
  isOldestFirst?: boolean;
  /** Gives a record the form in which the list serves it. */
  shape?(record: T): object;
}

/** Returns the page of a list that is asked for; totals can be those of the brand as it was. */
export function selected<T extends object>(
  { brand, query, doubts, now }: Asked<Paging>,
  { records, dated, range = always, keep = () => true, filter = "", ...form }: Selection<T>,
): Reply {
  const dateOf = (record: T) => (dated === null ? null : record[dated]);
  const list = (from: Brand) => inRange(records(from), dateOf, range, doubts, now, filter, keep);
  const found = form.isOldestFirst ? list(brand).toReversed() : list(brand);
  const total = doubts.totalsOf ? list(doubts.totalsOf).length : found.length;
  const shown = (record: T) => withShownDate(record, dated, doubts);
  return pageOf(found, query, doubts, total, form.shape ?? shown);
}

function withShownDate<T extends object>(record: T, dated: keyof T | null, { shows }: Doubts): object {
  const date = dated === null ? null : record[dated];
  if (shows === "everything" || dated === null || typeof date !== "string") return record;
  return { ...record, [dated]: shownDate(date, shows) };
}
