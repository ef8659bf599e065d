import { describe, expect, test } from "vitest";
import { counts, makeBrand, readsOrders, type TestBrand } from "../support/brand.js";
import { at, day, fileAt, hour, minute, noon, orderAt, ordersBefore } from "../support/records.js";

const orders = ordersBefore(noon - hour, 250, 5 * hour);
const ids = (brand: TestBrand) => brand.data.orders.map(({ id }) => id).sort();

async function synced(brand: TestBrand, command = "sync orders") {
  const { requests, code, err } = await brand.run(command);
  return { requests, code, err, verified: brand.lastRun().verified };
}

async function runNextDay(brand: TestBrand, command = "sync orders") {
  brand.pass(day);
  return await synced(brand, command);
}

/** Replaces the dates of the given orders in all responses, regardless of the requested date range. */
function showDates(brand: TestBrand, dates: Record<string, string | null>): void {
  brand.before = ({ path }) =>
    path !== "/orders"
      ? undefined
      : {
          envelope: (one) => ({
            ...one,
            data: (one.data as { id: string }[]).map((order) =>
              order.id in dates ? { ...order, order_date: dates[order.id] } : order,
            ),
          }),
        };
}

describe("orders that are not sorted newest first", () => {
  const byId = [...orders].sort((a, b) => (a.id < b.id ? -1 : 1));

  test.each(["id", "attribution"] as const)(
    "sync reads and verifies orders that are sorted by %s",
    async (order) => {
      const brand = makeBrand({ orders: byId, variants: { order } });
      expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
      expect(brand.mirrored()).toEqual(ids(brand));
      brand.refund("o3", 5);
      brand.withdraw("o7", "o240");
      brand.add("orders", orderAt("late", noon - 30 * day));
      expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 1 });
      expect(brand.mirrored()).toEqual(ids(brand));
      expect(brand.sql("SELECT refund_amount AS amount FROM orders WHERE id = 'o3'")).toEqual([
        { amount: 5 },
      ]);
      expect(brand.lastRun()).toMatchObject({ rows_new: 1, rows_changed: 1, rows_removed: 2 });
    },
  );

  test("if a wrong count reveals that a stored page was unsorted, sync re-reads the page's orders, but counts each order only once", async () => {
    const isLate = (n: number) => n < 100 && n % 5 === 3;
    const late = orders.filter((_, n) => isLate(n));
    const others = orders.filter((_, n) => !isLate(n));
    const brand = makeBrand({ orders: [...others, ...late], variants: { order: "attribution" } });
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.lastRun()).toMatchObject({ rows_read: 250, rows_new: 250 });
  });

  test("sync reads unsorted orders in date ranges of at most 2,000 orders", async () => {
    const many = ordersBefore(noon - hour, 5_000, 2 * hour);
    const brand = makeBrand({ orders: [...many].reverse(), variants: { order: "attribution" } });
    const { requests, code, verified } = await synced(brand);
    expect([code, verified, brand.mirrored().length]).toEqual([0, 1, 5_000]);
    const pages = requests.filter(readsOrders).map(({ query }) => Number(query.page));
    expect(Math.max(...pages)).toBeLessThanOrEqual(20);
    expect(pages.length).toBeLessThan(60);
    expect(requests.filter(counts).length).toBeLessThan(30);
  });

  test("sync reads the orders as a single list if the API ignores date filters", async () => {
    const many = ordersBefore(noon - hour, 2_500, 2 * hour);
    const brand = makeBrand({ orders: [...many].reverse(), variants: { order: "attribution" } });
    const withoutDates: typeof brand.fetch = async (url, options) => {
      const bare = new URL(url);
      for (const name of ["start_date", "end_date"]) bare.searchParams.delete(name);
      return await brand.fetch(bare, options);
    };
    const { requests, code } = await brand.run("sync orders", { fetch: withoutDates });
    expect([code, brand.mirrored().length]).toEqual([0, 2_500]);
    expect(requests.filter(readsOrders).length).toBeLessThan(40);
  });
});

