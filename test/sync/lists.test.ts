import { describe, expect, test } from "vitest";
import { makeBrand, type SentRequest, type TestBrand } from "../support/brand.js";
import { at, day, memberOf, openRecord } from "../support/records.js";

const members = Array.from({ length: 60 }, (_, n) => memberOf(`r${n}`));
const gifts = Array.from({ length: 60 }, (_, n) => openRecord(`g${n}`, { state: "sent" }));
const page =
  (path: string, number: number) =>
  ({ path: requests, query }: SentRequest) =>
    requests === path && query.page === String(number);
const requestsFor = (requests: readonly SentRequest[], path: string) =>
  requests.filter((one) => one.path === path).map(({ query }) => query);

async function runNextDay(brand: TestBrand, command: string) {
  brand.pass(day);
  const { requests, code, err } = await brand.run(command);
  return { requests, code, err, last: brand.lastRun(command.split(" ")[1]) };
}

describe("syncs of the roster", () => {
  test("sync removes the record of a host who leaves the roster, and adds a new record when the host rejoins", async () => {
    const brand = makeBrand({ roster: members.slice(0, 4) });
    await brand.run("sync roster");
    brand.leave("h-r2");
    expect((await runNextDay(brand, "sync roster")).last).toMatchObject({ verified: 1, rows_removed: 1 });
    brand.add("roster", { ...memberOf("r2"), relationship_id: "again" });
    expect((await runNextDay(brand, "sync roster")).last).toMatchObject({ verified: 1, rows_new: 1 });
    expect(brand.mirrored("roster")).toEqual(["again", "r0", "r1", "r3"]);
    expect(
      brand.sql("SELECT key, removed_at IS NULL AS here FROM records WHERE json LIKE '%h-r2%' ORDER BY key"),
    ).toEqual([
      { key: "again", here: 1 },
      { key: "r2", here: 0 },
    ]);
  });

  test("sync reads each page of the roster once if no record is missing", async () => {
    const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
    await brand.run("sync roster");
    expect(requestsFor((await runNextDay(brand, "sync roster")).requests, "/roster")).toHaveLength(3);
  });

  test("sync does not remove a host who moves to a roster page that has already been read", async () => {
    const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
    await brand.run("sync roster");
    let happened = "";
    brand.once(page("/roster", 2), () => {
      happened = new Date(brand.now()).toISOString();
      brand.remove("roster", "r0");
      brand.data.roster = [...brand.data.roster, memberOf("new")];
    });
    const { requests, last } = await runNextDay(brand, "sync roster");
    expect(requestsFor(requests, "/roster")).toHaveLength(6);
    expect(last).toMatchObject({ verified: 1, rows_removed: 0 });
    expect(brand.mirrored("roster")).toContain("r20");
    // The first read still contained `r0`, so `r0` is not removed until the next run.
    const [claim] = brand.sql<{ to_at: string }>("SELECT to_at FROM coverage WHERE resource = 'roster'");
    expect(claim && claim.to_at < happened).toBe(true);
    await runNextDay(brand, "sync roster");
    expect(brand.mirrored("roster")).toEqual(brand.data.roster.map((one) => one.relationship_id).sort());
  });

  test("if sync combines two reads of the roster, it marks the roster as complete as of the time of the first read", async () => {
    const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
    const readAt: string[] = [];
    const swap = (first: number, second: number) => {
      brand.data.roster = brand.data.roster.map(
        (member, n, all) => all[n === first ? second : n === second ? first : n] ?? member,
      );
    };
    brand.before = ({ path, query }) => {
      if (path === "/roster" && query.page === "1") readAt.push(at(brand.now()));
      // During each read, a host on the second page trades places with a host on the first page, so each read misses
      // one of the two hosts.
      if (path === "/roster" && query.page === "2") swap(20 - readAt.length, 19 + readAt.length);
      return undefined;
    };
    await brand.run("sync roster");
    expect(brand.mirrored("roster")).toHaveLength(60);
    const [claim] = brand.sql<{ to_at: string }>("SELECT to_at FROM coverage WHERE resource = 'roster'");
    expect(readAt).toHaveLength(2);
    expect(claim && claim.to_at < String(readAt[0])).toBe(true);
  });

  test.each([
    ["joins", (brand: TestBrand) => brand.add("roster", memberOf("new"))],
    ["leaves", (brand: TestBrand) => brand.remove("roster", "r3")],
  ])("sync re-reads the roster if a host %s while the roster is being read", async (_, happens) => {
    const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
    brand.once(page("/roster", 2), () => void happens(brand));
    expect(await runNextDay(brand, "sync roster")).toMatchObject({ code: 0, last: { verified: 1 } });
    expect(brand.mirrored("roster")).toEqual(brand.data.roster.map((one) => one.relationship_id).sort());
  });

  test("sync exits with code 8 if the roster has more pages than the API returns", async () => {
    const brand = makeBrand({ roster: members });
    brand.before = ({ path, query }) =>
      path !== "/roster"
        ? undefined
        : {
            envelope: (one) => ({
              ...one,
              data: query.page === "1" ? one.data : [],
              pagination: {
                ...(one.pagination as object),
                page: Number(query.page),
                total_items: 1_000_001,
                total_pages: 10_001,
                has_next: true,
              },
            }),
          };
    const { code, err } = await brand.run("sync roster");
    expect([code, brand.lastRun("roster").outcome]).toEqual([8, "incomplete"]);
    expect(err).toContain("has 10001 pages, which is more than the API can return");
  });
});

