import { describe, expect, test } from "vitest";
import { makeBrand, type SentRequest, type TestBrand } from "../support/brand.js";
import { day, memberOf, noon, orderAt } from "../support/records.js";

/** One order per month from January to November 2026, and one from yesterday. */
const dates = [...Array.from({ length: 11 }, (_, month) => Date.UTC(2026, month, 15, 9)), noon - day];
const orders = dates.map((ms, n) => orderAt(`o${n}`, ms)).reverse();

async function runSync(brand: TestBrand, flags = "", after = day) {
  brand.pass(after);
  const ran = await brand.run(`sync analytics-clicks ${flags}`);
  return { ...ran, months: monthsOf(ran.requests), last: brand.lastRun("analytics-clicks") };
}

function monthsOf(requests: readonly SentRequest[]): string[] {
  return requests.flatMap(({ path, query }) =>
    path === "/analytics/clicks" && query.start_date
      ? [
          query.start_date.slice(0, 7),
          query.group_by === "day" ? [] : (query.group_by ?? []),
          query.host_id ?? [],
        ]
          .flat()
          .join(" ")
      : [],
  );
}

const revenueOf = (brand: TestBrand, month: string) =>
  brand.sql<{ revenue: number }>(
    "SELECT revenue FROM analytics_clicks_periods WHERE period_start = ? AND host_id IS NULL",
    `${month}-01`,
  )[0]?.revenue;

