import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import { inOrder } from "../../src/sync/in-order.js";
import { resourceOf } from "../support/mirror.js";
import { day, type Nights, nights, readsOf } from "../support/nights.js";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test("work is done four at a time, and handed over in order", async () => {
  const taken: number[] = [];
  let open = 0;
  let most = 0;
  await inOrder(
    numbers(11),
    async (item) => {
      open += 1;
      most = Math.max(most, open);
      await turns(item % 3);
      open -= 1;
      return item;
    },
    (result) => void taken.push(result),
  );
  expect(taken).toEqual(numbers(11));
  expect(most).toBe(4);
});

test("a failure is thrown when nothing is under way any more, and nothing more is begun", async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const all = inOrder(
    numbers(20),
    async (item) => {
      begun.push(item);
      if (item === 1) throw new Error("refused");
      await turns(5);
      ended.push(item);
    },
    () => {},
  );
  await expect(all).rejects.toThrow("refused");
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(ended).toEqual([0, 2, 3, 4]);
});

test("a task knows how many details are to come before the first of them is there", async () => {
  const opportunities = numbers(3).map(
    (n): JsonObject => ({
      id: `c${n}`,
      title: "T",
      status: "ACTIVE",
      created_at: "2026-01-01T00:00:00Z",
      updated_at: "2026-01-01T00:00:00Z",
    }),
  );
  const brand = await nights({ opportunities });
  const seen: string[] = [];
  brand.api.before = ({ path }) => void seen.push(path);
  const access = brand.access();
  const { begin } = access.reporter;
  access.reporter.begin = (task) => ({
    ...begin(task),
    update: ({ done, total }) => void seen.push(`${done}/${total}`),
  });
  expect((await syncResource(access, resourceOf("opportunities"))).error).toBeNull();
  const first = seen.indexOf("/opportunities/c0");
  expect(seen.slice(0, first)).toContain("1/4");
  expect(seen.at(-1)).toBe("4/4");
});

function breakAnswer(brand: Nights, answer: { status: number }): void {
  brand.api.before = ({ path }) => (path === "/opportunities/a" ? answer : undefined);
}