describe("orders with an imprecise date", () => {
  test("sync verifies orders whose dates are valid but have no seconds", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("coarse", "2026-11-20T11:00Z")] });
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.mirrored()).toEqual(ids(brand));
    expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 1 });
  });
});

describe("orders whose dates the API truncates", () => {
  const newest = noon - hour + 25_000;
  const oldestOnPage = newest - 99 * 20 * minute;

  test.each([
    ["minute", "minute", "minutes", minute],
    ["day", "day", "midnight", day],
  ] as const)(
    "if the API truncates dates to the %s, an interrupted sync does not mark the %s of its last order as completely read",
    async (_precision, _unit, datePrecision, length) => {
      const truncated = ordersBefore(newest, 250, 20 * minute);
      const brand = makeBrand({ orders: truncated, variants: { datePrecision } });
      let pages = 0;
      await brand.stopped("sync orders", (request) => readsOrders(request) && ++pages === 2);
      const covered = Math.ceil(oldestOnPage / length) * length;
      expect(brand.sql("SELECT from_at FROM coverage")).toEqual([{ from_at: at(covered) }]);
      expect(await synced(brand)).toMatchObject({ code: 0, verified: 1 });
      expect(brand.mirrored()).toEqual(ids(brand));
    },
  );
});

describe("orders with an unreadable date", () => {
  test.each(["2026-02-30T11:00:00Z", "2026-11-20T24:00:00Z", "yesterday", null])(
    "sync stores an order with the unreadable date %j unchanged, warns, and leaves the orders unverified",
    async (date) => {
      const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 2 * day)] });
      showDates(brand, { odd: date });
      const { code, err, verified } = await synced(brand);
      expect([code, verified, brand.mirrored()]).toEqual([0, 0, ids(brand)]);
      expect(err.match(/warning: /g)).toHaveLength(1);
      expect(err).toContain("warning: orders: `odd`: `order_date`");
      expect(err).toContain("(1 such record, 1 without a readable date)");
      const dated =
        "SELECT order_date AS date, (SELECT dated_ms FROM records WHERE key = 'odd') AS at FROM orders";
      expect(brand.sql(`${dated} WHERE id = 'odd'`)).toEqual([{ date, at: null }]);
      expect((await brand.run("status")).out).toContain("1 record without a readable date");
      expect((await brand.run("status --max-age 1h")).code).toBe(0);
      const verdict = await brand.run("verify orders --json");
      expect(verdict.code).toBe(8);
      expect(JSON.parse(verdict.out.split("\n")[0] ?? "")).toMatchObject({ state: "unproven", undated: 1 });
    },
  );

  test("verify and status report that an unreadable date must be corrected in the API, even if the date contains a semicolon", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 2 * day)] });
    showDates(brand, { odd: "n/a; later" });
    await synced(brand);
    expect((await brand.run("verify orders")).err).toContain("the data must be corrected in the API");
    expect((await brand.run("status")).out).toContain("the data must be corrected in the API");
    expect((await brand.run("status --json")).out).toContain('"repairable":false');
  });

  test("sync updates and removes orders on all days except the day for which the API lists an order with an unreadable date", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 2 * day)] });
    showDates(brand, { odd: "soon" });
    await synced(brand);
    brand.refund("o3", 5);
    // `o10` belongs to the same day as the order with the unreadable date, so sync keeps `o10`.
    brand.withdraw("o7", "o10");
    brand.add("orders", orderAt("late", noon - 3 * day));
    expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 0 });
    expect(brand.lastRun()).toMatchObject({ rows_new: 1, rows_changed: 1, rows_removed: 1 });
    expect(brand.mirrored()).toEqual([...ids(brand), "o10"].sort());
    expect(brand.sql("SELECT substr(from_at, 1, 10) AS day FROM faulty_slices")).toEqual([
      { day: at(noon - 2 * day).slice(0, 10) },
    ]);
    const status = await brand.run("status");
    expect(status.out).not.toContain("not read:");
  });

  test("after the API has corrected all unreadable dates, the next sync verifies the orders", async () => {
    const brand = makeBrand({
      orders: [...orders, orderAt("odd", noon - 2 * day), orderAt("lost", noon - 4 * day)],
    });
    showDates(brand, { odd: "soon", lost: "never" });
    await synced(brand);
    brand.withdraw("o7", "lost");
    await runNextDay(brand);
    expect(brand.mirrored()).toEqual(ids(brand));
    brand.before = undefined;
    expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 1 });
    expect(brand.mirrored()).toEqual(ids(brand));
    expect(brand.sql("SELECT * FROM faulty_slices")).toEqual([]);
    expect((await brand.run("verify orders")).code).toBe(0);
  });

  test("sync marks a day as faulty if the API returns an order with an unreadable date for it", async () => {
    const odd = Object.fromEntries([3, 11, 40].map((days) => [`odd${days}`, "soon"]));
    const brand = makeBrand({
      orders: [...orders, ...[3, 11, 40].map((days) => orderAt(`odd${days}`, noon - days * day))],
    });
    showDates(brand, odd);
    const { code, requests } = await synced(brand);
    expect(code).toBe(0);
    expect(requests.length).toBeLessThan(100);
    expect(
      brand.sql(
        `SELECT substr(from_at, 1, 10) AS day, records.key AS key FROM faulty_slices, json_each(record_ids)
         JOIN records ON record_id = json_each.value ORDER BY day DESC`,
      ),
    ).toEqual([3, 11, 40].map((days) => ({ day: at(noon - days * day).slice(0, 10), key: `odd${days}` })));
    brand.withdraw("odd11");
    await runNextDay(brand);
    expect(brand.mirrored()).toEqual(ids(brand));
  });

  test("verify --repair removes a withdrawn order outside the window even if the order's date was unreadable", async () => {
    const brand = makeBrand({
      orders: [...orders, orderAt("odd", noon - 2 * day), orderAt("old", noon - 300 * day)],
    });
    showDates(brand, { odd: "soon", old: "never" });
    await synced(brand);
    await brand.run("verify orders");
    expect((await brand.run("status")).out).toContain("the data must be corrected in the API");
    brand.withdraw("old");
    const { code, err } = await brand.run("verify orders --repair");
    expect(brand.mirrored()).toEqual(ids(brand));
    expect([code, err]).toEqual([8, expect.stringContaining("`odd`: `order_date`")]);
  });

  test("each sync's audit re-reads faulty date ranges outside the window", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 300 * day)] });
    await brand.run("sync orders --since 40d");
    showDates(brand, { odd: "soon" });
    await synced(brand, "sync orders --full");
    const [before] = brand.sql<{ read_at: string }>("SELECT read_at FROM faulty_slices");
    const { requests, code } = await runNextDay(brand);
    expect(code).toBe(0);
    expect(requests.length).toBeLessThan(25);
    const [after] = brand.sql<{ read_at: string }>("SELECT read_at FROM faulty_slices");
    expect(after && before && after.read_at > before.read_at).toBe(true);
  });

  test("sync counts an order only once if the API returns it for every date range", async () => {
    const brand = makeBrand({
      orders: [...orders, orderAt("none", null)],
      variants: { undated: "in every range" },
    });
    for (const _ of [1, 2, 3]) {
      const { code, err, verified } = await runNextDay(brand);
      expect([code, verified]).toEqual([0, 0]);
      expect(err).toContain("(1 such record, 1 without a readable date)");
      expect(brand.mirrored()).toEqual(ids(brand));
    }
    const [line = ""] = (await brand.run("verify orders --json")).out.split("\n");
    const total = brand.data.orders.length;
    expect(JSON.parse(line)).toMatchObject({ api_total: total, mirror_total: total, future: null });
    expect((await brand.run("status --max-age 1h")).code).toBe(0);
  });

  test("sync stores a new order with an unreadable date, but does not record it as a change", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 300 * day)] });
    showDates(brand, { odd: "soon" });
    await brand.run("sync orders --since 30d");
    await runNextDay(brand, "sync orders --full");
    expect((await brand.run("changes orders")).out).not.toContain("odd");
  });
});

