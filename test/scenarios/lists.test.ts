import { describe, expect, test } from "vitest";
import { details, resources } from "../../src/resources/index.js";
import { expectFaithful } from "../conformance/compare.js";
import { contentSources, mediaTypes } from "../support/old-sandbox/data/library.js";
import { asked, type Brand, brandForTest, day } from "./brand.js";

const everything = [...resources, ...details];

async function expectResource(brand: Brand, name: string) {
  const resource = everything.find((one) => one.name === name);
  if (!resource) throw new Error(`no such resource: ${name}`);
  await expectFaithful(brand, resource);
}

interface Entry {
  relationship_id: string;
  host: { id: string };
  commission_rate: number;
}

describe("the roster", () => {
  test("a host who leaves gets `removed_at`; who comes back under a new relationship is a new row", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync roster");
    const [leaver] = [...brand.sandbox.records("roster")] as Entry[];
    const hostId = leaver?.host.id ?? "";
    brand.sandbox.events.leaveRoster(hostId);
    brand.sandbox.advance(day);
    expect((await brand.run("sync roster")).code).toBe(0);
    await expectResource(brand, "roster");
    const rows = () =>
      brand.sql<{ relationship_id: string; removed_at: string | null }>(
        "SELECT relationship_id, removed_at FROM roster WHERE host_id = ? ORDER BY record_id",
        hostId,
      );
    expect(rows()[0]?.removed_at).toMatch(/^2026-11-22T12:/);
    const joined = brand.sandbox.events.joinRoster(hostId);
    expect((await brand.run("sync roster")).code).toBe(0);
    expect(rows().map(({ relationship_id, removed_at }) => [relationship_id, removed_at === null])).toEqual([
      [leaver?.relationship_id, false],
      [joined, true],
    ]);
    expect(brand.changes("roster").map(({ key, kind }) => [key, kind])).toEqual([
      [leaver?.relationship_id, "removed"],
      [joined, "added"],
    ]);
  });

  test("an entry that is gone for a night and returns as it was loses `removed_at`", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync roster");
    brand.sandbox.intercept = ({ path }) =>
      path === "/roster" ? { kind: "envelope", change: withoutFirst } : undefined;
    const hidden = await brand.run("sync roster");
    expect(hidden.code).toBe(0);
    expect(brand.lastRun("roster")).toMatchObject({ rows_removed: 1 });
    brand.sandbox.intercept = undefined;
    expect((await brand.run("sync roster")).code).toBe(0);
    await expectResource(brand, "roster");
    expect(brand.sql("SELECT count(*) AS n FROM roster WHERE removed_at IS NOT NULL")).toEqual([{ n: 0 }]);
    expect(brand.changes("roster").map(({ kind }) => kind)).toEqual(["removed", "returned"]);
  });

  test("a changed rate is in `changes`, with the old one and the new one", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync roster");
    const [entry] = [...brand.sandbox.records("roster")] as Entry[];
    brand.sandbox.events.setRate(entry?.host.id ?? "", 33.5);
    expect((await brand.run("sync roster")).code).toBe(0);
    expect(brand.changes("roster")).toMatchObject([
      {
        key: entry?.relationship_id,
        kind: "changed",
        field: "commission_rate",
        old: String(entry?.commission_rate),
        new: "33.5",
      },
    ]);
  });
});

interface Campaign {
  id: string;
  status: string;
  assignments: { id: string; status: string }[];
}

