import { expect, test } from "vitest";
import { readRange } from "../../src/sync/read-range.js";
import { reconcile } from "../../src/sync/reconcile.js";
import { startOfDay } from "../../src/util/time-ranges.js";
import { makeMirror } from "../support/mirror.js";
import { day, hour, noon } from "../support/records.js";
import { type ListedOrder, listedAt, makeDatedRun } from "./dated-run.js";

const from = startOfDay(noon) - 100 * day;
const history = { from: Number.NEGATIVE_INFINITY, to: noon - 1 };
type Options = NonNullable<Parameters<typeof makeDatedRun>[1]>;
type Respond = NonNullable<Options["respond"]>;

/** Returns orders that are an hour apart, newest first. */
const makeOrders = (count: number, fields = {}): ListedOrder[] =>
  Array.from({ length: count }, (_, n) => listedAt(`o${n}`, from + n * hour, fields)).reverse();

/** Syncs the `before` orders, and then creates a run with an API that returns the `after` orders. */
async function makeReadRun(
  before: readonly ListedOrder[],
  after: readonly ListedOrder[],
  options: Options = {},
) {
  const mirror = await makeMirror();
  const { run: first } = await makeDatedRun(before, { mirror });
  await readRange(first, history);
  mirror.transaction(() => first.state.saveFloor(Number.NEGATIVE_INFINITY));
  return await makeDatedRun(after, { ...options, mirror });
}

const isCount = ({ per_page }: { per_page?: unknown }) => per_page === 1;
const texts = ({ incompleteReasons }: Awaited<ReturnType<typeof reconcile>>) =>
  incompleteReasons.map(({ text }) => text);

test("reconcile sends only four requests for counts if all counts agree", async () => {
  const { requests, run } = await makeReadRun(makeOrders(5), makeOrders(5));
  const result = await reconcile(run, null);
  expect([texts(result), requests.length, requests.every(isCount)]).toEqual([[], 4, true]);
  expect(result).toMatchObject({ hasUnreachable: false, ignoresAmounts: false });
});

test("reconcile bisects a date range with a count mismatch until the part with the mismatch can be read with two requests", async () => {
  const listed = makeOrders(600);
  const { requests, run } = await makeReadRun(listed, listed.slice(0, -1));
  expect(texts(await reconcile(run, null))).toEqual([]);
  expect(run.state.missing.load()).toMatchObject([{ date: from }]);
  // Bisecting a range of 600 orders twice leaves 150 orders, which fit on two pages.
  expect(requests.filter((query) => !isCount(query))).toHaveLength(2);
});

test.each([
  ["the range", false],
  ["the range's newer half", true],
])(
  "reconcile re-reads the entire range if the newest record in %s has an unreadable date",
  async (_, isHalf) => {
    const listed = makeOrders(600);
    const odd = { at: noon, record: { id: "odd", order_date: "soon" } };
    const respond: Respond = (matching, query) =>
      isCount(query) && !query.status && (query.start_date !== undefined) === isHalf
        ? [odd, ...matching.slice(1)]
        : matching;
    const { run } = await makeReadRun(listed, listed.slice(0, -1), { respond });
    await reconcile(run, null);
    const { coverage } = run.state.loadDates();
    expect(coverage.every(({ runId }) => runId === run.runId)).toBe(true);
  },
);

test("reconcile bisects a date range for which the API counts many records, even if the mirror contains only a few", async () => {
  const [newest, ...others] = makeOrders(300);
  const oldest = others.slice(-9);
  const { requests, run } = await makeReadRun(
    [newest, ...oldest] as ListedOrder[],
    [newest, ...others] as ListedOrder[],
  );
  expect(texts(await reconcile(run, null))).toEqual([]);
  expect(run.state.count(history)).toBe(300);
  expect(requests[3]).toMatchObject({ per_page: 1, start_date: new Date(from + 5 * hour).toISOString() });
});

/** Hides the newest order from all lists, but not from the counts. */
const hideNewest: Respond = (matching, query) => (isCount(query) ? matching : matching.slice(1));

test("if a date range's count still differs after each read, reconcile re-reads the range at most four times", async () => {
  const { requests, run } = await makeReadRun(makeOrders(4), makeOrders(5), { respond: hideNewest });
  expect(texts(await reconcile(run, null))).toEqual(["the API counts 5 orders, but the mirror has 4"]);
  expect(requests.filter((query) => !isCount(query))).toHaveLength(4);
});

test("reconcile re-reads nothing if count requests have used up the request budget", async () => {
  const { requests, run } = await makeReadRun(makeOrders(4), makeOrders(5), {
    options: { rereadRequests: 3 },
  });
  expect(texts(await reconcile(run, null))).toEqual(["the API counts 5 orders, but the mirror has 4"]);
  expect([requests.length, requests.every(isCount)]).toEqual([3, true]);
});