describe("orders dated outside the requested range", () => {
  test("sync stores an order dated before the requested range, but does not mark the run as verified", async () => {
    const brand = makeBrand({ orders, variants: { includesRecordBelow: true } });
    await brand.run("sync orders --since 10d");
    const { code, err, verified } = await runNextDay(brand, "sync orders --since 10d");
    expect([code, verified]).toEqual([0, 0]);
    expect(err).toContain("is outside the requested range");
  });

  test("sync does not remove an order that the API returns only for a different date range", async () => {
    const brand = makeBrand({ orders });
    await synced(brand);
    showDates(brand, { o2: at(noon - 200 * day) });
    await runNextDay(brand);
    expect(await runNextDay(brand, "sync orders --full")).toMatchObject({ code: 0, verified: 0 });
    expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 0 });
    expect(brand.mirrored()).toEqual(ids(brand));
  });

  test("if the orders from one second fill several pages, an unexpected date on the last page leaves all of these orders unverified", async () => {
    const dense = Array.from({ length: 130 }, (_, n) => orderAt(`c${n}`, noon - day));
    const brand = makeBrand({ orders: dense });
    brand.once(
      ({ path, query }) => path === "/orders" && query.page === "2",
      () => ({
        envelope: (one: { data: object[] }) => ({
          ...one,
          data: [...one.data.slice(0, -1), { ...one.data.at(-1), order_date: at(noon - 2 * day) }],
        }),
      }),
    );
    expect(await synced(brand)).toMatchObject({ code: 0, verified: 0 });
    expect(brand.mirrored()).toHaveLength(130);
    expect(await runNextDay(brand)).toMatchObject({ code: 0, verified: 1 });
  });

  test("sync stores a library file with an impossible date, and leaves the library files unverified", async () => {
    const files = Array.from({ length: 30 }, (_, n) => fileAt(`f${n}`, noon - hour - n * day));
    const brand = makeBrand({
      content: [...files, fileAt("odd", 0, { created_at: "2026-13-01T00:00:00Z" })],
      variants: { undated: "in every range" },
    });
    const { code, err } = await brand.run("sync content");
    expect(code, err).toBe(0);
    expect(brand.mirrored("content")).toHaveLength(31);
    expect(brand.lastRun("content")).toMatchObject({ verified: 0 });
  });
});