describe("campaigns", () => {
  const campaigns = (brand: Brand) => [...brand.sandbox.records("opportunity-details")] as Campaign[];
  const detailsAsked = (requests: Parameters<typeof asked>[0]) =>
    requests.flatMap(({ path }) => /\/opportunities\/([^?]+)/.exec(path)?.[1] ?? []);

  test("details are read again only where something can have changed", async () => {
    const brand = await brandForTest({ orders: 5 });
    expect(detailsAsked((await brand.run("sync opportunities")).requests)).toHaveLength(
      campaigns(brand).length,
    );
    const settled = campaigns(brand).filter(({ status }) =>
      ["DRAFT", "DECLINED", "ARCHIVED"].includes(status),
    );
    const second = detailsAsked((await brand.run("sync opportunities")).requests);
    for (const { id } of settled) expect(second).not.toContain(id);
    const active = campaigns(brand).filter(({ status }) => status === "ACTIVE");
    for (const { id } of active) expect(second).toContain(id);

    const moved = settled[0]?.id ?? "";
    brand.sandbox.events.moveCampaign(moved, "ARCHIVED");
    const added = brand.sandbox.events.addCampaign();
    const third = detailsAsked((await brand.run("sync opportunities")).requests);
    expect(third).toEqual(expect.arrayContaining([moved, added]));
    await expectResource(brand, "opportunities");
    expect(detailsAsked((await brand.run("sync opportunities --details none")).requests)).toEqual([]);
    const all = detailsAsked((await brand.run("sync opportunities --details all")).requests);
    expect(all).toHaveLength(campaigns(brand).length);
  });

  test("a payment that moves without the campaign's `updated_at` is captured", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync opportunities");
    const campaign = campaigns(brand).find(
      ({ status, assignments }) => status === "ACTIVE" && assignments.length > 0,
    );
    const assignment = campaign?.assignments[0]?.id ?? "";
    brand.sandbox.events.setAssignment(assignment, { brandPayment: "PAYMENT_PENDING" });
    expect((await brand.run("sync opportunities")).code).toBe(0);
    await expectResource(brand, "opportunities");
    expect(brand.changes("opportunities")).toContainEqual(
      expect.objectContaining({
        key: campaign?.id,
        field: `assignments.${assignment}.brand_payment_state`,
        new: "PAYMENT_PENDING",
      }),
    );
  });

  test("a first read of details is no change, and a campaign that is gone takes its rows out of exports", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync opportunities --details none");
    await brand.run("sync opportunities");
    expect(brand.changes("opportunities")).toEqual([]);
    await expectResource(brand, "opportunities");
    const gone = campaigns(brand).find(({ assignments }) => assignments.length > 0);
    brand.sandbox.events.removeCampaign(gone?.id ?? "");
    expect((await brand.run("sync opportunities")).code).toBe(0);
    expect(brand.lastRun("opportunities")).toMatchObject({ rows_removed: 1 });
    const { out } = await brand.run("export opportunity_assignments --ndjson");
    expect(out).not.toContain(gone?.id);
  });

  test("a campaign removed between the list and its details is left to the next run", async () => {
    const brand = await brandForTest({ orders: 5 });
    const target = campaigns(brand).find(({ status }) => status === "ACTIVE")?.id ?? "";
    let removed = false;
    brand.sandbox.intercept = ({ path }) => {
      if (path !== `/opportunities/${target}` || removed) return;
      removed = true;
      brand.sandbox.events.removeCampaign(target);
    };
    const { code, err } = await brand.run("sync opportunities");
    expect(code).toBe(0);
    expect(err).toContain(`${target}: the API answered 404 when its details were asked for`);
    expect((await brand.run("sync opportunities")).code).toBe(0);
    await expectResource(brand, "opportunities");
  });
});

describe("the library", () => {
  test("deletions are found by the count, new files by their date, in few requests", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync content");
    const items = [...brand.sandbox.records("content")] as { source: string; id: string }[];
    const old = items.at(-5);
    const recent = items[3];
    for (const item of [old, recent]) brand.sandbox.events.removeContent(item?.source ?? "", item?.id ?? "");
    brand.sandbox.events.addContent();
    brand.sandbox.advance(day);
    const { code, requests } = await brand.run("sync content --audit 0");
    expect(code).toBe(0);
    await expectResource(brand, "content");
    expect(brand.lastRun("content")).toMatchObject({ rows_removed: 2, rows_new: 1 });
    expect(requests.length).toBeLessThan(25);
  });

  test("a file added at the very instant of `--until` is inside, one that came two seconds later is not", async () => {
    const brand = await brandForTest({ orders: 5 });
    const at = Date.parse("2026-11-10T10:00:00.000Z");
    const inside = brand.sandbox.events.addContent({ createdAt: at });
    const outside = brand.sandbox.events.addContent({ createdAt: at + 2_000 });
    expect((await brand.run("sync content --until 2026-11-10T10:00:00Z")).code).toBe(0);
    const ids = (brand.mirrored("content") as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain(inside.id);
    expect(ids).not.toContain(outside.id);
    expect((await brand.run("sync content")).code).toBe(0);
    await expectResource(brand, "content");
  });

  test("a filter takes what the document lists, as its help says; anything else is refused before a request", async () => {
    const brand = await brandForTest({ orders: 5 });
    const help = (await brand.run("sync --help")).out.replace(/\s+/g, " ");
    for (const [flag, values] of [
      ["source", contentSources],
      ["media-type", mediaTypes],
    ] as const) {
      expect(help).toContain(`content: only ${values.join(", ")} (a partial run)`);
      expect((await brand.run(`sync content --${flag} ${values.join(",")}`)).code).toBe(0);
      const { code, requests } = await brand.run(`sync content --${flag} ${values[0]},${values[1]}x`);
      expect({ code, requests }).toEqual({ code: 2, requests: [] });
    }
  });

  test("filters make the run partial: nothing is claimed, nothing removed, more than 50 ids are split", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync content");
    const [first] = [...brand.sandbox.records("content")] as { source: string; id: string }[];
    brand.sandbox.events.removeContent(first?.source ?? "", first?.id ?? "");
    const claim = brand.sql("SELECT * FROM coverage WHERE resource = 'content'");
    const uploads = await brand.run("sync content --source upload,deliverable --media-type image");
    expect(uploads.code).toBe(0);
    expect(brand.sql("SELECT * FROM coverage WHERE resource = 'content'")).toEqual(claim);
    expect(brand.lastRun("content")).toMatchObject({ rows_removed: 0 });
    const ids = Array.from(
      { length: 120 },
      (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    );
    const { requests } = await brand.run(`sync content --host ${ids.join(",")}`);
    expect(asked(requests, "/content").map((query) => query.get("host_id")?.split(",").length)).toEqual([
      50, 50, 20,
    ]);
  });
});