describe("syncs of monthly clicks", () => {
  test("the first sync reads clicks for all months, and later syncs read clicks only for months in the window", async () => {
    const brand = makeBrand({ orders });
    const { requests, last, months } = await runSync(brand);
    expect(months).toEqual(Array.from({ length: 11 }, (_, n) => `2026-${String(n + 1).padStart(2, "0")}`));
    const ofClicks = ({ path }: SentRequest) => path === "/analytics/clicks";
    expect(requests.filter(ofClicks)).toHaveLength(12);
    // Orders and clicks share one request for daily totals.
    const both = await makeBrand({ orders }).run("sync orders analytics-clicks");
    expect(both.requests.filter(ofClicks)).toHaveLength(12);
    expect(last).toMatchObject({ verified: 1, outcome: "done", since: "2026-01-01T00:00:00.000Z" });
    expect((await runSync(brand)).months).toEqual(["2026-10", "2026-11"]);
    const plan = await brand.run("sync analytics-clicks --dry-run --window 5d");
    expect(plan.out).toContain("analytics-clicks: 1 month (1 request)\n");
    expect((await runSync(brand, "--window 5d")).months).toEqual(["2026-11"]);
  });

  test("for the current month, sync marks clicks as read only up to the time of the request", async () => {
    const brand = makeBrand({ orders });
    const { last } = await runSync(brand);
    const [covered] = brand.sql<{ to_at: string }>(
      "SELECT max(to_at) AS to_at FROM coverage WHERE resource = 'analytics-clicks'",
    );
    expect(covered && covered.to_at <= String(last.finished_at)).toBe(true);
  });

  test("sync re-reads clicks for a month outside the window only if one of the month's days has changed", async () => {
    const brand = makeBrand({ orders });
    await runSync(brand);
    brand.refund("o2", 4);
    brand.cancel("o5");
    expect((await runSync(brand, "--window 0d")).months).toEqual(["2026-03", "2026-06", "2026-11"]);
    expect(revenueOf(brand, "2026-03")).toBe(6);
    expect((await runSync(brand, "--window 0d")).months).toEqual(["2026-11"]);
    // Changes the number of clicks on one day, but no amount.
    brand.before = ({ path }) =>
      path === "/analytics/clicks"
        ? {
            envelope: (body) =>
              JSON.parse(
                JSON.stringify(body).replace(/("date":"2026-03-15"[^}]*"total_clicks":)(\d+)/, "$19$2"),
              ),
          }
        : undefined;
    expect((await runSync(brand, "--window 0d")).months).toEqual(["2026-03", "2026-11"]);
  });

  test("if an order appears in an earlier month, sync reads that month's clicks unless the month precedes the first sync's --since", async () => {
    const brand = makeBrand({ orders });
    await runSync(brand);
    brand.attributeLate(Date.UTC(2025, 10, 3), orderAt("late", Date.UTC(2025, 10, 3)));
    expect((await runSync(brand)).months.slice(0, 2)).toEqual(["2025-11", "2026-10"]);
    const narrow = makeBrand({ orders });
    expect((await runSync(narrow, "--since 2026-09-20")).months).toEqual(["2026-09", "2026-10", "2026-11"]);
    expect((await runSync(narrow)).months).toEqual(["2026-10", "2026-11"]);
    expect((await runSync(narrow, "--since 2026-08 --until 2026-08")).months).toEqual(["2026-08"]);
    expect((await runSync(narrow, "--full")).months).toHaveLength(11);
  });

  test("if the first sync used --since, the output line, status and verify say that older clicks were never requested", async () => {
    const brand = makeBrand({ orders });
    const fromSeptember =
      ", verified from 2026-09-01 (older records were never requested; `--full` reads them)\n";
    const first = await runSync(brand, "--since 2026-09-20");
    expect([first.err.endsWith(fromSeptember), first.last.covered_from]).toEqual([
      true,
      "2026-09-01T00:00:00.000Z",
    ]);
    expect((await runSync(brand)).err).toContain(fromSeptember);
    const hint =
      "analytics-clicks: records before 2026-09-01 have never been requested; run `brandapi sync analytics-clicks --full`";
    expect((await brand.run("status analytics-clicks")).out).toContain(hint);
    expect((await brand.run("verify analytics-clicks")).out).toContain("starts on 2026-09-20");
    const full = await runSync(brand, "--full");
    expect([full.err.endsWith(", verified\n"), full.last.covered_from]).toEqual([true, null]);
    const { out } = await brand.run("status analytics-clicks");
    expect([out.includes("from the start"), out.includes("--full")]).toEqual([true, false]);
    expect((await brand.run("verify analytics-clicks")).out).not.toContain("starts on");
  });

  test("if --since leaves unread months, clicks are verified only from the end of these months", async () => {
    const brand = makeBrand({ orders });
    await runSync(brand, "--since 2026-10");
    const older = await runSync(brand, "--since 2026-03 --until 2026-04");
    expect([older.last.covered_from, older.last.verified]).toEqual(["2026-03-01T00:00:00.000Z", 1]);
    const newer = await runSync(brand, "--since 2026-11");
    expect(newer.err).toContain(", verified from 2026-10-01 (not all older records were read)\n");
    const next = await runSync(brand);
    expect([next.months.slice(0, 5), next.last.covered_from]).toEqual([
      ["2026-05", "2026-06", "2026-07", "2026-08", "2026-09"],
      "2026-03-01T00:00:00.000Z",
    ]);
    const before = await runSync(brand, "--until 2026-01");
    expect([before.months, before.last.verified, before.err]).toEqual([
      [],
      0,
      expect.stringContaining(
        "warning: analytics-clicks: the mirror starts on 2026-03-01, after the last date of this run",
      ),
    ]);
  });

  test("sync --until skips the clicks for later months, and the next run reads them", async () => {
    const brand = makeBrand({ orders });
    expect((await runSync(brand, "--until 2026-04")).months).toEqual([
      "2026-01",
      "2026-02",
      "2026-03",
      "2026-04",
    ]);
    expect((await runSync(brand)).months).toHaveLength(7);
  });

  test("after three months without a run, sync reads the clicks for every month since the last run", async () => {
    const brand = makeBrand({ orders });
    await runSync(brand, "--window 0d");
    for (const month of [11, 12]) brand.order(orderAt(`new${month}`, Date.UTC(2026, month, 5)));
    expect((await runSync(brand, "--window 0d", 90 * day)).months).toEqual([
      "2026-11",
      "2026-12",
      "2027-01",
      "2027-02",
    ]);
  });

  test("sync requests clicks only for months with activity and for the current month", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", "1969-12-31T23:59:59.000Z")] });
    const { last, months } = await runSync(brand);
    expect(months).toEqual([
      "1969-12",
      ...Array.from({ length: 11 }, (_, n) => `2026-${String(n + 1).padStart(2, "0")}`),
    ]);
    expect(last).toMatchObject({ outcome: "done", verified: 1 });
    expect((await runSync(brand, "--window 0d")).months).toEqual(["2026-11"]);
    expect((await runSync(brand, "--since 1900-01-01")).months).toHaveLength(12);
    expect((await brand.run("status --json")).out).toMatch(/"resource":"analytics-clicks".*?"gaps":\[\]/);
    expect((await runSync(makeBrand())).months).toEqual(["2026-11"]);
  });

  test("sync resumes an interrupted run without re-reading the months that the interrupted run read", async () => {
    const brand = makeBrand({ orders });
    await brand.stopped(
      "sync analytics-clicks",
      ({ query }) => query.start_date?.startsWith("2026-06") ?? false,
    );
    expect((await runSync(brand, "--window 0d", 0)).months[0]).toBe("2026-06");
  });

  test("sync --full replaces a month's summary, days and top lists", async () => {
    const brand = makeBrand({ history: 200, listLimit: 20 });
    await runSync(brand);
    const rows = () =>
      ["", "_periods", "_top_hosts", "_top_products"].map(
        (table) => brand.sql(`SELECT count(*) AS n FROM analytics_clicks${table}`)[0]?.n,
      );
    const before = rows();
    await runSync(brand, "--full", 0);
    expect(rows()).toEqual(before);
    expect(before.every((n) => Number(n) > 0)).toBe(true);
  });

  test.each([
    ["no list of days", "timeseries", 7],
    ["no summary", "summary", 7],
  ])(
    "sync rejects a month's clicks if the response has %s, and keeps the stored clicks",
    async (_, member, code) => {
      const brand = makeBrand({ orders });
      await runSync(brand);
      brand.refund("o10", 5);
      brand.before = ({ query }) =>
        query.start_date?.startsWith("2026-11")
          ? { envelope: (one) => ({ ...one, data: { ...(one.data as object), [member]: null } }) }
          : undefined;
      expect((await runSync(brand)).code).toBe(code);
      expect(revenueOf(brand, "2026-11")).toBe(20);
    },
  );
});