test("reconcile stops re-reading when the request budget is used up, even if other counts differ", async () => {
  const [newest, ...others] = makeOrders(5, { is_refunded: true });
  const after = [newest, ...others] as ListedOrder[];
  const { requests, run } = await makeReadRun(others, after, {
    options: { rereadRequests: 4 },
    respond: hideNewest,
  });
  expect(texts(await reconcile(run, null))).toEqual([
    "the API counts 5 orders, but the mirror has 4",
    "the API counts 5 refunded, but the mirror has 4",
  ]);
  expect(requests.filter((query) => !isCount(query))).toHaveLength(1);
});

test("if the response to a count request contains a record with an unexpected date, reconcile reports that date", async () => {
  const odd = { at: from, record: { id: "odd", order_date: "soon" } };
  const respond: Respond = (matching, query) =>
    isCount(query) && !query.status ? [odd, ...matching.slice(1)] : matching;
  const { run } = await makeReadRun(makeOrders(5), makeOrders(5), { respond });
  expect(texts(await reconcile(run, null))[0]).toBe(
    'the API counts orders with unexpected dates in everything until 2026-11-21 11:59: `order_date` "soon" is not a readable date',
  );
});

/** Returns the given number as the count of refunded orders. */
const countRefunded =
  (count: () => number): Respond =>
  (matching, { status }) =>
    status === "refunded" ? makeOrders(count()) : matching;

test("reconcile stops comparing the count of a status filter if it still differs after the range has been re-read", async () => {
  const { requests, run } = await makeReadRun(makeOrders(5), makeOrders(5), {
    respond: countRefunded(() => 2),
  });
  expect(texts(await reconcile(run, null))).toEqual([
    expect.stringContaining("the API's status filter `refunded` does not match"),
  ]);
  expect([...run.state.loadIgnoredFilters()]).toEqual(["refunded"]);
  expect(requests.filter((query) => !isCount(query))).toHaveLength(1);
});

test("if a run fails after it has found a wrong status filter, the next run reports the filter", async () => {
  let comparisons = 0;
  const countTwo = countRefunded(() => 2);
  const { requests, run } = await makeReadRun(makeOrders(5), makeOrders(5), {
    respond: (matching, query) => {
      if (isCount(query) && !query.status && ++comparisons === 2) throw new Error("the API is down");
      return countTwo(matching, query);
    },
  });
  await expect(reconcile(run, null)).rejects.toThrow("the API is down");
  expect(requests.filter(({ status }) => status === "refunded")).toHaveLength(2);
  expect(texts(await reconcile(run, null))).toEqual([
    expect.stringContaining("the API's status filter `refunded` does not match"),
  ]);
});

test("if one part of a date range shows that a status filter is wrong, reconcile does not re-read the other parts", async () => {
  const listed = makeOrders(600);
  const countAll: Respond = (matching, { start_date, status }) =>
    status === "refunded"
      ? listed.filter(({ at }) => !start_date || at >= Date.parse(`${start_date}`))
      : matching;
  const { requests, run } = await makeReadRun(listed, listed, { respond: countAll });
  expect(texts(await reconcile(run, null))).toHaveLength(1);
  expect(requests.filter((query) => !isCount(query))).toHaveLength(2);
});

test("reconcile continues to compare the count of a status filter if that count changes while the range is re-read", async () => {
  let count = 0;
  const respond = countRefunded(() => {
    count = (count % 3) + 1;
    return count;
  });
  const { run } = await makeReadRun(makeOrders(5), makeOrders(5), { respond });
  expect(texts(await reconcile(run, null))).toEqual([
    expect.stringMatching(/^the API counts \d refunded, but the mirror has 0$/),
  ]);
  expect([...run.state.loadIgnoredFilters()]).toEqual([]);
});

test("reconcile warns if the API counts more records in total than in all date ranges combined", async () => {
  const respond: Respond = (matching, { end_date, start_date }) =>
    start_date === undefined && end_date === undefined ? [...matching, ...makeOrders(2)] : matching;
  const { run, warnings } = await makeReadRun(makeOrders(5), makeOrders(5), { respond });
  const result = await reconcile(run, null);
  expect([texts(result), result.hasUnreachable]).toEqual([[], true]);
  expect(warnings).toEqual([expect.stringContaining("the API counts 2 more records without a date range")]);
  run.mirror.transaction(() =>
    run.state.applyReading({
      runId: 1,
      range: { from: noon - day, to: noon - 1 },
      requestedAt: noon,
      isComplete: false,
      ids: [],
      faulty: { ids: [], addedIds: [], fault: "a fault" },
    }),
  );
  expect((await reconcile(run, null)).hasUnreachable).toBe(false);
});

test("reconcile does not report a record as unreachable by date if the record was added after the API's first count", async () => {
  let hasNew = false;
  const respond: Respond = (matching, { end_date, start_date, status }) => {
    hasNew ||= start_date === undefined && end_date === undefined;
    return hasNew && start_date === undefined && !status ? [...matching, listedAt("new", from)] : matching;
  };
  const { run, warnings } = await makeReadRun(makeOrders(5), makeOrders(5), { respond });
  const result = await reconcile(run, null);
  expect([texts(result), result.hasUnreachable, warnings]).toEqual([
    ["the API counts 6 orders, but the mirror has 5"],
    false,
    [],
  ]);
});