describe("an order that the API lists twice", () => {
  const copy = (id: string, ms: number) =>
    orderAt(id, ms, { total_amount: 99, order_number: "second store" });

  test.each([
    ["the copies are identical", orderAt("o20", noon - hour - 20 * 5 * hour)],
    ["the copies have different amounts", copy("o20", noon - hour - 20 * 5 * hour)],
    ["one copy has an older date", copy("o20", noon - 40 * day - minute)],
    ["one copy has a newer date", copy("o120", noon - 3 * day - minute)],
    ["one copy has an older date outside the window", copy("o20", noon - 51 * day)],
  ])("sync stores one copy, warns, and records no changes if %s", async (_, second) => {
    const brand = makeBrand({ orders: [...orders, second] });
    for (const command of [
      "sync orders",
      "sync orders",
      "sync orders --full",
      "sync orders",
      "sync orders",
    ]) {
      const { code, err, verified } = await runNextDay(brand, command);
      expect([code, verified], err).toEqual([0, 0]);
      expect(err).toContain(`\`${second.id}\` is listed more than once`);
    }
    expect(brand.mirrored()).toHaveLength(250);
    expect(brand.sql("SELECT * FROM changes")).toEqual([]);
    expect((await brand.run("verify orders")).err).toContain(
      `orders has unexpected dates or IDs: \`${second.id}\` is listed more than once`,
    );
    const newest = brand.data.orders
      .filter(({ id }) => id === second.id)
      .map(({ order_date }) => order_date)
      .sort();
    const [kept] = brand.sql<{ date: string }>(
      `SELECT order_date AS date FROM orders WHERE id = '${second.id}'`,
    );
    expect(kept?.date).toBe(newest.at(-1));
  });

  test("if a response contains more than ten duplicate orders, sync keeps the newer copy of each order", async () => {
    const brand = makeBrand({ orders });
    await synced(brand);
    const copies = Array.from({ length: 14 }, (_, n) => copy(`o${n}`, noon - 45 * day - n * minute));
    brand.data.orders = [...orders, ...copies];
    const since = new Date(noon - 46 * day).toISOString();
    const until = new Date(noon - 44 * day).toISOString();
    for (const command of [`sync orders --since ${since} --until ${until}`, "sync orders --full"]) {
      expect((await runNextDay(brand, command)).verified).toBe(0);
      expect(brand.sql("SELECT * FROM changes")).toEqual([]);
      expect(brand.mirrored()).toHaveLength(250);
    }
  });

  test("if several date ranges contain duplicate orders, the audit starts with the least recently read range", async () => {
    const dateOf = (n: number) => noon - hour - n * 5 * hour;
    const brand = makeBrand({ orders: [...orders, copy("o100", dateOf(100)), copy("o150", dateOf(150))] });
    await synced(brand);
    await runNextDay(brand, `sync orders --audit 0 --since ${at(dateOf(100) + 1_000)}`);
    await runNextDay(brand, `sync orders --audit 0 --since ${at(dateOf(200))} --until ${at(dateOf(100))}`);
    const { requests } = await runNextDay(brand, "sync orders --audit 1 --window 0d");
    const startDates = requests.filter(readsOrders).map(({ query }) => query.start_date);
    expect(startDates).toContain(at(dateOf(100)));
    expect(startDates).not.toContain(at(dateOf(150)));
  });

  test("sync can verify the orders again after the API has stopped listing an ID twice", async () => {
    const brand = makeBrand({ orders: [...orders, copy("o20", noon - 40 * day)] });
    await synced(brand);
    brand.data.orders = brand.data.orders.filter(
      ({ id, order_number }) => id !== "o20" || order_number !== null,
    );
    await runNextDay(brand);
    expect(await runNextDay(brand, "sync orders --full")).toMatchObject({ code: 0, verified: 1 });
    expect(brand.sql("SELECT total_amount AS amount FROM orders WHERE id = 'o20'")).toEqual([{ amount: 99 }]);
  });
});