describe("the details of campaigns", () => {
  const campaign = (title: string, updated_at: string) => ({
    id: "c",
    title,
    status: "ARCHIVED",
    updated_at,
  });
  const titles = (brand: Nights) => brand.sql("SELECT title FROM opportunities");

  test("that are older than the list's record do not replace it, and are asked for again", async () => {
    const brand = await nights({ opportunities: [campaign("old", "2026-01-01T00:00:00Z")] });
    await brand.sync("opportunities");
    brand.pass(day);
    brand.api.records.opportunities = [campaign("new", "2026-11-20T00:00:00Z")];
    brand.api.answers["/opportunities/c"] = JSON.stringify(campaign("old", "2026-01-01T00:00:00Z"));
    const { failure, verified } = await brand.sync("opportunities");
    expect(String(failure)).toContain("the API's details of c are older than its list");
    expect(verified).toBe(false);
    expect(titles(brand)).toEqual([{ title: "new" }]);
    brand.api.answers = {};
    expect(await brand.sync("opportunities")).toMatchObject({ failure: null, verified: true });
    expect((await brand.verify("opportunities")).state).toBe("proven");
  });

  test("keep what only they have; what the list has no more is asked for", async () => {
    const listed = campaign("one", "2026-01-01T00:00:00Z");
    const brand = await nights({ opportunities: [{ ...listed, extra: "x" }] });
    const answer = (record: JsonObject) => {
      brand.api.answers["/opportunities/c"] = JSON.stringify(record);
    };
    const held = () =>
      JSON.parse(brand.sql<{ json: string }>("SELECT json FROM records")[0]?.json ?? "") as unknown;
    answer({ ...listed, extra: "x", brief: "long" });
    await brand.sync("opportunities");
    brand.pass(day);
    brand.api.records.opportunities = [listed];
    await brand.sync("opportunities", { details: "none" });
    expect(held()).toEqual({ ...listed, brief: "long" });
    answer({ ...listed, brief: "longer" });
    expect(await brand.sync("opportunities")).toMatchObject({ failure: null, verified: true });
    expect(held()).toEqual({ ...listed, brief: "longer" });
  });

  test("that were read are not told as stopped because the list never settled", async () => {
    const records = Array.from({ length: 5 }, (_, n) => ({
      ...campaign("T", "2026-01-01T00:00:00Z"),
      id: `c${n}`,
    }));
    const brand = await nights({ opportunities: records }, { mostPerPage: 2 });
    // One leaves before each second page, and comes back before the first.
    brand.api.before = ({ path, query }) => {
      if (path === "/opportunities")
        brand.api.records.opportunities = records.slice(query.page === "2" ? 1 : 0);
      return undefined;
    };
    expect(await brand.sync("opportunities")).toMatchObject({ outcome: "incomplete" });
    expect((await brand.run("status")).out).not.toContain("the next sync goes on there");
  });

  const three = ["a", "b", "c"].map((id) => ({ ...campaign("T", "2026-11-20T00:00:00Z"), id }));

  test.each<[string, number, (brand: Nights) => void]>([
    ["fail", 6, (brand) => breakAnswer(brand, { status: 500 })],
    [
      "are another campaign's",
      7,
      (brand) => {
        brand.api.answers["/opportunities/a"] = JSON.stringify(three[1]);
      },
    ],
    [
      "are no object",
      7,
      (brand) => {
        brand.api.answers["/opportunities/a"] = "null";
      },
    ],
  ])("that %s, of one campaign, keep no other's out: exit %d", async (_, exitCode, take) => {
    const brand = await nights({ opportunities: three });
    take(brand);
    const { failure, verified } = await brand.sync("opportunities");
    expect(failure).toMatchObject({ exitCode });
    expect(verified).toBe(false);
    const detailed = "SELECT key FROM records WHERE detailed_at IS NOT NULL ORDER BY key";
    expect(brand.sql(detailed)).toEqual([{ key: "b" }, { key: "c" }]);
    brand.api.before = () => undefined;
    brand.api.answers = {};
    expect(await brand.sync("opportunities")).toMatchObject({ failure: null, verified: true });
    expect(brand.sql(detailed)).toHaveLength(3);
  });

  test("that could not be read when they were due are not proven, and `--repair` asks for them", async () => {
    const brand = await nights({ opportunities: three.map((one) => ({ ...one, status: "ACTIVE" })) });
    await brand.sync("opportunities");
    brand.pass(day);
    breakAnswer(brand, { status: 500 });
    expect((await brand.sync("opportunities")).failure).toMatchObject({ exitCode: 6 });
    brand.api.before = undefined;
    expect(await brand.verify("opportunities")).toMatchObject({ state: "unproven", unread: 1 });
    expect((await brand.run("status")).out).toContain("the details of 1 opportunities were not read yet");
    expect(await brand.verify("opportunities", true)).toMatchObject({ state: "repaired", unread: 0 });
  });

  test("that a stopped run has read are not asked for again within the hour, which is said", async () => {
    const eight = [..."abcdefgh"].map((id) => ({
      ...campaign("T", "2026-11-20T00:00:00Z"),
      id,
      status: "ACTIVE",
    }));
    const brand = await nights({ opportunities: eight });
    await brand.sync("opportunities");
    brand.pass(day);
    await brand.broken("stopped", ({ path }) => path === "/opportunities/h", "opportunities");
    expect(await brand.verify("opportunities")).toMatchObject({ state: "unproven" });
    brand.pass(60_000);
    const { err } = await brand.run("sync opportunities");
    expect(err).toMatch(/goes on with the read begun .*: the details of [1-7] are already here/);
    expect(await brand.verify("opportunities")).toMatchObject({ state: "proven" });
  });

  test("that a stopped `--full` has not read again are proven as they were, and no plain night asks for them", async () => {
    const settled = [..."abcdefgh"].map((id) => ({ ...campaign("T", "2026-11-20T00:00:00Z"), id }));
    const brand = await nights({ opportunities: settled });
    await brand.sync("opportunities");
    brand.pass(day);
    const all = { full: true, details: "all" } as const;
    await brand.broken("stopped", ({ path }) => path === "/opportunities/e", "opportunities", all);
    expect(await brand.verify("opportunities")).toMatchObject({ state: "proven", unread: 0 });
    brand.pass(day);
    const { asked, verified } = await brand.sync("opportunities");
    expect(verified).toBe(true);
    expect(asked.filter(({ path }) => path !== "/opportunities")).toEqual([]);
  });

  test("that fail for a dozen campaigns, which come first each night, keep no other's out", async () => {
    const all = Array.from({ length: 30 }, (_, n) => ({
      ...campaign("T", "2026-11-20T00:00:00Z"),
      id: `c${n}`,
    }));
    const brand = await nights({ opportunities: all });
    for (let n = 3; n < 15; n += 1) brand.api.answers[`/opportunities/c${n}`] = "null";
    expect((await brand.sync("opportunities")).failure).toMatchObject({ exitCode: 7 });
    const detailed = () => brand.sql("SELECT key FROM records WHERE detailed_at IS NOT NULL");
    expect(detailed()).toHaveLength(18);
    brand.pass(day);
    brand.api.records.opportunities = all.map((one) => ({
      ...one,
      title: "new",
      updated_at: "2026-11-21T00:00:00Z",
    }));
    await brand.sync("opportunities");
    expect(brand.sql("SELECT id FROM opportunities WHERE title = 'new'")).toHaveLength(30);
    const old = "SELECT key FROM records WHERE detailed_at < '2026-11-22'";
    expect(brand.sql(old)).toEqual([]);
  });

  test("that fail for one campaign after the other are asked for no longer", async () => {
    const all = Array.from({ length: 60 }, (_, n) => ({
      ...campaign("T", "2026-11-20T00:00:00Z"),
      id: `c${n}`,
    }));
    const brand = await nights({ opportunities: all });
    let answered = 0;
    brand.api.before = ({ path }) => {
      if (!path.startsWith("/opportunities/")) return undefined;
      answered += 1;
      return answered > 5 ? { status: 500 } : undefined;
    };
    const { asked, failure } = await brand.sync("opportunities");
    expect(failure).toMatchObject({ exitCode: 6 });
    expect(new Set(asked.map(({ path }) => path)).size).toBeLessThan(25);
  });

  test("that nobody asked for prove nothing", async () => {
    const brand = await nights({ opportunities: [campaign("new", "2026-11-20T00:00:00Z")] });
    expect(await brand.sync("opportunities", { details: "none" })).toMatchObject({
      failure: null,
      verified: false,
    });
    expect(await brand.verify("opportunities")).toMatchObject({ state: "unproven", unread: 1 });
    expect((await brand.run("verify opportunities")).code).toBe(8);
    expect(await brand.verify("opportunities", true)).toMatchObject({ state: "repaired", unread: 0 });
    expect(await brand.verify("opportunities")).toMatchObject({ state: "proven", unread: 0 });
  });

  test("are read again by `--full`, settled ones too, unless it is told otherwise", async () => {
    const listed = campaign("one", "2026-01-01T00:00:00Z");
    const brand = await nights({ opportunities: [listed] });
    await brand.sync("opportunities");
    brand.api.answers["/opportunities/c"] = JSON.stringify({ ...listed, brief: "new" });
    const brief = () =>
      JSON.parse(brand.sql<{ json: string }>("SELECT json FROM records")[0]?.json ?? "").brief;
    expect((await brand.run("sync opportunities --full --details changed")).code).toBe(0);
    expect(brief()).toBeUndefined();
    expect((await brand.run("sync opportunities --full")).err).toContain("1 changed");
    expect(brief()).toBe("new");
  });

  test("that a clock that was ahead has read are asked for once the list has changed, and not before", async () => {
    const brand = await nights({ opportunities: [campaign("old", "2026-01-01T00:00:00Z")] });
    brand.pass(90 * day);
    await brand.sync("opportunities");
    brand.pass(-80 * day);
    expect(readsOf((await brand.sync("opportunities")).asked, "/opportunities/c")).toEqual([]);
    brand.api.records.opportunities = [campaign("new", "2026-11-20T00:00:00Z")];
    expect(readsOf((await brand.sync("opportunities")).asked, "/opportunities/c")).toHaveLength(1);
    expect((await brand.verify("opportunities")).state).toBe("proven");
  });

  test("do not speak for what the list shows: that was last seen when the list was", async () => {
    const brand = await nights({ opportunities: [campaign("t0", "2026-01-01T00:00:00Z")] });
    await brand.sync("opportunities");
    brand.pass(day);
    brand.api.records.opportunities = [campaign("t1", "2026-01-02T00:00:00Z")];
    await brand.sync("opportunities", { details: "none" });
    const readAt = brand.now();
    brand.pass(day);
    brand.api.answers["/opportunities/c"] = JSON.stringify(campaign("t2", "2026-01-03T00:00:00Z"));
    await brand.sync("opportunities");
    const seen = brand.sql<{ at: string }>(
      "SELECT last_seen_unchanged_at AS at FROM changes WHERE new = 't2'",
    );
    expect(seen.map(({ at }) => Math.abs(Date.parse(at) - readAt) < day / 2)).toEqual([true]);
  });

  test("were last seen unchanged when they were last read, whenever the list was", async () => {
    const brand = await nights({});
    const show = (listed: JsonObject, brief: string) => {
      brand.api.records.opportunities = [listed];
      brand.api.answers["/opportunities/c"] = JSON.stringify({ ...listed, brief });
    };
    show(campaign("one", "2026-01-01T00:00:00Z"), "long");
    await brand.sync("opportunities");
    const readAt = brand.now();
    brand.pass(day);
    show(campaign("two", "2026-01-02T00:00:00Z"), "longer");
    await brand.sync("opportunities", { details: "none" });
    brand.pass(day);
    await brand.sync("opportunities");
    const seen = brand.sql<{ at: string }>(
      "SELECT last_seen_unchanged_at AS at FROM changes WHERE field = 'brief'",
    );
    expect(seen.map(({ at }) => Math.abs(Date.parse(at) - readAt) < day / 2)).toEqual([true]);
  });

  test("of a change that a clock that was ahead has noted, and nobody read, are asked for", async () => {
    const brand = await nights({ opportunities: [campaign("old", "2026-01-01T00:00:00Z")] });
    await brand.sync("opportunities");
    brand.pass(4 * day);
    brand.api.records.opportunities = [campaign("new", "2026-11-20T00:00:00Z")];
    await brand.sync("opportunities", { details: "none" });
    brand.pass(-3 * day);
    expect(readsOf((await brand.sync("opportunities")).asked, "/opportunities/c")).toHaveLength(1);
  });

  test("of a change that a clock that was behind has noted, and nobody read, are asked for", async () => {
    const brand = await nights({ opportunities: [campaign("old", "2026-01-01T00:00:00Z")] });
    await brand.sync("opportunities");
    brand.pass(-day);
    brand.api.records.opportunities = [campaign("new", "2026-11-20T00:00:00Z")];
    await brand.broken("stopped", ({ path }) => path === "/opportunities/c", "opportunities");
    expect(await brand.verify("opportunities")).toMatchObject({ unread: 1 });
    brand.pass(2 * day);
    for (const times of [1, 0])
      expect(readsOf((await brand.sync("opportunities")).asked, "/opportunities/c")).toHaveLength(times);
    expect(await brand.verify("opportunities")).toMatchObject({ state: "proven", unread: 0 });
  });

  test("that say it is settled are asked for again while the list says that it is not", async () => {
    const listed = { ...campaign("one", "2026-01-01T00:00:00Z"), status: "ACTIVE" };
    const brand = await nights({ opportunities: [listed] });
    const asked = async () => readsOf((await brand.sync("opportunities")).asked, "/opportunities/c").length;
    brand.api.answers["/opportunities/c"] = JSON.stringify({ ...listed, status: "DECLINED" });
    expect([await asked(), await asked()]).toEqual([1, 1]);
    expect(brand.sql("SELECT status FROM opportunities")).toEqual([{ status: "DECLINED" }]);
    brand.api.answers = {};
    expect(await asked()).toBe(1);
    expect(brand.sql("SELECT status FROM opportunities")).toEqual([{ status: "ACTIVE" }]);
  });

  test("that say all is paid settle what the list says is completed", async () => {
    const listed = { ...campaign("one", "2026-01-01T00:00:00Z"), status: "COMPLETED" };
    const assignment = {
      id: "a",
      status: "COMPLETED",
      brand_payment_state: "PAID",
      athlete_payment_state: "PAID",
    };
    const brand = await nights({ opportunities: [listed] });
    brand.api.answers["/opportunities/c"] = JSON.stringify({ ...listed, assignments: [assignment] });
    await brand.sync("opportunities");
    expect(readsOf((await brand.sync("opportunities")).asked, "/opportunities/c")).toEqual([]);
  });

  test("that are not there for one survey of two leave nothing unread", async () => {
    const brand = await nights({ surveys: [{ id: "s" }, { id: "t" }], results: { s: '[{"id":"r"}]' } });
    expect(await brand.sync("surveys")).toMatchObject({ failure: null, verified: true });
    expect(await brand.verify("surveys")).toMatchObject({ state: "proven", unread: 0 });
  });
});

