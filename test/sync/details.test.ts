import { describe, expect, test } from "vitest";
import { opportunities } from "../../src/resources/opportunities.js";
import type { Brand } from "../../src/sandbox/brand.js";
import type { Json } from "../../src/util/json-value.js";
import { makeBrand, type SentRequest, type TestBrand } from "../support/brand.js";
import { at, day, hour, minute, noon, openRecord } from "../support/records.js";

type Campaign = Brand["opportunities"][number];

function campaign(id: string, fields: Record<string, unknown> = {}): Campaign {
  const dates = { created_at: at(noon - 90 * day), updated_at: at(noon - 80 * day) };
  const lists = { attachments: [], deliverables: [], assignments: [] };
  return {
    id,
    title: "T",
    status: "ACTIVE",
    assignment_counts: {},
    ...dates,
    ...lists,
    ...fields,
  } as unknown as Campaign;
}

const paid = { id: "a1", status: "COMPLETED", brand_payment_state: "PAID", athlete_payment_state: "PAID" };
const campaigns = [
  campaign("active"),
  campaign("archived", { status: "ARCHIVED" }),
  campaign("owing", { status: "COMPLETED", assignments: [{ ...paid, athlete_payment_state: "EARNED" }] }),
  campaign("paid", { status: "COMPLETED", assignments: [paid] }),
];

const canChange = (status: string, assignments: Json | undefined) =>
  opportunities.strategy.canChange({ status, ...(assignments === undefined ? {} : { assignments }) });

test.each([
  ["ACTIVE", "one paid assignment", [paid]],
  ["COMPLETED", "no list of assignments", undefined],
  ["COMPLETED", "an assignment that the brand has not paid", [{ ...paid, brand_payment_state: "INVOICED" }]],
  ["COMPLETED", "an assignment whose athlete is unpaid", [{ ...paid, athlete_payment_state: "EARNED" }]],
  ["COMPLETED", "a paid and an unpaid assignment", [paid, { ...paid, brand_payment_state: "INVOICED" }]],
  ["COMPLETED", "null in its list of assignments", [null]],
])("sync re-reads the details of a campaign with the status %s and %s", (status, _, assignments) => {
  expect(canChange(status, assignments)).toBe(true);
});

test.each([
  ["DRAFT", "no assignments", []],
  ["DECLINED", "no assignments", []],
  ["ARCHIVED", "no list of assignments", undefined],
  ["COMPLETED", "no assignments", []],
  ["COMPLETED", "one paid assignment", [paid]],
  ["COMPLETED", "a refunded assignment", [{ ...paid, brand_payment_state: "REFUNDED" }]],
  ["COMPLETED", "a declined assignment", [{ status: "DECLINED", brand_payment_state: "NOT_INVOICED" }]],
])("sync does not re-read the details of a campaign with the status %s and %s", (status, _, assignments) => {
  expect(canChange(status, assignments)).toBe(false);
});

/** Runs a sync. `details` contains the IDs of the campaigns whose details were requested. */
async function runSync(brand: TestBrand, command = "sync opportunities", after = day) {
  brand.pass(after);
  const { requests, code, err } = await brand.run(command);
  return { code, err, details: detailsOf(requests), last: brand.lastRun(command.split(" ")[1]) };
}

const detailsOf = (requests: readonly SentRequest[]) =>
  requests.flatMap(({ path }) => path.match(/^\/\w+\/(.+?)(?:\/results)?$/)?.[1] ?? []).sort();
const detail = (id: string) => (request: SentRequest) => request.path === `/opportunities/${id}`;