test("the audit re-reads a full page of orders with one request, even if those orders were last read by different runs", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync orders");
  await runNextDay(brand, `sync orders --audit 0 --since ${at(noon - 5 * day)}`);
  await runNextDay(brand, "sync orders --audit 1 --window 0d");
  expect(brand.lastRun()).toMatchObject({ rows_read: 100 });
});

test("sync's row count includes the orders read by the audit's last requests", async () => {
  const brand = makeBrand({
    orders: ordersBefore(noon - 60 * day, 2_000, hour),
    variants: { dailyTotals: "absent" },
  });
  await brand.run("sync orders");
  for (let n = 0; n < 2_000; n += 1) brand.refund(`o${n}`, 1);
  await runNextDay(brand);
  const { rows_changed, rows_read } = brand.lastRun();
  expect(rows_read).toBe(rows_changed);
});

test("if a list of unsorted orders does not settle at first, but settles when the same run re-reads more dates, the run is verified", async () => {
  const brand = makeBrand({
    orders: ordersBefore(noon - hour, 190, 5 * hour).toReversed(),
    variants: { order: "attribution", dailyTotals: "absent" },
  });
  await brand.run("sync orders");
  let reads = 0;
  brand.before = ({ path, query }) => {
    // The list changes during three reads. After that, sync gives up on the list, and the counts differ.
    if (path === "/orders" && query.page === "2" && ++reads <= 3) brand.withdraw(`o${reads + 20}`);
    return undefined;
  };
  const dates = `--since ${at(noon - 35 * day)} --until ${at(noon - hour)}`;
  expect(await runNextDay(brand, `sync orders --audit 0 ${dates}`)).toMatchObject({ code: 0, verified: 1 });
  expect(reads).toBeGreaterThan(3);
  expect(brand.mirrored()).toEqual(ids(brand));
});