describe("the results of surveys", () => {
  const names = [..."abcdef"];
  const two = '[{"id":"r1"},{"id":"r2"}]';
  const surveys = (title: string) => names.map((id) => ({ id, title }));
  const brandOf = async () =>
    await nights({
      surveys: surveys("old"),
      results: Object.fromEntries(names.map((name) => [name, two])),
    });
  const ofA = (brand: Nights) => brand.mirrored("survey-results").filter((key) => key.startsWith("a/"));

  test.each([
    ["one that is gone is removed", '[{"id":"r1"}]', null, ["a/r1"]],
    [
      "none that are left are said",
      "[]",
      "/surveys/a/results: the API answers with nothing",
      ["a/r1", "a/r2"],
    ],
  ])("what a stopped run learned, the next one acts on: %s", async (_, results, said, left) => {
    const brand = await brandOf();
    await brand.sync("surveys");
    brand.pass(day);
    brand.api.records.surveys = surveys("new");
    brand.api.records.results.a = results;
    await brand.broken("stopped", ({ path }) => path === "/surveys/f/results", "surveys");
    expect(ofA(brand)).toEqual(["a/r1", "a/r2"]);
    brand.pass(600_000);
    const { failure, verified } = await brand.sync("surveys");
    if (said === null) expect(failure).toBeNull();
    else expect(String(failure)).toContain(said);
    expect(verified).toBe(said === null);
    expect(ofA(brand)).toEqual(left);
    expect(await brand.verify("surveys")).toMatchObject({ unread: said === null ? 0 : 1 });
  });

  test.each([
    ["has them", undefined, null],
    ["is 404", { status: 404 }, "/surveys/a/results: the API answers 404: nothing was removed"],
  ])("that one answer leaves out are not removed where the next one %s", async (_, answer, said) => {
    const brand = await brandOf();
    await brand.sync("surveys");
    brand.pass(day);
    brand.api.records.results.a = '[{"id":"r1"}]';
    let asked = 0;
    brand.api.before = ({ path }) => {
      if (path !== "/surveys/a/results") return undefined;
      asked += 1;
      if (asked !== 2) return undefined;
      brand.api.records.results.a = two;
      return answer;
    };
    const { failure, rows_removed, verified } = await brand.sync("surveys");
    expect(String(failure)).toContain(said ?? "null");
    expect({ rows_removed, verified }).toEqual({ rows_removed: 0, verified: said === null });
    expect(ofA(brand)).toEqual(["a/r1", "a/r2"]);
  });

  test("that is gone go with it, although no other has any", async () => {
    const brand = await nights({
      surveys: [{ id: "a" }, { id: "b" }],
      results: { a: "[]", b: two },
    });
    await brand.sync("surveys");
    brand.api.records.surveys = [{ id: "a" }];
    expect(await brand.sync("surveys")).toMatchObject({ failure: null, verified: true, rows_removed: 3 });
    expect(brand.mirrored("survey-results")).toEqual([]);
  });
});
