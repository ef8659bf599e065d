import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import type { FakeRequest } from "../support/fake-api.js";
import { answerOnce, at, day, nights } from "../support/nights.js";

const readsRanking = ({ path }: FakeRequest) => path === "/analytics/hosts";

function hosts(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => ({
    host: { id: `h${n}`, username: null, first_name: null, last_name: null, profile_photo: null },
    clicks: 1,
    buy_now_clicks: 1,
    orders: 1,
    sales: count - n,
  }));
}

test("a ranking that a host leaves while it is read is read again, though its rows are as many as it counts", async () => {
  const brand = await nights({ hosts: hosts(250) });
  brand.once(
    ({ query }) => query.page === "2",
    () => {
      // Of a page already read: the first of the page to come is drawn onto it.
      brand.api.records.hosts = hosts(250).filter((_, place) => place !== 10);
    },
  );
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  const held = brand.sql<{ host_id: string }>("SELECT host_id FROM analytics_hosts ORDER BY position");
  expect(held.map(({ host_id }) => host_id)).toEqual(
    brand.api.records.hosts.map((row) => ((row as JsonObject).host as JsonObject).id),
  );
});

test.each([40, 250])("a host with two rows in a ranking of %i that stands still has both", async (count) => {
  const ranking = hosts(count);
  ranking[count - 1] = { ...ranking[count - 1], host: ranking[3]?.host ?? null };
  const brand = await nights({ hosts: ranking });
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  expect(brand.sql("SELECT 1 FROM analytics_hosts WHERE removed_at IS NULL")).toHaveLength(count);
  expect(brand.sql("SELECT 1 FROM analytics_hosts WHERE host_id = 'h3'")).toHaveLength(2);
});

test("a ranking that never stands still is not kept, and the run says so", async () => {
  const brand = await nights({ hosts: hosts(250) });
  let turns = 0;
  brand.api.before = () => {
    turns += 1;
    brand.api.records.hosts = hosts(250 - (turns % 2));
    return undefined;
  };
  const { failure, verified } = await brand.sync("analytics-hosts");
  expect(String(failure)).toContain("the ranking never stood still long enough to be read");
  expect(verified).toBe(false);
});

test("a row that an answer out of a cache lacks is not removed, one that a second lacks is", async () => {
  const brand = await nights({ hosts: hosts(30) });
  const records = { ...brand.api.records };
  brand.api.records.hosts = hosts(31);
  await brand.sync("analytics-hosts");
  brand.pass(day);
  const isCached = answerOnce(brand, readsRanking, { wrong: "stale", records });
  expect(await brand.sync("analytics-hosts")).toMatchObject({ verified: true, rows_removed: 0 });
  expect(isCached()).toBe(true);
  brand.api.records.hosts = hosts(30);
  expect(await brand.sync("analytics-hosts")).toMatchObject({ verified: true, rows_removed: 1 });
});

test("a host that an answer out of a cache lacks is not hidden by one that it still has", async () => {
  const brand = await nights({ hosts: hosts(31).filter((_, n) => n !== 3) });
  const records = { ...brand.api.records };
  brand.api.records.hosts = hosts(31).filter((_, n) => n !== 7);
  await brand.sync("analytics-hosts");
  brand.pass(day);
  const isCached = answerOnce(brand, readsRanking, { wrong: "stale", records });
  expect(await brand.sync("analytics-hosts")).toMatchObject({ verified: true });
  expect(isCached()).toBe(true);
  const held = brand.sql<{ host_id: string }>("SELECT host_id FROM analytics_hosts WHERE removed_at IS NULL");
  expect(held.map(({ host_id }) => host_id)).toContain("h3");
});

test("a row without a host that moves to a page to come does not hide the host that takes its place", async () => {
  const ranking = hosts(150);
  ranking[99] = { ...ranking[99], host: null };
  const brand = await nights({ hosts: ranking });
  brand.once(
    ({ query }) => query.page === "2",
    () => {
      // It has sold more than the row before it by now.
      brand.api.records.hosts = ranking.map((row, n) => (n === 100 ? { ...row, sales: 51.5 } : row));
    },
  );
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  expect(brand.sql("SELECT 1 FROM analytics_hosts WHERE host_id = 'h100'")).toHaveLength(1);
  expect(brand.sql("SELECT 1 FROM analytics_hosts WHERE host_id IS NULL")).toHaveLength(1);
});

