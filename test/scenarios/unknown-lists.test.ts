import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";

type Answer = {
  status?: number;
  data?: unknown;
  items?: readonly unknown[];
  perPage?: number;
  /** `total_items` counts the page only. */
  isShort?: boolean;
};
type Answers = Record<string, Answer>;

const scopes = ["opportunities:read", "gifts:read", "codes:read", "surveys:read"];

/** An API with a few answers; lists given as `items` are paged, 25 a page unless told otherwise. */
async function brand(answers: Answers) {
  const hooks: { before?: ((path: string, page: number) => void) | undefined } = {};
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://fake");
    const path = url.pathname.replace("/api/brand/v1", "");
    asked.push(path + url.search);
    const page = Number(url.searchParams.get("page") ?? 1);
    hooks.before?.(path, url.searchParams.has("per_page") ? page : 0);
    const me: Answer = {
      data: { brand: { id: "b", name: "B" }, key: { id: "k", scopes, expires_at: "2030-01-01T00:00:00Z" } },
    };
    const answer = path === "/me" ? me : (answers[path] ?? { status: 404 });
    response.writeHead(answer.status ?? 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: true, ...body(answer, page, url.searchParams.get("per_page")) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const home = makeHome();
  const db = join(home, "mirror.sqlite");
  const env = {
    BRANDAPI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/brand/v1`,
    BRANDAPI_KEY: "key",
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: db,
  };
  return {
    answers,
    asked,
    hooks,
    run: (command: string | readonly string[]) => brandapi(command, { home, env }),
    rows(query: string) {
      const mirror = new Sqlite(db, { readonly: true });
      try {
        return mirror.prepare(query).raw().all() as unknown[][];
      } finally {
        mirror.close();
      }
    },
  };
}

function body({ data, items, perPage: most = 100, isShort }: Answer, page: number, asked: string | null) {
  if (!items) return { data };
  const perPage = Math.min(Number(asked ?? 25), most);
  const pages = Math.ceil(items.length / perPage);
  const shown = items.slice((page - 1) * perPage, page * perPage);
  const counts = isShort
    ? { total_items: shown.length, total_pages: 1 }
    : { total_items: items.length, total_pages: pages };
  const pagination = { page, per_page: perPage, ...counts };
  const ends = { has_next: page < pages, has_prev: page > 1 };
  return {
    data: shown,
    pagination: { ...pagination, ...ends },
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `g${n}` }));
const present = "SELECT count(*) FROM records WHERE resource = 'gifts' AND removed_at IS NULL";

test("a list that announces pages and refuses to be asked for them: what it gave is kept, the run is incomplete", async () => {
  const { answers, asked, hooks, run, rows } = await brand({ "/gifts": { items: numbered(60) } });
  const { "/gifts": gifts } = answers;
  hooks.before = (path) => {
    if (path !== "/gifts" || !gifts) return;
    answers[path] = asked.at(-1)?.includes("page=") ? { status: 400 } : gifts;
  };

  const { code, err } = await run("sync gifts");

  expect(code, err).toBe(8);
  expect(err).toContain("25 distinct records were found where the API counts 60");
  expect(rows(present)).toEqual([[25]]);
  expect(asked.filter((one) => one.startsWith("/gifts"))).toHaveLength(3);
});

test("one object that says of itself that there is more is kept, and is not all there is", async () => {
  const pagination = { page: 1, per_page: 25, total_items: 60, total_pages: 3, has_next: true };
  const { answers, run, rows } = await brand({
    "/gifts": { data: { gifts: numbered(25), pagination } },
  });
  const { code, err } = await run("sync gifts");
  expect(code, err).toBe(8);
  expect(err).toContain("1 distinct records were found where the API counts 60");
  expect(rows(present)).toEqual([[1]]);
  expect((await run("verify gifts")).code).toBe(8);
  answers["/gifts"] = { data: { gifts: numbered(60), pagination: { ...pagination, has_next: false } } };
  expect((await run("sync gifts")).err).toContain("verified");
});

test("a list whose total is that of the page, and that has a next one, is not taken for whole", async () => {
  const { run } = await brand({ "/gifts": { items: numbered(160), isShort: true } });
  const { code, err } = await run("sync gifts");
  expect(code, err).toBe(7);
  expect(err).toContain("says that page 1 of 1 has a next one");
});

describe("records of which no form is documented", () => {
  const odd: [string, unknown[]][] = [
    ["a number and its text", [{ id: 1 }, { id: "1" }]],
    ["true and its text", [{ id: true }, { id: "true" }]],
    ["an object, a list and their texts", [{ id: { a: 1 } }, { id: '{"a":1}' }, { id: [1] }, { id: "[1]" }]],
    ["texts that look like the mirror's own keys", [{ id: "#1" }, { n: 1 }, { id: "" }, { id: '""' }]],
    ["a text with a repeat's mark", [{ id: "a" }, { id: "a", n: 2 }, { id: "a#2" }]],
    ["the same id three times", [{ id: "a" }, { id: "a" }, { id: "a", n: 3 }]],
    ["no ids, null and missing", [{ id: null }, {}, {}, "a", 7, null, [1]]],
    ["halves of characters", [{ id: "\ud800" }, { id: "\ud801" }, { id: "\ufffd" }]],
  ];
  test.each(odd)("%s: each is kept, and a second sync changes nothing", async (_, data) => {
    const { run, rows } = await brand({ "/gifts": { data } });
    const first = await run("sync gifts");
    expect(first.code, first.err).toBe(0);
    const ids = new Set(data.map((one) => JSON.stringify((one as { id?: unknown } | null)?.id ?? {})));
    const repeats = data.filter((one) => (one as { id?: unknown } | null)?.id != null).length > ids.size;
    expect(first.err.includes("have the same id")).toBe(repeats);
    const { out } = await run("export gifts --ndjson");
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(data);
    const second = await run("sync gifts");
    expect(second.err).toMatch(/0 new, 0 changed, 0 removed/);
    expect(second.err).not.toContain("warning");
    expect(rows(present)).toEqual([[data.length]]);
    expect((await run("verify gifts")).code).toBe(0);
  });

  test("ids that come twice are said once", async () => {
    const { run } = await brand({ "/gifts": { data: [{ id: "a" }, { id: "a" }] } });
    expect(
      (await run("sync gifts")).err.match(/several records of one answer have the same id/g),
    ).toHaveLength(1);
  });

  test("in pages: ids that come twice are two records once the list stands still", async () => {
    const items = [...numbered(60), { id: "g3", n: 2 }];
    const { run, rows } = await brand({ "/gifts": { items } });
    expect((await run("sync gifts")).code).toBe(0);
    expect(rows(present)).toEqual([[61]]);
    expect((await run("sync gifts")).err).toMatch(/0 new, 0 changed, 0 removed/);
  });

  test("surveys and results whose ids hold slashes or other types never share a row", async () => {
    const results = (n: number) => ({ data: [{ id: "x", n }] });
    const { run, rows } = await brand({
      "/surveys": { data: [{ id: "a" }, { id: "a/b" }, { id: 1 }, { id: "1" }, { id: ".." }, { no: 1 }] },
      "/surveys/a/results": { data: [{ id: "b/x", n: 1 }] },
      "/surveys/a%2Fb/results": results(2),
      "/surveys/1/results": results(3),
    });
    const { code, err } = await run("sync surveys");
    expect(code, err).toBe(0);
    expect(err).toContain("2 records without an id that more could be asked by");
    expect(rows("SELECT survey_id, n FROM survey_results ORDER BY record_id")).toEqual([
      ["a", 1],
      ["a/b", 2],
      ["1", 3],
      ["1", 3],
    ]);
    expect((await run("sync surveys")).err).toMatch(/0 new, 0 changed, 0 removed/);
  });
});

describe("an answer of another form than before", () => {
  const changed: [string, unknown[], unknown][] = [
    ["one object", numbered(3), { error: "maintenance" }],
    ["an empty object", numbered(3), {}],
    ["the list in an object", numbered(3), { gifts: numbered(3) }],
    ["one record", numbered(1), { id: "other" }],
    ["a list without ids", numbered(3), ["maintenance"]],
    ["one object, without ids before", [{ n: 1 }, { n: 2 }], { error: "maintenance" }],
  ];
  test.each(changed)("%s: removes and overwrites nothing, and exit 8 says so", async (_, before, after) => {
    const { answers, run } = await brand({ "/gifts": { data: before } });
    expect((await run("sync gifts")).code).toBe(0);
    const exported = (await run("export gifts --json --include-removed")).out;
    answers["/gifts"] = { data: after };
    for (let night = 1; night <= 2; night += 1) {
      const { code, err } = await run("sync gifts");
      expect(code, err).toBe(8);
      expect(err).toMatch(/the API answers with .*, and before it was .*: nothing was written or removed/);
      expect(err).toContain("--accept-removals");
    }
    expect((await run("export gifts --json --include-removed")).out).toBe(exported);
    expect((await run("sync gifts --accept-removals")).code).toBe(0);
    expect((await run("sync gifts")).code).toBe(0);
  });

  test("null is no answer: exit 7, and nothing is touched", async () => {
    const { answers, run, rows } = await brand({ "/gifts": { data: numbered(3) } });
    await run("sync gifts");
    answers["/gifts"] = { data: null };
    expect((await run("sync gifts")).code).toBe(7);
    expect(rows(present)).toEqual([[3]]);
  });

  test("a notice first and the list later: the list is read at once, the notice goes a run later", async () => {
    const { answers, run, rows } = await brand({ "/gifts": { data: { error: "maintenance" } } });
    expect((await run("sync gifts")).code).toBe(0);
    answers["/gifts"] = { data: numbered(3) };
    const { code, err } = await run("sync gifts");
    expect(code).toBe(8);
    expect(err).toMatch(/nothing was removed/);
    expect(rows(present)).toEqual([[4]]);
    expect((await run("sync gifts")).code).toBe(0);
    expect(rows(present)).toEqual([[3]]);
  });

  test("of a survey's results: they stay, the others are read", async () => {
    const { answers, run, rows } = await brand({
      "/surveys": { data: [{ id: "s" }, { id: "t" }] },
      "/surveys/s/results": { data: numbered(3) },
      "/surveys/t/results": { data: numbered(3) },
    });
    expect((await run("sync surveys")).code).toBe(0);
    answers["/surveys/s/results"] = { data: { error: "maintenance" } };
    answers["/surveys/t/results"] = { data: numbered(2) };
    const { code, err } = await run("sync surveys");
    expect(code).toBe(8);
    expect(err).toContain("/surveys/s/results: the API answers with one object");
    expect(
      rows("SELECT survey_id, count(*) FROM survey_results WHERE removed_at IS NULL GROUP BY 1"),
    ).toEqual([
      ["s", 3],
      ["t", 2],
    ]);
    answers["/surveys/s/results"] = { data: [] };
    expect((await run("sync surveys")).err).toContain("/surveys/s/results: the API answers with nothing");
    expect(rows("SELECT count(*) FROM survey_results WHERE removed_at IS NULL")).toEqual([[5]]);
  });
});

describe("a list in pages that moves while it is read", () => {
  test.each([
    ["250 of 100 a page", 250, 100, "g50"],
    ["24 of 8 a page", 24, 8, "g4"],
  ])("%s: a record that goes takes no other with it", async (_, count, perPage, leaver) => {
    const { answers, hooks, run, rows } = await brand({ "/gifts": { items: numbered(count), perPage } });
    expect((await run("sync gifts")).code).toBe(0);
    let armed = true;
    hooks.before = (path, page) => {
      if (path !== "/gifts" || page !== 2 || !armed) return;
      armed = false;
      answers["/gifts"] = { items: numbered(count).filter(({ id }) => id !== leaver), perPage };
    };
    const { code, err } = await run("sync gifts");
    expect(code, err).toBe(0);
    expect(rows("SELECT key FROM records WHERE removed_at IS NOT NULL")).toEqual([[leaver]]);
  });

  test("one goes while another comes: whom that hid is looked for again", async () => {
    const { answers, hooks, run, rows } = await brand({ "/gifts": { items: numbered(24), perPage: 8 } });
    await run("sync gifts");
    let armed = true;
    hooks.before = (path, page) => {
      if (path !== "/gifts" || page !== 2 || !armed) return;
      armed = false;
      const items = [...numbered(24).filter(({ id }) => id !== "g4"), { id: "new" }];
      answers["/gifts"] = { items, perPage: 8 };
    };
    expect((await run("sync gifts")).code).toBe(0);
    expect(rows("SELECT key FROM records WHERE removed_at IS NOT NULL")).toEqual([["g4"]]);
  });

  test.each([["goes"], ["goes while another comes"]])("a survey's results, one %s", async (what) => {
    const path = "/surveys/s/results";
    const before = numbered(24);
    const { answers, hooks, run, rows } = await brand({
      "/surveys": { data: [{ id: "s" }] },
      [path]: { items: before, perPage: 8 },
    });
    await run("sync surveys");
    let armed = true;
    hooks.before = (asked, page) => {
      if (asked !== path || page !== 2 || !armed) return;
      armed = false;
      const left = before.filter(({ id }) => id !== "g4");
      answers[path] = { items: what === "goes" ? left : [...left, { id: "new" }], perPage: 8 };
    };
    const { code, err } = await run("sync surveys");
    expect(code, err).toBe(0);
    const removed = rows("SELECT id FROM survey_results WHERE removed_at IS NOT NULL");
    expect(removed.filter(([id]) => id !== "g4")).toEqual([]);
    expect((await run("sync surveys")).code).toBe(0);
    expect(rows("SELECT id FROM survey_results WHERE removed_at IS NOT NULL")).toEqual([["g4"]]);
  });

  test("records without ids: one that comes in front hides no other, and twins are two", async () => {
    const before = [...numbered(149).map(({ id }) => ({ code: id })), { code: "g7" }];
    const { answers, hooks, run, rows } = await brand({ "/gifts": { items: before } });
    let armed = true;
    hooks.before = (path, page) => {
      if (path !== "/gifts" || page !== 2 || !armed) return;
      armed = false;
      answers["/gifts"] = { items: [{ code: "new" }, ...before] };
    };
    const { code, err } = await run("sync gifts");
    expect(code, err).toBe(0);
    expect(rows("SELECT json FROM records ORDER BY record_id")).toEqual(
      [{ code: "new" }, ...before].map((one) => [JSON.stringify(one)]),
    );
    expect((await run("sync gifts")).err).toMatch(/0 new, 0 changed, 0 removed/);
    expect((await run("verify gifts")).code).toBe(0);
  });

  test("one that never stands still removes nothing, and exit 8 says so", async () => {
    const { answers, hooks, run, rows } = await brand({ "/gifts": { items: numbered(60), perPage: 20 } });
    await run("sync gifts");
    let left = 60;
    hooks.before = (path, page) => {
      if (path !== "/gifts" || page !== 2) return;
      left -= 1;
      answers["/gifts"] = { items: numbered(left), perPage: 20 };
    };
    const { code, err } = await run("sync gifts");
    expect(code).toBe(8);
    expect(err).toContain("never settled");
    expect(rows(present)).toEqual([[60]]);
  });
});

describe("details that are not there", () => {
  const campaign = (id: string) => ({ id, title: "T", status: "ACTIVE", created_at: "2026-01-01T00:00:00Z" });

  test("campaigns that are listed, but whose details answer 404, are a shortfall", async () => {
    const { answers, run, rows } = await brand({
      "/opportunities": { items: [campaign("a"), campaign("b")] },
      "/opportunities/a": { data: campaign("a") },
    });
    const { code, err } = await run("sync opportunities");
    expect(code).toBe(8);
    expect(err).toContain("the API lists b, but answers 404 for the details");
    expect(rows("SELECT verified FROM sync_runs")).toEqual([[0]]);
    delete answers["/opportunities/a"];
    expect((await run("sync opportunities")).err).toContain("the API lists 2 opportunities, but answers 404");
  });

  test("results that answer 404 and were mirrored stay, and that is said; if none has any, that is said", async () => {
    const { answers, run, rows } = await brand({
      "/surveys": { data: [{ id: "s" }, { id: "t" }] },
      "/surveys/s/results": { data: numbered(3) },
      "/surveys/t/results": { data: numbered(3) },
    });
    await run("sync surveys");
    delete answers["/surveys/s/results"];
    answers["/surveys/t/results"] = { data: numbered(2) };
    for (const night of [1, 2]) {
      const { code, err } = await run("sync surveys");
      expect(code, `night ${night}`).toBe(8);
      expect(err).toContain("/surveys/s/results: the API answers 404: nothing was removed");
    }
    expect(rows("SELECT survey_id, id FROM survey_results WHERE removed_at IS NOT NULL")).toEqual([
      ["t", "g2"],
    ]);
    const left = "SELECT count(*) FROM survey_results WHERE removed_at IS NULL";
    const { "/surveys/t/results": results = {} } = answers;
    delete answers["/surveys/t/results"];
    const { code, err } = await run("sync surveys");
    expect(code).toBe(8);
    expect(err).toContain("the API answers 404 for /surveys/s/results, and for every other");
    expect(rows(left)).toEqual([[5]]);
    expect((await run("sync surveys --accept-removals")).code).toBe(0);
    expect(rows(left)).toEqual([[0]]);
    answers["/surveys/t/results"] = results;
    expect((await run("sync surveys")).code).toBe(0);
    expect(rows(left)).toEqual([[2]]);
    expect((await run("sync surveys")).code).toBe(0);
    expect((await run("verify surveys")).code).toBe(0);
  });
});
