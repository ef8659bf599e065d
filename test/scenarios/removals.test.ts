import { describe, expect, test } from "vitest";
import { brandForTest, day } from "./brand.js";

const tables = {
  roster: "/roster",
  recommendations: "/recommendations",
  gifts: "/gifts",
  content: "/content",
  orders: "/orders",
  opportunities: "/opportunities",
};

describe.each(Object.entries(tables))("%s: a read that would remove too much", (resource, path) => {
  test("removes nothing on an empty answer, until `--accept-removals` says that it is right", async () => {
    const brand = await brandForTest({ orders: 60 });
    await brand.run(`sync ${resource}`);
    const before = brand.mirrored(resource).length;
    expect(before).toBeGreaterThan(20);
    brand.sandbox.intercept = (request) =>
      request.path === path ? { kind: "envelope", change: (envelope) => keep(envelope, 0) } : undefined;
    brand.sandbox.advance(day);
    const { code, err } = await brand.run(`sync ${resource} --full`);
    expect(code, err).toBe(8);
    expect(err).toMatch(/nothing was removed/);
    expect(err).toContain("--accept-removals");
    expect(brand.mirrored(resource)).toHaveLength(before);
    expect((await brand.run(`verify ${resource}`)).code, "what is undecided is not proven").toBe(8);

    const accepted = await brand.run(`sync ${resource} --full --accept-removals`);
    expect(accepted.code, accepted.err).toBe(0);
    expect(brand.mirrored(resource)).toHaveLength(0);

    brand.sandbox.intercept = undefined;
    expect((await brand.run(`sync ${resource} --full`)).code).toBe(0);
    expect(brand.mirrored(resource)).toHaveLength(before);
  });
});

describe("the guard against mass removal", () => {
  test("stops at more than half of more than 20, and lets half through", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync codes");
    const before = brand.mirrored("codes").length;
    const serve = (count: number) => {
      brand.sandbox.intercept = ({ path }) =>
        path === "/codes" ? { kind: "envelope", change: (envelope) => keep(envelope, count) } : undefined;
    };
    serve(Math.floor(before / 2) - 1);
    const refused = await brand.run("sync codes");
    expect(refused.code).toBe(8);
    expect(refused.err).toMatch(/the API no longer returns \d+ of \d+ mirrored records: nothing was removed/);
    expect(brand.mirrored("codes")).toHaveLength(before);
    serve(Math.ceil(before / 2));
    expect((await brand.run("sync codes")).code).toBe(0);
    expect(brand.mirrored("codes")).toHaveLength(Math.ceil(before / 2));
  });

  test("does not mind small lists, as long as something is left", async () => {
    const brand = await brandForTest({ orders: 5 });
    await brand.run("sync surveys");
    brand.sandbox.intercept = ({ path }) =>
      path === "/surveys" ? { kind: "envelope", change: (envelope) => keep(envelope, 1) } : undefined;
    expect((await brand.run("sync surveys")).code).toBe(0);
    expect(brand.mirrored("surveys")).toHaveLength(1);
    // The results of surveys that are gone go with them.
    expect(brand.mirrored("survey-results")).toHaveLength(1);
  });
});

/** The first records of a list, as if there were no others. */
function keep(envelope: Record<string, unknown>, count: number) {
  if (!Array.isArray(envelope.data)) return envelope;
  const pagination = envelope.pagination as { page: number; per_page: number };
  const start = (pagination.page - 1) * pagination.per_page;
  const pages = Math.ceil(count / pagination.per_page);
  return {
    ...envelope,
    data: envelope.data.slice(0, Math.max(0, count - start)),
    pagination: {
      ...pagination,
      total_items: count,
      total_pages: pages,
      has_next: pagination.page < pages,
    },
  };
}