test("two rows without a host that say the same on one page are two, in a ranking whose clicks never stand still", async () => {
  const ranking = hosts(150).map((row, n) =>
    n === 97 || n === 98 ? { ...row, host: null, sales: 52.5 } : row,
  );
  const brand = await nights({ hosts: ranking });
  let clicks = 0;
  brand.api.before = () => {
    clicks += 1;
    brand.api.records.hosts = ranking.map((row, n) => (n === 0 ? { ...row, clicks } : row));
    return undefined;
  };
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  expect(brand.sql("SELECT 1 FROM analytics_hosts WHERE host_id IS NULL")).toHaveLength(2);
});

test.each([
  [60, 29],
  [5, 0],
])(
  "a ranking of %i rows of which %i are left is not believed, unless somebody accepts it",
  async (before, left) => {
    const brand = await nights({ hosts: hosts(before) });
    await brand.sync("analytics-hosts");
    brand.pass(day);
    brand.api.records.hosts = hosts(left);
    const { failure, outcome } = await brand.sync("analytics-hosts");
    expect(failure).toMatchObject({
      message: `analytics-hosts: the API no longer returns ${before - left} of ${before} mirrored records: nothing was removed.`,
      hint: expect.stringContaining("`--accept-removals`"),
    });
    expect(outcome).toBe("incomplete");
    const present = () => brand.sql("SELECT 1 FROM analytics_hosts WHERE removed_at IS NULL").length;
    expect([present(), brand.sql("SELECT 1 FROM analytics_hosts_days").length]).toEqual([before, 1]);
    expect(await brand.sync("analytics-hosts", { acceptRemovals: true })).toMatchObject({ failure: null });
    expect(present()).toBe(left);
  },
);

test("a ranking of other hosts altogether, or of none from the first, is believed", async () => {
  const brand = await nights();
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  brand.api.records.hosts = hosts(30);
  await brand.sync("analytics-hosts");
  brand.api.records.hosts = hosts(60).slice(30);
  expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
});

test("a host that left the ranking is not in it as of a later time, and its return is no day's clicks", async () => {
  const brand = await nights();
  const then: string[] = [];
  for (const clicks of [4, 0, 0, 6]) {
    brand.api.records.hosts = hosts(2)
      .map((row) => ({ ...row, clicks }))
      .slice(clicks > 0 ? 0 : 1);
    await brand.sync("analytics-hosts");
    then.push(at(brand.now()));
    brand.pass(day);
  }
  const clicks = async (time: string) => {
    const { out } = await brand.run(`export hosts --json --as-of ${time} --columns id,clicks`);
    return (JSON.parse(out) as JsonObject[]).map((row) => `${row.id} ${row.clicks}`);
  };
  expect(await Promise.all(then.map(clicks))).toEqual([
    ["h0 4", "h1 4"],
    ["h1 0"],
    ["h1 0"],
    ["h0 6", "h1 6"],
  ]);
  expect(brand.sql("SELECT date, clicks FROM analytics_hosts_daily WHERE host_id = 'h0'")).toEqual([
    { date: at(brand.now() - day).slice(0, 10), clicks: 2 },
  ]);
  expect(brand.sql("SELECT 1 FROM analytics_hosts_snapshots WHERE host_id = 'h0'")).toHaveLength(3);
});

test("a day that was read, and others after it, keeps its ranking when a clock is set back", async () => {
  const brand = await nights();
  const sync = async (clicks: number) => {
    brand.api.records.hosts = hosts(1).map((row) => ({ ...row, clicks }));
    expect(await brand.sync("analytics-hosts")).toMatchObject({ failure: null, verified: true });
  };
  const snapshots = () => brand.sql<JsonObject>("SELECT * FROM analytics_hosts_snapshots");
  await sync(1);
  brand.pass(day);
  await sync(1);
  const before = snapshots();
  brand.pass(-day);
  await sync(2);
  expect(snapshots()).toEqual(before);
  expect(brand.sql("SELECT clicks FROM analytics_hosts")).toEqual([{ clicks: 2 }]);
  brand.pass(2 * day);
  await sync(2);
  expect(snapshots().map(({ clicks }) => clicks)).toEqual([1, 2]);
});