describe("syncs of clicks by host and by period", () => {
  test.each([
    ["--group-by month --since 2026-10", ["2026-10 month", "2026-11 month"]],
    ["--group-by week --since 2026-11", ["2026-11 week"]],
  ])(
    "sync does not verify clicks read with %s, and the next run without flags reads them by day",
    async (flags, months) => {
      const brand = makeBrand({ orders });
      for (const _ of [1, 2]) {
        const ran = await runSync(brand, flags);
        expect([ran.code, ran.months, ran.last.verified]).toEqual([0, months, 0]);
      }
      expect((await runSync(brand)).months).toHaveLength(11);
      expect((await runSync(brand, flags.replace(/ --since.*/, ""))).months).toHaveLength(11);
      expect(
        brand.sql("SELECT DISTINCT group_by AS bucket FROM analytics_clicks_periods ORDER BY 1"),
      ).toEqual([{ bucket: "day" }, { bucket: flags.split(" ")[1] }]);
    },
  );

  test("sync --host and --per-host store each host's clicks in addition to the clicks for all hosts", async () => {
    const brand = makeBrand({ history: 60, listLimit: 10 });
    const without = await runSync(brand, "--per-host --since 30d");
    expect([without.code, without.err]).toEqual([
      3,
      expect.stringContaining("run `brandapi sync roster` first"),
    ]);
    await runSync(brand, "--since 30d");
    const hosts = brand.data.roster.map(({ host }) => host.id);
    brand.add("roster", memberOf("without-host", { host: null }));
    await brand.run("sync roster");
    const { last, months } = await runSync(brand, "--per-host --since 2026-11");
    expect(months.sort()).toEqual(hosts.map((id) => `2026-11 ${id}`).sort());
    expect(last.verified).toBe(0);
    expect((await runSync(brand, `--host ${hosts[0]} --since 2026-10`)).months).toEqual([
      `2026-10 ${hosts[0]}`,
      `2026-11 ${hosts[0]}`,
    ]);
    expect(brand.sql("SELECT count(DISTINCT host_id) AS n FROM analytics_clicks_periods")).toEqual([
      { n: hosts.length },
    ]);
    // The next sync has neither --host nor --per-host, and must not mistake one host's clicks for the clicks of all
    // hosts.
    expect((await runSync(brand, "--window 0d")).months).toEqual(["2026-11"]);
  });
});

test("verify sends no requests for clicks and rankings, because the API can change them at any time", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync analytics-clicks analytics-hosts");
  const { requests, code, out } = await brand.run("verify analytics-clicks analytics-hosts --json");
  expect([code, requests.map(({ path }) => path)]).toEqual([0, ["/me"]]);
  expect(out.match(/"state":"unproven","months":\[/g)).toHaveLength(2);
});

