import { expect, test } from "vitest";
import { readHealth } from "../../src/query/health.js";
import type { JsonObject } from "../../src/resources/types.js";
import { at, come, day, hour, type Nights, nights, noon, orderAt, ordersBefore } from "../support/nights.js";
import type { ProgramResult } from "../support/program.js";

interface Standing {
  found: { at: string; error: string } | null;
  running: { started_at: string } | null;
  unfinished: { begun_at: string } | null;
  last_error: string | null;
}

function standing({ out }: ProgramResult): Standing {
  const [first] = (JSON.parse(out) as { resources: Standing[] }).resources;
  if (!first) throw new Error("nothing was synced");
  return first;
}

const items = Array.from(
  { length: 60 },
  (_, n): JsonObject => ({
    id: `c${n}`,
    source: n % 2 === 0 ? "upload" : "deliverable",
    media_type: "image",
    created_at: at(noon - n * 3 * day),
    host: null,
  }),
);

async function foundLate(): Promise<Nights> {
  const brand = await nights({ content: items });
  await brand.sync("content");
  brand.pass(hour);
  brand.api.records.content = [...items, { ...items[0], id: "late", created_at: at(noon - 100 * day) }];
  expect((await brand.run("verify content")).code).toBe(8);
  brand.pass(hour);
  return brand;
}

test("what `verify` found stays in `status` when a later sync proves nothing: a partial run", async () => {
  const brand = await foundLate();
  const partial = await brand.run("sync content --source deliverable");
  expect(partial.code, partial.err).toBe(0);
  const { found, last_error } = standing(await brand.run("status --json"));
  expect(found?.error).toContain("content differs from the API (2026-08)");
  expect(last_error).toBeNull();
  expect((await brand.run("status")).out).toContain(
    "! content: `verify` found: content differs from the API",
  );
});

test("what `verify` found stays when a later sync fails, and goes when one proves otherwise", async () => {
  const brand = await foundLate();
  brand.api.before = ({ path }) => (path === "/content" ? { status: 404 } : undefined);
  expect((await brand.run("sync content")).code).not.toBe(0);
  brand.api.before = undefined;
  expect(standing(await brand.run("status --json")).found).not.toBeNull();
  expect((await brand.run("sync content")).code).toBe(0);
  expect(standing(await brand.run("status --json")).found).toBeNull();
});

test("what `verify` found stays when a later `verify` fails; a sync of another range looks for it, too", async () => {
  const brand = await foundLate();
  const isNamed = async () =>
    standing(await brand.run("status --json")).found?.error.includes(
      "content differs from the API (2026-08)",
    );
  brand.api.before = ({ path }) => (path === "/content" ? { status: 404 } : undefined);
  expect((await brand.run("verify content")).code).toBe(7);
  expect(await isNamed()).toBe(true);
  brand.api.before = undefined;
  const narrow = await brand.run("sync content --since 2026-11-18");
  expect(narrow.err).toMatch(/^content: \d+ read, 1 new, .* verified$/m);
  expect(standing(await brand.run("status --json")).found).toBeNull();
});

test("a run that is under way is not called stopped; when it has been killed, it is", async () => {
  const brand = await nights(
    { orders: ordersBefore(noon, 300, 12 * hour) },
    { mostPerPage: 20, delivery: "late" },
  );
  let during: Promise<ProgramResult[]> | undefined;
  brand.once(
    ({ path, number }) => path === "/orders" && number > 10,
    () => {
      during = Promise.all([brand.run("status --json"), brand.run("status")]);
    },
  );
  // The sync gets no further before both have looked.
  const { fetch } = brand.api;
  brand.api.fetch = async (...request) => {
    const answer = await fetch(...request);
    await during;
    return answer;
  };
  expect((await brand.run("sync orders")).code).toBe(0);
  const [json, text] = (await during) ?? [];
  if (!json || !text) throw new Error("nobody looked");
  expect(standing(json)).toMatchObject({ running: { started_at: expect.any(String) }, unfinished: null });
  expect(text.out).toContain("! orders: being read since 2026-11-21 12:00");
  expect(text.out).not.toContain("stopped");
  expect(standing(await brand.run("status --json"))).toMatchObject({ running: null, unfinished: null });
});

test("a run that was killed is not called under way", async () => {
  const brand = await nights(
    { orders: ordersBefore(noon, 300, 12 * hour) },
    { mostPerPage: 20, delivery: "late" },
  );
  await brand.broken("killed", ({ number }) => number > 10);
  expect(standing(await brand.run("status --json"))).toMatchObject({
    running: null,
    unfinished: { begun_at: at(noon) },
  });
});

test("a report goes by the last proof while a run is under way, and says that one was killed", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 30, 12 * hour) });
  expect((await brand.run("sync orders")).code).toBe(0);
  brand.pass(day);
  const told = async () => (await brand.run("report --json")).out;
  const proof = async () => JSON.parse(await told()).proof as { against: string | null };
  let during: { against: string | null } | undefined;
  const { fetch } = brand.api;
  brand.api.fetch = async (...request) => {
    during ??= await proof();
    return await fetch(...request);
  };
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(during).toMatchObject({ against: null, proven: { by: "sync" } });
  brand.api.fetch = fetch;
  // The clock was set back: what came last is not what began last.
  brand.pass(-2 * day);
  await brand.broken("killed", () => true);
  expect(await proof()).toMatchObject({ against: "the last run was stopped" });
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(await proof()).toMatchObject({ against: null });
});

test("a partial run claims nothing and is told as such", async () => {
  const brand = await nights({ content: items });
  const { out, err } = await brand.run("sync content --source deliverable --json");
  expect(JSON.parse(out)).toMatchObject({ outcome: "done", verified: false, rows_new: 30 });
  expect(err).toContain("a partial run, which proves nothing");
  expect(brand.sql("SELECT * FROM coverage")).toEqual([]);
});

test("an order that came after the last sync is no difference that `status` would name", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 50, day) });
  await brand.sync();
  brand.pass(day);
  come(brand, orderAt("new", noon + hour));
  expect((await brand.run("verify orders")).code).toBe(8);
  expect(standing(await brand.run("status --json")).found?.error).toBe(
    "1 orders were not read yet: run `brandapi sync orders`",
  );
});

test("a list that was killed is not told as being read because another one is", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 30, day), roster: [{ relationship_id: "r" }] });
  await brand.broken("killed", ({ path }) => path === "/roster", "roster");
  const seen: unknown[] = [];
  brand.mirror.db.exec(
    "INSERT INTO sync_runs (resource, started_at, outcome) VALUES ('orders', '2026-11-21T13:00:00.000Z', 'running')",
  );
  for (const { resource, running } of readHealth(brand.mirror, brand.now(), null, {
    started_at: at(noon),
    progress: null,
  }).resources)
    seen.push([resource, running !== null]);
  expect(seen).toEqual(
    expect.arrayContaining([
      ["roster", false],
      ["orders", true],
    ]),
  );
});
