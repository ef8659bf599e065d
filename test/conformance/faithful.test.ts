import { describe, expect, test } from "vitest";
import { details, resources } from "../../src/resources/index.js";
import { brandForTest } from "../scenarios/brand.js";
import type { SandboxOptions } from "../support/old-sandbox/index.js";
import { expectFaithful } from "./compare.js";

const everything = [...resources, ...details];
const unshown = everything.filter(({ pagination }) => pagination === "unknown");

test("after one `sync` every table of every resource holds what the API serves", async () => {
  const brand = await brandForTest({ orders: 430 });
  const { code, err } = await brand.run("sync");
  expect(err).not.toContain("warning");
  expect(code).toBe(0);
  for (const resource of everything) await expectFaithful(brand, resource);

  const dump = () => brand.sql("SELECT * FROM records ORDER BY record_id");
  const before = dump();
  const again = await brand.run("sync --json");
  expect(again.code).toBe(0);
  for (const line of again.out.trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ rows_new: 0, rows_changed: 0, rows_removed: 0, verified: true });
  const figures = (rows: unknown[]) => (rows as { json: string }[]).map(({ json }) => json);
  expect(figures(dump())).toEqual(figures(before));
});

test("attributes that this version does not know, at any depth, lose nothing and are named once", async () => {
  const brand = await brandForTest({ orders: 150, extra: true });
  const first = await brand.run("sync");
  expect(first.code).toBe(0);
  for (const resource of everything) await expectFaithful(brand, resource);
  const notes = first.err.split("\n").filter((line) => line.includes("the API sends a new attribute"));
  expect(notes).toContain(
    "orders: the API sends a new attribute `line_items.x_added_later_2`: it is kept in JSON exports",
  );
  expect(notes).toContain(
    "opportunities: the API sends a new attribute `assignments.host.x_added_later_3`: it is kept in JSON exports",
  );
  expect(new Set(notes).size).toBe(notes.length);
  const second = await brand.run("sync --full");
  expect(second.err).not.toContain("new attribute");
});

test("attributes that this version does not know ask for nothing: `--quiet` says nothing of them", async () => {
  const brand = await brandForTest({ orders: 50, extra: true });
  expect(await brand.run("sync orders roster opportunities content --quiet")).toMatchObject({
    code: 0,
    out: "",
    err: "",
  });
});

describe("whatever form gifts, codes and surveys have, the mirror holds it", () => {
  for (const paginated of [true, false])
    for (const strict of [true, false])
      for (const ids of ["text", "number"] as const) {
        const undocumented = { paginated, strict, ids };
        const name = `${paginated ? "paged" : "in one piece"}, ${strict ? "strict" : "lax"}, ids as ${ids}`;
        test(name, async () => await faithfulTo({ orders: 10, undocumented }));
      }

  async function faithfulTo(options: SandboxOptions) {
    const brand = await brandForTest(options);
    const { code, requests } = await brand.run("sync gifts codes surveys");
    expect(code).toBe(0);
    expect(requests.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual(
      [],
    );
    for (const resource of unshown) await expectFaithful(brand, resource);
    const again = await brand.run("sync gifts codes surveys");
    expect(again.code).toBe(0);
    for (const { name } of resources.filter((one) => unshown.includes(one)))
      expect(brand.lastRun(name)).toMatchObject({ rows_new: 0, rows_changed: 0, rows_removed: 0 });
  }
});