describe("analytics", () => {
  test("only the months that the window touches are read again", async () => {
    const brand = await brandForTest({ orders: 50 });
    const first = await brand.run("sync analytics-clicks");
    expect(asked(first.requests, "/analytics/clicks").length).toBeGreaterThan(20);
    brand.sandbox.advance(3 * day);
    const second = await brand.run("sync analytics-clicks");
    const [points, ...months] = asked(second.requests, "/analytics/clicks");
    // The whole history by day, in one answer: it tells which months moved.
    expect(points?.get("start_date")).toBeNull();
    expect(months.map((query) => query.get("start_date"))).toEqual([
      "2026-10-01T00:00:00.000Z",
      "2026-11-01T00:00:00.000Z",
    ]);
    await expectResource(brand, "analytics-clicks");
  });

  test("per host: one series for each host on the mirrored roster, beside the one of all", async () => {
    const brand = await brandForTest({ orders: 20 });
    await brand.run("sync roster");
    const hosts = brand.sql<{ host_id: string }>("SELECT host_id FROM roster ORDER BY record_id LIMIT 2");
    const ids = hosts.map(({ host_id }) => host_id).join(",");
    expect((await brand.run(`sync analytics-clicks --since 2026-10-01 --host ${ids}`)).code).toBe(0);
    expect((await brand.run("sync analytics-clicks --since 2026-10-01")).code).toBe(0);
    expect(
      brand.sql("SELECT host_id, period_start FROM analytics_clicks_periods ORDER BY record_id"),
    ).toEqual([
      ...hosts.flatMap(({ host_id }) => [
        { host_id, period_start: "2026-10-01" },
        { host_id, period_start: "2026-11-01" },
      ]),
      { host_id: null, period_start: "2026-10-01" },
      { host_id: null, period_start: "2026-11-01" },
    ]);
  });

  test("all-time totals per host become daily differences, and a quiet night adds no row", async () => {
    const brand = await brandForTest({ orders: 50 });
    await brand.run("sync analytics-hosts");
    const rows = () => brand.sql<{ n: number }>("SELECT count(*) AS n FROM analytics_hosts_snapshots")[0]?.n;
    const before = rows();
    await brand.run("sync analytics-hosts");
    expect(rows()).toBe(before);
    brand.sandbox.advance(day);
    await brand.run("sync analytics-hosts");
    await expectResource(brand, "analytics-hosts");
    const [days] = brand.sql<{ n: number; clicks: number }>(
      "SELECT count(*) AS n, sum(clicks) AS clicks FROM analytics_hosts_daily WHERE date = '2026-11-22'",
    );
    expect(days?.n).toBeGreaterThan(0);
    const total = (date: string) =>
      brand.sql<{ clicks: number }>(
        `SELECT sum(clicks) AS clicks FROM (SELECT clicks, row_number() OVER (PARTITION BY host_id ORDER BY date DESC) AS r
         FROM analytics_hosts_snapshots WHERE date <= ?) WHERE r = 1`,
        date,
      )[0]?.clicks ?? 0;
    expect(days?.clicks).toBe(total("2026-11-22") - total("2026-11-21"));
  });
});

function withoutFirst(envelope: Record<string, unknown>) {
  const pagination = envelope.pagination as { total_items: number; page: number };
  const data = envelope.data as unknown[];
  return {
    ...envelope,
    data: pagination.page === 1 ? data.slice(1) : data,
    pagination: { ...pagination, total_items: pagination.total_items - 1 },
  };
}
