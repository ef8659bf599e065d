import { describe, expect, test } from "vitest";
import { recordSets, sandboxChoices } from "../../src/sandbox/index.js";
import { clicksShape, misfits, nullablesOf, shapes } from "./shapes.js";
import { ask, sandboxOf } from "./support.js";

describe("the shape of what is served", () => {
  test("every record has exactly the documented fields and types, and every nullable field is null somewhere", async () => {
    const sandbox = await sandboxOf({ orders: 5000 });
    const never: string[] = [];
    for (const [set, shape] of Object.entries(shapes)) {
      const nulls = new Set<string>();
      const records = [...sandbox.records(set as (typeof recordSets)[number])];
      expect(records.length).toBe(sandbox.count(set as (typeof recordSets)[number]));
      expect([set, records.flatMap((record) => misfits(record, shape, set, nulls)).slice(0, 3)]).toEqual([
        set,
        [],
      ]);
      never.push(...nullablesOf(shape, set).filter((at) => !nulls.has(at)));
    }
    expect(never).toEqual([]);
  });

  test("click analytics have exactly the documented fields", async () => {
    const sandbox = await sandboxOf({ orders: 2000 });
    const { data } = (await ask(sandbox, "/analytics/clicks")).json;
    expect(misfits(data, clicksShape, "clicks", new Set())).toEqual([]);
  });

  test("names are as people write them, and one intro is a spreadsheet's formula", async () => {
    const sandbox = await sandboxOf();
    const text = JSON.stringify([...sandbox.records("roster"), ...sandbox.records("orders")]);
    for (const part of ["'", '\\"', ", ", "ü", "ø", "🏔️", "\\n"])
      expect([part, text.includes(part)]).toEqual([part, true]);
    expect(text).toContain('"intro":"=HYPERLINK(');
  });

  test("with `extra`, every object at every depth has more, and nothing documented is missing", async () => {
    const [plain, extra] = [await sandboxOf(), await sandboxOf({ extra: true })];
    for (const set of recordSets) {
      const [before, after] = [[...plain.records(set)], [...extra.records(set)]];
      for (const [place, record] of before.entries()) expectGrown(record, after[place], set);
    }
    const counts = [...extra.records("opportunities")].flatMap((one) =>
      Object.values((one as { assignment_counts: object }).assignment_counts),
    );
    expect(counts.every(Number.isInteger)).toBe(true);
    const served = await ask(extra, "/orders?per_page=100");
    expect(served.json.data).toEqual([...extra.records("orders")].slice(0, 100));
    expect(served.json.x_request).toBeDefined();
    expect(served.text).toContain("affiliate_feed");
  });

  test("what the sandbox chose is said in sentences", () => {
    expect(sandboxChoices.length).toBeGreaterThan(8);
    for (const line of sandboxChoices) expect(line).toMatch(/^[A-Z`].*\.$/);
  });
});

/** Values of these names may be replaced by newer ones; all else stays. */
const replaced = /attribution|media_type|uploaded_by|payment_state|listing_type/;

function expectGrown(before: unknown, after: unknown, at: string): void {
  if (typeof before !== "object" || before === null) {
    if (!replaced.test(at)) expect([at, after]).toEqual([at, before]);
    return;
  }
  if (Array.isArray(before)) {
    expect([at, (after as unknown[]).length]).toEqual([at, before.length]);
    before.forEach((item, n) => {
      expectGrown(item, (after as unknown[])[n], `${at}[]`);
    });
    return;
  }
  expect([at, Object.keys(after as object).length > Object.keys(before).length]).toEqual([at, true]);
  for (const [name, value] of Object.entries(before))
    expectGrown(value, (after as Record<string, unknown>)[name], `${at}.${name}`);
}
