import { describe, expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { orders } from "../../src/resources/orders.js";
import { syncResource } from "../../src/sync/engine.js";
import { order } from "../mirror/mirror.js";
import { accessTo, list, listed, mirrored, start } from "./access.js";
import { type ListApi, listApi } from "./list-api.js";

const hour = 3_600_000;

/** One order leaves and another comes, at one moment: places are counted from the newest. */
function swap(api: ListApi, leaves: number, comes: number): void {
  const newest = [...api.rows].reverse();
  const at = Date.parse(String(newest[comes]?.order_date)) - 1;
  api.rows = api.rows.filter(({ id }) => id !== newest[leaves]?.id);
  api.rows.push(order("came", { order_date: new Date(at).toISOString(), total_amount: 77 }));
}

/** Lets something happen once, before a page is answered. */
function beforePage(api: ListApi, page: number, happen: () => void): void {
  let done = false;
  api.before = (query) => {
    if (done || query.per_page === 1 || query.page !== page) return;
    done = true;
    happen();
  };
}

describe.each([
  ["with figures by day", true],
  ["without", false],
])("one order leaves a page already read while another comes, and the count stays: %s", (_, figures) => {
  test.each([
    ["behind the reader, page 1", 2, 1, 3],
    ["behind the reader, another page", 3, 6, 2],
    ["behind the reader, both on page 2", 3, 5, 7],
    ["before the reader, who then misses a third", 2, 1, 9],
    ["before the reader, on the last page", 3, 6, 11],
  ])("%s", async (_where, page, leaves, comes) => {
    const api = listApi(list(12, 1, 5 * hour));
    api.figures = figures;
    const access = await accessTo(api, { pageSize: 4 });
    beforePage(api, page, () => swap(api, leaves, comes));
    const { run, error } = await syncResource(access, orders);
    expect(error).toBeNull();
    expect(run.verified).toBe(true);
    expect(mirrored(access)).toEqual(listed(api));
  });

  test("a read of many pages that nothing disturbs costs at most a few requests more", async () => {
    const api = listApi(list(400, 1, 5 * hour));
    api.figures = figures;
    const access = await accessTo(api, { pageSize: 4 });
    const { run } = await syncResource(access, orders);
    expect(run.requests).toBeLessThanOrEqual(100 + (figures ? 4 : 6));
  });
});

test("in a long read, days apart: the figures by day show it", async () => {
  const api = listApi(list(400, 1, 5 * hour));
  api.figures = true;
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 40, () => swap(api, 60, 120));
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

test("in a long read without figures, on two sides of a page that is looked at: the count below it shows it", async () => {
  const api = listApi(list(400, 1, 5 * hour));
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 95, () => swap(api, 10, 370));
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

test.each([
  ["the first page", 2, 20],
  ["a page in the middle", 81, 100],
])(
  "in a long read without figures, from a page that is looked at (%s) to one that is not: it is found",
  async (_, leaves, comes) => {
    const api = listApi(list(400, 1, 5 * hour));
    const access = await accessTo(api, { pageSize: 4 });
    beforePage(api, 50, () => swap(api, leaves, comes));
    expect((await syncResource(access, orders)).error).toBeNull();
    expect(mirrored(access)).toEqual(listed(api));
  },
);

test("a first read of a few pages does not trust figures that never move", async () => {
  const api = listApi(list(12, 1, 5 * hour));
  const real = api.get;
  const figures = list(12, 1, 5 * hour).map((row) => ({
    date: String(row.order_date).slice(0, 10),
    orders: 1,
  }));
  api.get = async (path, query, options) => {
    if (path === "/orders") return await real(path, query, options);
    return { ...(await real("/orders", { page: 1 }, options)), data: { timeseries: figures } };
  };
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 3, () => swap(api, 5, 7));
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

test.each([
  ["with figures by day", true],
  ["without", false],
])(
  "an API that puts fewer records on a page than it is asked for is looked at page by page: %s",
  async (_, figures) => {
    const api = listApi(list(40, 1, 5 * hour));
    api.figures = figures;
    const real = api.get;
    api.get = (path, query = {}, options) =>
      real(path, { ...query, per_page: Math.min(Number(query.per_page), 10) }, options);
    const access = await accessTo(api);
    beforePage(api, 3, () => swap(api, 13, 16));
    expect((await syncResource(access, orders)).error).toBeNull();
    expect(mirrored(access)).toEqual(listed(api));
  },
);

test("nothing older than was asked for comes along", async () => {
  const api = listApi(list(12, 1, 5 * hour));
  const access = await accessTo(api, { since: start + 50 * hour });
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(["o10", "o11"]);
});

describe("a read is stopped, and behind the place where it stood one order leaves while another comes", () => {
  test.each([
    ["with figures by day", true],
    ["without", false],
  ])("%s: the run that goes on with it finds both", async (_, figures) => {
    const api = listApi(list(24, 1, 5 * hour));
    api.figures = figures;
    const access = await accessTo(api, { pageSize: 4 });
    beforePage(api, 5, () => {
      throw new Stopped("SIGINT");
    });
    await expect(syncResource(access, orders)).rejects.toThrow(Stopped);
    swap(api, 6, 2);
    api.before = undefined;
    api.asked = [];
    const { run, error } = await syncResource(access, orders);
    expect(error).toBeNull();
    expect(run.verified).toBe(true);
    expect(mirrored(access)).toEqual(listed(api));
    // It did not start over.
    expect(api.asked.filter((query) => query.page === 2 && query.start_date === undefined)).toEqual([]);
  });
});

test("a read that was stopped begins anew where its last page holds other orders than it did", async () => {
  const api = listApi(list(400, 1, 5 * hour));
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 51, () => {
    throw new Stopped("SIGINT");
  });
  await expect(syncResource(access, orders)).rejects.toThrow(Stopped);
  // The count stays, and no page that is looked at later lies between the two.
  swap(api, 198, 190);
  api.before = undefined;
  const { run, error } = await syncResource(access, orders);
  expect(error).toBeNull();
  expect(run.verified).toBe(true);
  expect(mirrored(access)).toEqual(listed(api));
});

test("a run that is stopped before it looked again leaves that to the next one", async () => {
  const api = listApi(list(24, 1, 5 * hour));
  api.figures = true;
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 5, () => swap(api, 6, 2));
  const disturb = api.before;
  api.before = (query) => {
    disturb?.(query);
    if (query.per_page === 1) throw new Stopped("SIGINT");
  };
  await expect(syncResource(access, orders)).rejects.toThrow(Stopped);
  api.before = undefined;
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

test("figures that were not there before the stop prove nothing of what lay behind it", async () => {
  const api = listApi(list(24, 1, 5 * hour));
  const access = await accessTo(api, { pageSize: 4 });
  beforePage(api, 5, () => {
    throw new Stopped("SIGINT");
  });
  await expect(syncResource(access, orders)).rejects.toThrow(Stopped);
  swap(api, 6, 5);
  api.before = undefined;
  api.figures = true;
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(mirrored(access)).toEqual(listed(api));
});

test("a record that slipped past the reader is looked for once more, and is not removed", async () => {
  const api = listApi(list(400, 1, 5 * hour));
  const access = await accessTo(api, { pageSize: 4 });
  await syncResource(access, orders);
  // Between two pages that are looked at again, and where no figures tell: the count stays as it was.
  const slips = String([...api.rows].reverse()[120]?.id);
  beforePage(api, 31, () => swap(api, 100, 139));
  await syncResource({ ...access, options: { ...access.options, full: true } }, orders);
  expect(mirrored(access)).toContain(slips);
  // Then there is one more than the API counts: the one that left.
  expect(mirrored(access)).toEqual(listed(api));
});

test("what is missed while a differing count is read again is looked for before it is removed", async () => {
  const api = listApi(list(24, 1, 5 * hour));
  const access = await accessTo(api, { pageSize: 4 });
  expect((await syncResource(access, orders)).error).toBeNull();
  // One has gone; while it is looked for, another comes; and the read that this asks for misses a third.
  api.rows = api.rows.filter(({ id }) => id !== "o5");
  let step = "look";
  api.before = ({ start_date, end_date, page, per_page }) => {
    const width = Date.parse(String(end_date)) - Date.parse(String(start_date));
    if (step === "look" && width < 10_000) {
      api.rows = [...api.rows, order("late", { order_date: "2026-01-02T12:00:00.000Z" })];
      step = "read";
    } else if (step === "read" && per_page !== 1 && page === 2 && !(width < 10_000)) {
      swap(api, 1, 12);
      step = "done";
    }
  };
  expect((await syncResource(access, orders)).error).toBeNull();
  expect(step).toBe("done");
  expect(mirrored(access)).toEqual(listed(api));
});