describe("syncs of campaign details", () => {
  test("the first sync reads the details of all campaigns, and later syncs read only the details of changed or open campaigns", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    expect((await runSync(brand)).details).toEqual(["active", "archived", "owing", "paid"]);
    expect(await runSync(brand)).toMatchObject({ details: ["active", "owing"], last: { verified: 1 } });
    brand.change("opportunities", "archived", { title: "another" });
    expect((await runSync(brand)).details).toEqual(["active", "archived", "owing"]);
    expect((await runSync(brand)).details).toEqual(["active", "owing"]);
  });

  test("sync re-reads campaign details, starting with the least recently read campaign", async () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    const brand = makeBrand({ opportunities: ids.map((id) => campaign(id, { status: "ARCHIVED" })) });
    await runSync(brand);
    brand.change("opportunities", "a", { title: "another" });
    expect((await runSync(brand)).details).toEqual(["a"]);
    const { requests } = await brand.run("sync opportunities --details all");
    const paths = requests.map(({ path }) => path).filter((path) => path.startsWith("/opportunities/"));
    expect(paths.at(-1)).toBe("/opportunities/a");
    expect(paths).toHaveLength(ids.length);
  });

  test("sync reads the details of closed campaigns with --details all or --full, and reads no details with --details none", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    await runSync(brand);
    expect((await runSync(brand, "sync opportunities --details all")).details).toHaveLength(4);
    expect((await runSync(brand, "sync opportunities --full")).details).toHaveLength(4);
    expect((await runSync(brand, "sync opportunities --full --details changed")).details).toHaveLength(2);
    expect(await runSync(brand, "sync opportunities --details none")).toMatchObject({
      code: 0,
      details: [],
      last: { verified: 0, outcome: "done" },
    });
  });

  test("sync --dry-run counts one details request for each new or open campaign", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    const plan = async (flags = "") => (await brand.run(`sync opportunities --dry-run ${flags}`)).out;
    expect(await plan()).toContain("opportunities: details of 4 records (4 requests)\n");
    expect(await plan("--details none")).not.toContain("details of");
    await runSync(brand);
    brand.pass(day);
    brand.add("opportunities", campaign("new"));
    expect(await plan()).toContain("opportunities: details of 3 records (3 requests)\n");
    brand.remove("opportunities", "new", "active", "owing");
    await runSync(brand);
    expect(await plan()).not.toContain("details of");
  });

  test("verify reports campaigns with skipped details as unproven until a later sync reads the details", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    await runSync(brand, "sync opportunities --details none");
    const { code, out } = await brand.run("verify opportunities --json");
    expect([code, JSON.parse(out.split("\n")[0] ?? "")]).toMatchObject([8, { state: "unproven", unread: 4 }]);
    expect((await runSync(brand)).details).toHaveLength(4);
    expect((await brand.run("verify opportunities")).code).toBe(0);
  });

  test("status reports that campaigns have not been read yet if only the list of campaigns was read", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    await brand.stopped("sync opportunities", detail("owing"));
    expect((await brand.run("status")).out).toMatch(/^opportunities +\d+ +not yet +never/m);
  });

  test("sync stores a change that appears only in a campaign's details", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    await runSync(brand);
    brand.change("opportunities", "owing", { assignments: [paid] as never });
    await runSync(brand);
    expect(
      brand.sql("SELECT athlete_payment_state AS state FROM opportunity_assignments ORDER BY 1"),
    ).toEqual([{ state: "PAID" }, { state: "PAID" }]);
    expect((await runSync(brand)).details).toEqual(["active"]);
  });

  test("sync re-reads a campaign's details if the campaign is closed in the details but still open in the list", async () => {
    const brand = makeBrand({ opportunities: campaigns.slice(0, 1) });
    const closed = JSON.stringify({ success: true, data: campaign("active", { status: "ARCHIVED" }) });
    brand.before = (request) => (detail("active")(request) ? { body: closed } : undefined);
    for (const _run of [1, 2]) expect((await runSync(brand)).details).toEqual(["active"]);
  });

  test.each([
    ["the API rejects the key", () => ({ status: 401 }), 4],
    ["a response contains the API key", ({ key }: TestBrand) => ({ body: JSON.stringify({ data: key }) }), 7],
  ])("sync requests no further details if %s", async (_, faultOf, code) => {
    const brand = makeBrand({ opportunities: Array.from({ length: 9 }, (_, n) => campaign(`c${n}`)) });
    brand.once(detail("c0"), () => faultOf(brand));
    expect(await runSync(brand)).toMatchObject({ code, details: ["c0", "c1", "c2", "c3"] });
  });

  test("if a campaign is withdrawn while sync is reading campaign details, the next sync removes the campaign", async () => {
    const brand = makeBrand({ opportunities: campaigns });
    await runSync(brand);
    brand.once(detail("owing"), () => void brand.remove("opportunities", "owing"));
    expect(await runSync(brand)).toMatchObject({ code: 8, last: { verified: 0, rows_removed: 0 } });
    expect(await runSync(brand)).toMatchObject({ code: 0, last: { verified: 1, rows_removed: 1 } });
    expect(brand.mirrored("opportunities")).not.toContain("owing");
  });

  test.each([
    ["a 404", { status: 404 }, 8, 4, "returned 404 for the details of 1 listed record"],
    [
      "a different campaign",
      { body: '{"success":true,"data":{"id":"else"}}' },
      7,
      4,
      "contains a different record",
    ],
    ["not an object", { body: '{"success":true,"data":[]}' }, 7, 4, ""],
  ])("sync reads the other campaigns if the response to a request for details is %s", async (...row) => {
    const [, fault, code, detailRequests, says] = row;
    const brand = makeBrand({ opportunities: campaigns });
    await runSync(brand);
    brand.before = (request) => (detail("active")(request) ? fault : undefined);
    brand.change("opportunities", "paid", { title: "another" });
    for (const _day of [1, 2]) {
      const ran = await runSync(brand, "sync opportunities --details all");
      expect([ran.code, ran.details.length]).toEqual([code, detailRequests]);
      expect(ran.err).toContain(says);
    }
    expect(brand.sql("SELECT title FROM opportunities WHERE id = 'paid'")).toEqual([{ title: "another" }]);
    expect((await brand.run("verify opportunities")).code).toBe(8);
    brand.before = undefined;
    await runSync(brand);
    expect((await brand.run("verify opportunities")).code).toBe(0);
  });

  test("sync requests the details of up to four campaigns in parallel", async () => {
    const brand = makeBrand({ opportunities: Array.from({ length: 10 }, (_, n) => campaign(`c${n}`)) });
    let [now, most] = [0, 0];
    const fetch: typeof brand.fetch = async (url, init) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return await brand.fetch(url, init);
    };
    await brand.run("sync opportunities", { fetch });
    expect(most).toBe(4);
    expect(brand.sql("SELECT * FROM records WHERE detailed_at IS NOT NULL")).toHaveLength(10);
  });

  test("sync keeps the campaign details from an interrupted run for an hour, and then re-reads them", async () => {
    const brand = makeBrand({ opportunities: Array.from({ length: 20 }, (_, n) => campaign(`c${n}`)) });
    await runSync(brand);
    for (const [later, isOn] of [
      [minute, true],
      [2 * hour, false],
    ] as const) {
      brand.pass(day);
      let count = 0;
      const isTenth = ({ path }: SentRequest) => path.startsWith("/opportunities/") && ++count === 10;
      const began = at(brand.now());
      await brand.stopped("sync opportunities", isTenth);
      const fresh = brand.sql("SELECT * FROM records WHERE detailed_at >= ?", began).length;
      expect(fresh).toBeGreaterThan(5);
      expect((await runSync(brand, "sync opportunities", later)).details).toHaveLength(
        isOn ? 20 - fresh : 20,
      );
    }
  });
});