test("sync stores a host's recommendations as one record, and replaces the products when they change", async () => {
  const brand = makeBrand({ history: 20 });
  await brand.run("sync recommendations");
  const hostId = brand.data.recommendations[0]?.host.id ?? "";
  const mirrored = () =>
    brand.sql<{ id: string }>("SELECT id FROM recommendation_products WHERE host_id = ?", hostId);
  const products = [{ id: "p2", title: "Another" }];
  brand.change("recommendations", hostId, { product_count: 1, products });
  await runNextDay(brand, "sync recommendations");
  expect(mirrored()).toEqual([{ id: "p2" }]);
  brand.remove("recommendations", hostId);
  expect((await runNextDay(brand, "sync recommendations")).last).toMatchObject({
    verified: 1,
    rows_removed: 1,
  });
  expect(brand.mirrored("recommendations")).not.toContain(hostId);
});

describe("a list with undocumented pagination", () => {
  test.each([
    ["25 records in one request without parameters", 25, {}, [{}]],
    [
      "60 records in pages if the first response indicates more records",
      60,
      {},
      [{}, { page: "1", per_page: "100" }],
    ],
    ["60 records in one response", 60, { undocumentedLists: "complete" }, [{}]],
  ] as const)("sync reads a list with undocumented pagination: %s", async (_, count, variants, requests) => {
    const brand = makeBrand({ codes: gifts.slice(0, count), variants });
    expect(requestsFor((await brand.run("sync codes")).requests, "/codes")).toEqual(requests);
    expect(brand.lastRun("codes")).toMatchObject({ verified: 1 });
    expect(brand.mirrored("codes")).toHaveLength(count);
  });

  test("sync --dry-run prints a list's length, unless the list's pagination is undocumented", async () => {
    const brand = makeBrand({ roster: members, gifts });
    const { out, requests } = await brand.run("sync roster gifts --dry-run");
    expect(out).toContain("roster: the whole list: 60 records (1 request)\n");
    expect(out).toContain("gifts: the whole list, whose length is unknown (1 request or more)\n");
    expect(requests.map(({ path }) => path)).toEqual(["/me", "/roster"]);
  });

  test("sync omits `per_page` if the API rejects it", async () => {
    const brand = makeBrand({ gifts });
    brand.before = ({ query }) => (query.per_page ? { status: 400 } : undefined);
    const { requests, code } = await brand.run("sync gifts");
    expect(code).toBe(0);
    expect(requestsFor(requests, "/gifts").slice(2)).toEqual([{ page: "1" }, { page: "2" }, { page: "3" }]);
    expect(brand.mirrored("gifts")).toHaveLength(60);
  });

  test("sync exits with code 8 if the first response indicates further pages but the API rejects all requests for them", async () => {
    const brand = makeBrand({ gifts: [{ title: "without ID" } as never, ...gifts] });
    brand.before = ({ query }) => (query.page ? { status: 400 } : undefined);
    const { code, err } = await brand.run("sync gifts");
    expect(code).toBe(8);
    expect(err).toContain("the API counts 61, but returned 25 distinct records");
    // A record's position does not identify it if the list is incomplete.
    expect(brand.mirrored("gifts")).toEqual(
      gifts
        .slice(0, 24)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test("sync identifies records without IDs by their position, and stores duplicates", async () => {
    const rows = ["a", "b", "a"].map((title) => ({ title }));
    const brand = makeBrand({ gifts: rows as never, variants: { undocumentedLists: "complete" } });
    expect(await runNextDay(brand, "sync gifts")).toMatchObject({ code: 0, last: { verified: 1 } });
    expect(brand.sql("SELECT key, json FROM records ORDER BY key")).toEqual([
      { key: "#0", json: '{"title":"a"}' },
      { key: "#1", json: '{"title":"b"}' },
      { key: "#2", json: '{"title":"a"}' },
    ]);
    brand.data.gifts = brand.data.gifts.slice(0, 2);
    await runNextDay(brand, "sync gifts");
    expect(brand.mirrored("gifts")).toEqual(["#0", "#1"]);
  });

  test("sync stores every record even if a record without an ID is added while the list is being read", async () => {
    const rows = Array.from({ length: 45 }, (_, n) => ({ title: `t${n}` }));
    const brand = makeBrand({ gifts: rows as never, variants: { maxPerPage: 20 } });
    brand.once(page("/gifts", 2), () => void brand.add("gifts", { title: "new" } as never));
    expect(await runNextDay(brand, "sync gifts")).toMatchObject({ code: 0, last: { verified: 1 } });
    const stored = brand.sql<{ title: string }>("SELECT json ->> 'title' AS title FROM records");
    expect(new Set(stored.map(({ title }) => title)).size).toBe(46);
  });

  test("sync stores numeric IDs as strings, and exits with code 7 if an ID is too large for a double", async () => {
    const brand = makeBrand({ codes: [openRecord(7), openRecord(9_007_199_254_740_991)] });
    await brand.run("sync codes");
    expect(brand.mirrored("codes")).toEqual(["7", "9007199254740991"]);
    brand.before = ({ path }) =>
      path === "/codes"
        ? { body: '{"success":true,"data":[{"id":1},{"id":12345678901234567890}]}' }
        : undefined;
    const { code, err } = await runNextDay(brand, "sync codes");
    expect(code).toBe(7);
    expect(err).toContain("too many digits");
    expect(brand.mirrored("codes")).toEqual(["7", "9007199254740991"]);
  });

  test("sync exits with code 7 if a nested object has an ID that a double cannot represent", async () => {
    const brand = makeBrand({});
    brand.before = ({ path }) =>
      path === "/codes"
        ? { body: '{"success":true,"data":[{"id":"a","host":{"id":12345678901234567890}}]}' }
        : undefined;
    const { code, err } = await brand.run("sync codes");
    expect([code, err]).toEqual([7, expect.stringContaining("too many digits")]);
    expect(brand.mirrored("codes")).toEqual([]);
  });

  test.each([
    ["a single object instead of an array", { id: "only", rate: 5 }, ["only"]],
    ["a single object without an ID instead of an array", { rate: 5 }, ["#0"]],
    [
      "an array of strings, numbers, null and arrays",
      ["a", 7, null, ["b"], true],
      ["#0", "#1", "#2", "#3", "#4"],
    ],
    [
      "an array of objects whose IDs are objects or empty strings",
      [{ id: { n: 1 } }, { id: "" }],
      ["", "#0"],
    ],
  ])(
    "if the response for an undocumented list contains %s, sync stores every value",
    async (_, data, keys) => {
      const brand = makeBrand();
      brand.before = ({ path }) =>
        path === "/gifts" ? { body: JSON.stringify({ success: true, data }) } : undefined;
      const { code, err } = await brand.run("sync gifts");
      expect(code, err).toBe(0);
      expect(brand.mirrored("gifts")).toEqual(keys);
      const { out } = await brand.run("export gifts --ndjson");
      expect(new Set(out.trim().split("\n"))).toEqual(
        new Set([data].flat().map((one) => JSON.stringify(one))),
      );
    },
  );
});

describe("implausible removals", () => {
  test.each(["roster", "gifts"] as const)(
    "if the API returns an empty list for %s, sync removes no records unless --accept-removals is given",
    async (list) => {
      const brand = makeBrand({ roster: members.slice(0, 3), gifts: gifts.slice(0, 3) });
      await brand.run(`sync ${list}`);
      brand.once(
        ({ path }) => path === `/${list}`,
        () => ({ from: { ...brand.data, [list]: [] } }),
      );
      expect(await runNextDay(brand, `sync ${list}`)).toMatchObject({ code: 0, last: { rows_removed: 0 } });
      brand.data[list] = [];
      const { code, err } = await runNextDay(brand, `sync ${list}`);
      expect(code).toBe(8);
      expect(err).toContain("no longer returns 3 of 3 mirrored records: nothing was removed");
      expect(brand.mirrored(list)).toHaveLength(3);
      expect((await runNextDay(brand, `sync ${list} --accept-removals`)).code).toBe(0);
      expect(brand.mirrored(list)).toEqual([]);
    },
  );

  test.each([
    [1, 1, "removes no hosts", 8],
    [20, 21, "removes no hosts", 8],
    [10, 21, "removes the absent hosts", 0],
    [11, 21, "removes no hosts", 8],
    [15, 20, "removes the absent hosts", 0],
  ])(
    "if the API no longer returns %i of %i hosts, sync %s and exits with code %i",
    async (gone, of, _, code) => {
      const brand = makeBrand({ roster: members.slice(0, of) });
      await brand.run("sync roster");
      brand.data.roster = brand.data.roster.slice(gone);
      expect((await runNextDay(brand, "sync roster")).code).toBe(code);
      expect(brand.mirrored("roster")).toHaveLength(code === 0 ? of - gone : of);
    },
  );

  test("if sync holds back removals, the next sync removes only the records that are still absent", async () => {
    const brand = makeBrand({ gifts: gifts.slice(0, 30) });
    await brand.run("sync gifts");
    const gone = brand.remove("gifts", ...gifts.slice(0, 20).map(({ id }) => String(id)));
    expect((await runNextDay(brand, "sync gifts")).code).toBe(8);
    brand.add("gifts", ...gone.slice(0, 15));
    expect(await runNextDay(brand, "sync gifts")).toMatchObject({ code: 0, last: { rows_removed: 5 } });
    expect(brand.mirrored("gifts")).toHaveLength(25);
  });
});

describe("a list whose order changes", () => {
  const hosts = Array.from({ length: 340 }, (_, n) => memberOf(`r${n}`));

  test("if a list's order changes during every read, sync merges several reads and verifies the list", async () => {
    const brand = makeBrand({ roster: hosts, variants: { ties: "random" } });
    for (const _ of [1, 2]) {
      expect(await runNextDay(brand, "sync roster")).toMatchObject({
        code: 0,
        last: { verified: 1, rows_read: 340 },
      });
      expect(brand.mirrored("roster")).toHaveLength(340);
    }
    brand.leave("h-r7");
    expect((await runNextDay(brand, "sync roster")).last).toMatchObject({ verified: 1, rows_removed: 1 });
  });
});

test("sync stores a list that changes during every read, but removes nothing", async () => {
  const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
  brand.before = ({ path, query }) => {
    if (path === "/roster" && query.page === "2") brand.leave(brand.data.roster[0]?.host.id ?? "");
    return undefined;
  };
  const { code, err } = await runNextDay(brand, "sync roster");
  expect(code).toBe(8);
  expect(err).toContain("never settled");
  const listed = brand.data.roster.map(({ relationship_id }) => relationship_id);
  expect(brand.mirrored("roster")).toEqual(expect.arrayContaining(listed));
});

test("if the roster lists a host twice, sync warns and stores only one copy", async () => {
  const brand = makeBrand({ roster: members, variants: { maxPerPage: 20 } });
  brand.data.roster = [...members, memberOf("r3", { commission_rate: 20 })];
  for (const _ of [1, 2, 3]) {
    const { code, err, last } = await runNextDay(brand, "sync roster");
    expect([code, last.verified], err).toEqual([0, 0]);
    expect(err).toContain("warning: roster: the API lists `r3` more than once");
  }
  expect(brand.mirrored("roster")).toHaveLength(60);
  expect(brand.sql("SELECT * FROM changes")).toEqual([]);
});

describe("record counts in `sync_runs` after a sync of a list", () => {
  const totals = (brand: TestBrand, resource: string) => {
    const { api_total, differing, mirror_total } = brand.lastRun(resource);
    return { api_total, mirror_total, differing };
  };

  test("after a complete read of a list, the sync's row in `sync_runs` contains equal record counts for the API and the mirror", async () => {
    const brand = makeBrand({ history: 200, gifts });
    await brand.run("sync roster gifts opportunities surveys analytics-hosts");
    for (const resource of ["roster", "gifts", "opportunities", "surveys", "analytics-hosts"]) {
      const count = brand.mirrored(resource).length;
      expect(count).toBeGreaterThan(0);
      expect(totals(brand, resource)).toEqual({ api_total: count, mirror_total: count, differing: 0 });
    }
  });

  test("if sync holds back removals, the sync's row in `sync_runs` still contains the record counts of the API and the mirror", async () => {
    const brand = makeBrand({ roster: members });
    await brand.run("sync roster");
    brand.data.roster = members.slice(0, 20);
    expect((await runNextDay(brand, "sync roster")).code).toBe(8);
    expect(totals(brand, "roster")).toEqual({ api_total: 20, mirror_total: 60, differing: 1 });
    await runNextDay(brand, "sync roster --accept-removals");
    expect(totals(brand, "roster")).toEqual({ api_total: 20, mirror_total: 20, differing: 0 });
  });

  test("if a list changes during every read, the sync's row in `sync_runs` still contains the record counts of the API and the mirror", async () => {
    const brand = makeBrand({ roster: members, variants: { maxTotal: 25 } });
    expect((await runNextDay(brand, "sync roster")).code).toBe(8);
    expect(totals(brand, "roster")).toMatchObject({ api_total: 25, differing: 1 });
    expect(totals(brand, "roster").mirror_total).toBe(brand.mirrored("roster").length);
  });
});
