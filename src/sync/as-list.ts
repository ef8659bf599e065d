import { whyNotWhole } from "../api/list.js";
import { RequestRefused } from "../errors.js";
import type { Range } from "../lib/ranges.js";
import { addsUp, countItems } from "./counts.js";
import {
  beginningOf,
  Disorder,
  type FirstPage,
  learnResolution,
  marginOf,
  rangeQuery,
  type Seeking,
  type Slice,
} from "./first-page.js";
import { datedOf } from "./former.js";
import { mostPerPage } from "./run.js";
import { listOf } from "./whole.js";

/** Reads all that a query finds as a list, and claims a range by it. */
export async function* asList(seeking: Seeking, asked: Range, covers: Range): AsyncGenerator<Slice, void> {
  const { givenUp, range, recognise, run, signal } = seeking;
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, asked);
  const pages = listOf<unknown>({ api, resource, signal }, dates, recognise);
  const undated = new Set<string>();
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (;;) {
    const { value, done } = await pages.next();
    if (done) {
      const middle = Math.ceil((oldest + newest) / 2);
      const isDivisible = covers === range && middle - oldest >= marginOf(run);
      const counts = { total: value.total, undated: undated.size };
      if (!value.isWhole) givenUp(covers, whyNotWhole(value));
      else if (isDivisible && !(await addsUp({ api, resource, signal }, asked, middle, counts)))
        givenUp(covers, "has another number of records than its two halves");
      else yield { ...value, records: [], covers, isList: true, found: new Set(value.found) };
      return;
    }
    const { found, pagination, askedAt, records } = value;
    learnResolution(run, records);
    for (const record of records) {
      const dated = datedOf(resource, record);
      if (dated === null) undated.add(record.json);
      else [oldest, newest] = [Math.min(oldest, dated), Math.max(newest, dated)];
    }
    yield { records, askedAt, total: pagination.total_items, covers: null, isList: true, found };
  }
}

/** An end beyond all dates, and not beyond what computers know: with it, records without one do not count. */
const endOfTime = Date.UTC(2200, 0, 1);

/**
 * Records without a date count where no range is asked for. If they stand last, the newest answer does not show them:
 * then the last page has as many, and so many fewer there are with an end.
 * @throws Disorder where they are not what was not shown
 */
export async function readUndated(
  { range, recognise, run, signal }: Seeking,
  upper: FirstPage,
  expected: number,
): Promise<Slice> {
  const { api, resource } = run;
  const dates = rangeQuery(resource.strategy, { from: beginningOf(range), to: upper.to });
  const query = { ...resource.query, ...dates, page: upper.pages, per_page: mostPerPage };
  const answer = await api.get(resource.path, query, { scope: resource.scope, signal, recognise });
  const shown = new Set(upper.records.map(({ json }) => json));
  const records = (answer.items ?? []).filter(
    (record) => datedOf(resource, record) === null && !shown.has(record.json),
  );
  if (records.length !== expected) throw new Disorder();
  const withDates = { from: range.from, to: endOfTime };
  const dated = await countItems({ api, resource, signal }, withDates).catch((error: unknown) => {
    throw error instanceof RequestRefused ? new Disorder() : error;
  });
  if (upper.total - dated !== expected) throw new Disorder();
  const { askedAt } = answer;
  return { records, askedAt, total: upper.total, covers: null, isList: false, found: new Set() };
}