describe("syncs of survey results", () => {
  const surveys = ["s1", "s2"].map((id) => openRecord(id));
  const question = (id: string, share = 0.5) => ({ id, share });
  const results = { s1: [question("q1"), question("q2")], s2: [question("q1")] };
  const stored = (brand: TestBrand) =>
    brand
      .sql<{ it: string }>("SELECT survey_id || ' ' || coalesce(id, '') AS it FROM survey_results ORDER BY 1")
      .map(({ it }) => it);

  test("sync stores new and changed survey results, and removes results that the API no longer returns", async () => {
    const brand = makeBrand({ surveys, results });
    expect(await runSync(brand, "sync surveys")).toMatchObject({
      details: ["s1", "s2"],
      last: { verified: 1 },
    });
    brand.data.results = { ...results, s1: [question("q2", 0.7), question("q3")] };
    const { last } = await runSync(brand, "sync surveys");
    expect(last).toMatchObject({ rows_read: 5, rows_removed: 1, rows_new: 1 });
    expect(stored(brand)).toEqual(["s1 q2", "s1 q3", "s2 q1"]);
    expect(brand.sql("SELECT share FROM survey_results WHERE id = 'q2'")).toEqual([{ share: 0.7 }]);
    const sinceRun =
      "SELECT key FROM records WHERE resource = 'survey-results' AND since_at >= ? ORDER BY key";
    const changed = brand.sql<{ key: string }>(sinceRun, last.started_at).map(({ key }) => key);
    expect(changed).toEqual(["s1/q1", "s1/q2", "s1/q3"]);
  });

  test("sync removes a survey's results together with the survey", async () => {
    const brand = makeBrand({ surveys, results });
    await runSync(brand, "sync surveys");
    brand.remove("surveys", "s1");
    expect(await runSync(brand, "sync surveys")).toMatchObject({ code: 0, last: { rows_removed: 3 } });
    expect(stored(brand)).toEqual(["s2 q1"]);
  });

  test.each([
    ["an empty response", { body: '{"success":true,"data":[]}' }],
    ["a 404", { status: 404 }],
  ])("sync keeps a survey's results after %s, unless --accept-removals is given", async (_, fault) => {
    const brand = makeBrand({ surveys, results });
    await runSync(brand, "sync surveys");
    brand.before = ({ path }) => (path === "/surveys/s1/results" ? fault : undefined);
    brand.data.results = { ...results, s2: [question("q1", 0.9)] };
    const { code, err } = await runSync(brand, "sync surveys");
    expect(code).toBe(8);
    expect(err).toContain("no longer returns 2 of 2 mirrored records: nothing was removed");
    expect(err).toContain("`brandapi sync surveys --accept-removals`");
    expect(stored(brand)).toEqual(["s1 q1", "s1 q2", "s2 q1"]);
    expect(brand.sql("SELECT share FROM survey_results WHERE survey_id = 's2'")).toEqual([{ share: 0.9 }]);
    expect((await brand.run("verify surveys")).code).toBe(8);
    expect((await runSync(brand, "sync surveys --accept-removals")).code).toBe(0);
    expect(stored(brand)).toEqual(["s2 q1"]);
    expect((await brand.run("verify surveys")).code).toBe(0);
  });

  test("if a new field appears in the results of two surveys, sync stores the field even if it rejects the results of one of the surveys", async () => {
    const many = Array.from({ length: 30 }, (_, n) => question(`q${n}`));
    const brand = makeBrand({ surveys, results: { ...results, s1: many } });
    await runSync(brand, "sync surveys");
    const withMean = (id: string) => ({ ...question(id), mean: 3 });
    brand.data.results = { s1: [withMean("q0")], s2: [withMean("q1")] };
    const { code, err } = await runSync(brand, "sync surveys");
    expect(code).toBe(8);
    expect(err).toContain("no longer returns 29 of 30 mirrored records: nothing was removed");
    expect(brand.sql("SELECT survey_id, mean FROM survey_results WHERE mean IS NOT NULL")).toEqual([
      { survey_id: "s2", mean: 3 },
    ]);
  });

  test("sync prints a note if the API returns 404 for the results of a survey that has never had results", async () => {
    const brand = makeBrand({ surveys, results });
    brand.before = ({ path }) => (path === "/surveys/s1/results" ? { status: 404 } : undefined);
    const { code, err, last } = await runSync(brand, "sync surveys");
    expect([code, last.verified]).toEqual([0, 1]);
    expect(err).toContain("the API returned 404 for the details of 1 record");
  });

  test.each([
    ["a single object", { questions: 3 }, ["s1/#0"]],
    ["a list of scalars and null", [4, null, "x"], ["s1/#0", "s1/#1", "s1/#2"]],
    ["an empty list", [], []],
  ])("sync accepts survey results that the API returns as %s", async (_, shape, keys) => {
    const brand = makeBrand({ surveys: surveys.slice(0, 1), results: { s1: shape } });
    expect((await runSync(brand, "sync surveys")).code).toBe(0);
    expect(brand.mirrored("survey-results")).toEqual(keys);
    const texts = brand.sql<{ json: string }>("SELECT json FROM records WHERE resource = 'survey-results'");
    expect(texts.map(({ json }) => json)).toEqual([shape].flat().map((one) => JSON.stringify(one)));
  });

  test("sync reads all pages of survey results", async () => {
    const many = Array.from({ length: 60 }, (_, n) => question(`q${n}`));
    const brand = makeBrand({ surveys: surveys.slice(0, 1) });
    brand.before = ({ path, query }) => {
      if (path !== "/surveys/s1/results") return undefined;
      const [page, per_page] = [Number(query.page ?? 1), Number(query.per_page ?? 25)];
      const data = many.slice((page - 1) * per_page, page * per_page);
      const total_pages = Math.ceil(60 / per_page);
      const pagination = { page, per_page, total_items: 60, total_pages, has_next: page < total_pages };
      return {
        body: JSON.stringify({ success: true, data, pagination: { ...pagination, has_prev: page > 1 } }),
      };
    };
    expect((await runSync(brand, "sync surveys")).last).toMatchObject({ verified: 1 });
    expect(brand.mirrored("survey-results")).toHaveLength(60);
  });
});

test.each(["opportunities", "surveys"] as const)(
  "sync %s stores records with any ID, escapes IDs in request paths, and sends no request for an ID that a path cannot contain",
  async (list) => {
    const ids = ["a/b", "../me", "x?y#z", "..", "", "fine"];
    const records = ids.map((id) => (list === "surveys" ? openRecord(id) : campaign(id)));
    const brand = makeBrand({ [list]: records });
    brand.before = ({ path }) =>
      list === "opportunities" && path.startsWith("/opportunities/")
        ? { body: JSON.stringify({ success: true, data: campaign(decodeURIComponent(path.slice(15))) }) }
        : undefined;
    const { code, err, details } = await runSync(brand, `sync ${list}`);
    expect(code, err).toBe(0);
    expect(details).toEqual(["a/b", "../me", "x?y#z", "fine"].map(encodeURIComponent).sort());
    expect(brand.mirrored(list)).toEqual([...ids].sort());
  },
);
