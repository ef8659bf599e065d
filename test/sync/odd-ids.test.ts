import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { anOrder } from "../support/mirror.js";
import { at, nights, noon } from "../support/nights.js";

const brandWith = (resource: "opportunities" | "surveys", ids: readonly string[]) => {
  const one = (id: string): JsonObject => ({
    id,
    title: "T",
    status: "ACTIVE",
    created_at: at(noon),
    updated_at: at(noon),
  });
  return nights({ [resource]: ids.map(one), results: { c1: '[{"id":"r"}]' } });
};

const details = { opportunities: "/opportunities/c1", surveys: "/surveys/c1/results" } as const;

test.each(["opportunities", "surveys"] as const)(
  "%s whose id no address can hold are kept without details, which is said, and the others have theirs",
  async (resource) => {
    for (const id of ["\ud800", "a\udc00b", ".", "..", "", "x".repeat(20_000)]) {
      const brand = await brandWith(resource, [id, "c1"]);
      for (let night = 0; night < 2; night += 1) {
        brand.api.asked.length = 0;
        const { code, err } = await brand.run(`sync ${resource}`);
        expect(code, err).toBe(0);
        expect(err).toContain(`${resource}: 1 record without an id that more could be asked by`);
        const paths = brand.api.asked.map(({ path }) => path);
        expect(paths.filter((path) => path !== "/me" && path !== `/${resource}`)).toEqual([
          details[resource],
        ]);
      }
      expect(brand.mirrored(resource)).toHaveLength(2);
    }
  },
);

test("two orders whose ids differ in half a character are two", async () => {
  const orders = ["\ud800", "\ud801", "\ufffd"].map((id, n) => anOrder(n, { id }));
  const brand = await nights({ orders });
  expect((await brand.sync("orders")).rows_new).toBe(3);
  expect((await brand.sync("orders", { full: true })).outcome).toBe("done");
  expect(brand.mirrored("orders")).toHaveLength(3);
});

test.each([
  "a/b",
  "../me",
  "a?b#c",
  "%2e%2e",
  "x\u0000y",
  " ",
  "🎉",
  "\\",
  "//h",
  "http://h/x",
  "a\nb",
  "x".repeat(3_000),
])(
  "the campaign %j is asked for by one part of an address, and nothing of it leads elsewhere",
  async (id) => {
    const brand = await brandWith("opportunities", [id]);
    expect((await brand.run("sync opportunities")).code).toBe(0);
    const [path = ""] = brand.api.asked
      .map((one) => one.path)
      .filter((one) => one.startsWith("/opportunities/"));
    expect(path).toBe(`/opportunities/${encodeURIComponent(id)}`);
    expect(brand.api.asked.map((one) => one.path)).toEqual(["/me", "/opportunities", path]);
  },
);