describe("syncs of the host ranking", () => {
  const row = (id: string | null, sales: number) => ({
    host: id === null ? null : { id, username: id },
    clicks: 5,
    orders: 1,
    sales,
  });
  /** Serves the rows of a ranking, 20 per page. */
  function serve(brand: TestBrand, rows: () => object[]) {
    brand.before = ({ path, query }) => {
      if (path !== "/analytics/hosts") return undefined;
      const [page, all] = [Number(query.page), rows()];
      const total_pages = Math.ceil(all.length / 20);
      const pagination = {
        page,
        per_page: 20,
        total_items: all.length,
        total_pages,
        has_next: page < total_pages,
      };
      const data = all.slice((page - 1) * 20, page * 20);
      return {
        body: JSON.stringify({ success: true, data, pagination: { ...pagination, has_prev: page > 1 } }),
      };
    };
  }
  const fifty = Array.from({ length: 50 }, (_, n) => row(`h${n}`, 1_000 - n));
  const ranked = (brand: TestBrand) =>
    brand.sql<{ host_id: string | null; position: number; sales: number }>(
      "SELECT host_id, position, sales FROM analytics_hosts ORDER BY position",
    );

  test("sync re-reads the host ranking if the order of hosts changes between two pages", async () => {
    const brand = makeBrand();
    let count = 0;
    const sold = fifty.map((one) => ({ ...one, sales: one.sales + 1 }));
    serve(brand, () => (++count === 2 ? [...sold.slice(20), ...sold.slice(0, 20)] : fifty));
    const { requests, code } = await brand.run("sync analytics-hosts");
    expect([code, requests.filter(({ path }) => path === "/analytics/hosts").length]).toEqual([0, 6]);
    expect(brand.lastRun("analytics-hosts").rows_read).toBe(50);
    expect(ranked(brand).map(({ host_id }) => host_id)).toEqual(fifty.map(({ host }) => host?.id));
  });

  test("sync does not store a host ranking whose order changes during every read", async () => {
    const brand = makeBrand();
    let count = 0;
    serve(brand, () => (++count % 3 === 2 ? [...fifty.slice(20), ...fifty.slice(0, 20)] : fifty));
    const { code, err } = await brand.run("sync analytics-hosts");
    expect([code, brand.mirrored("analytics-hosts")]).toEqual([8, []]);
    expect(brand.lastRun("analytics-hosts")).toMatchObject({ api_total: 50, mirror_total: 0, differing: 1 });
    expect(err).toContain("the ranking never settled");
  });

  test("sync stores every ranking row that has no host", async () => {
    const brand = makeBrand();
    let rows = [row("h0", 9)];
    serve(brand, () => rows);
    await brand.run("sync analytics-hosts");
    rows = [row("h0", 9), row(null, 5), row(null, 5), row("h1", 1)];
    expect((await brand.run("sync analytics-hosts")).code).toBe(0);
    expect(ranked(brand).map(({ host_id }) => host_id)).toEqual(["h0", null, null, "h1"]);
    const covered = "SELECT from_at, to_at > '2026-11-21' AS today FROM coverage WHERE resource = ?";
    expect(brand.sql(covered, "analytics-hosts")).toEqual([{ from_at: null, today: 1 }]);
  });

  test("sync stores every host in the ranking even if a row without a host moves to the next page during the read", async () => {
    const brand = makeBrand();
    const before = [...fifty.slice(0, 19), row(null, 500), ...fifty.slice(19)];
    const after = [...fifty.slice(0, 20), row(null, 500), ...fifty.slice(20)];
    let count = 0;
    serve(brand, () => (++count === 1 ? before : after));
    expect((await brand.run("sync analytics-hosts")).code).toBe(0);
    expect(ranked(brand).map(({ host_id }) => host_id)).toContain("h19");
  });

  test("sync keeps each day's last ranking, and removes departed hosts from the current ranking", async () => {
    const brand = makeBrand();
    let rows = fifty;
    serve(brand, () => rows);
    await brand.run("sync analytics-hosts");
    rows = [row("h1", 2_000), ...fifty.slice(2)];
    await brand.run("sync analytics-hosts");
    expect(ranked(brand)).toHaveLength(49);
    expect(ranked(brand)[0]).toEqual({ host_id: "h1", position: 0, sales: 2_000 });
    brand.pass(day);
    rows = [row("h1", 2_500), ...fifty.slice(2)];
    await brand.run("sync analytics-hosts");
    expect(
      brand.sql("SELECT date, sales FROM analytics_hosts_snapshots WHERE host_id = 'h1' ORDER BY date"),
    ).toEqual([
      { date: "2026-11-21", sales: 2_000 },
      { date: "2026-11-22", sales: 2_500 },
    ]);
  });

  test("sync rejects a ranking with fewer than half as many rows as before, unless --accept-removals is given", async () => {
    const brand = makeBrand();
    let rows = fifty;
    serve(brand, () => rows);
    await brand.run("sync analytics-hosts");
    rows = fifty.slice(0, 20);
    expect((await brand.run("sync analytics-hosts")).code).toBe(8);
    expect(ranked(brand)).toHaveLength(50);
    expect((await brand.run("sync analytics-hosts --accept-removals")).code).toBe(0);
    expect(ranked(brand)).toHaveLength(20);
  });
});
