import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { allResources, findResource, resources, syncingResource } from "../../src/resources/registry.js";
import { acceptsDates, detailsResource, filterBits, mergesDetails } from "../../src/resources/resource.js";
import { roster } from "../../src/resources/roster.js";
import { surveyResults, surveys } from "../../src/resources/undocumented.js";
import { makeBrand } from "../support/brand.js";

const named = (matches: (resource: (typeof resources)[number]) => boolean) =>
  allResources.filter(matches).map(({ name }) => name);

test("commands accept a resource's name with hyphens or underscores, but not the name of a details resource", () => {
  expect(findResource("analytics_clicks")?.name).toBe("analytics-clicks");
  expect(findResource("analytics-hosts")?.name).toBe("analytics-hosts");
  expect([findResource("survey-results"), findResource("order")]).toEqual([undefined, undefined]);
  expect([syncingResource(surveyResults), syncingResource(orders)]).toEqual([surveys, orders]);
});

test("each resource has the traits of its strategy", () => {
  expect(named(acceptsDates)).toEqual(["orders", "content", "analytics-clicks"]);
  expect(named(mergesDetails)).toEqual(["opportunities"]);
  expect(named((resource) => detailsResource(resource) !== null)).toEqual(["surveys"]);
  expect(named(({ keepsHistory }) => !keepsHistory)).toEqual(["analytics-clicks", "analytics-hosts"]);
  expect(filterBits(orders).map(({ name, bit }) => [name, bit])).toEqual([
    ["cancelled", 1],
    ["refunded", 2],
  ]);
  expect(filterBits(roster)).toEqual([]);
});

test("a sync sends the documented requests for each resource", async () => {
  const brand = makeBrand({ history: 3, listLimit: 2 });
  const lists = resources.map(({ name }) => name).filter((name) => name !== "analytics-clicks");
  await brand.run(["sync", ...lists]);
  await brand.run("sync analytics-clicks --since 2026-11-01");
  const { requests } = brand;
  const first = (path: string, also: (query: Readonly<Record<string, string>>) => boolean = () => true) =>
    requests.find((request) => request.path === path && also(request.query))?.query;
  for (const path of ["/roster", "/recommendations", "/opportunities"])
    expect([path, first(path)]).toEqual([path, { page: "1", per_page: "100" }]);
  for (const path of ["/gifts", "/codes", "/surveys"]) expect([path, first(path)]).toEqual([path, {}]);
  expect(first("/analytics/hosts")).toMatchObject({ sort: "sale_amount", order: "desc", page: "1" });
  expect(first("/orders")).toMatchObject({ per_page: "100" });
  expect(first("/orders", ({ status }) => status === "cancelled")).toBeDefined();
  expect(first("/orders", ({ status }) => status === "refunded")).toBeDefined();
  expect(first("/analytics/clicks", ({ limit }) => limit === "1")).toMatchObject({ group_by: "day" });
  expect(first("/analytics/clicks", ({ limit }) => limit !== "1")).toMatchObject({
    limit: "100",
    group_by: "day",
  });
  const paths = new Set(requests.map(({ path }) => path.replace(/^(\/\w+)\/[^/]+/, "$1/ID")));
  expect(paths).toContain("/surveys/ID/results");
  expect(paths).toContain("/opportunities/ID");
});

test.each([
  ["orders", "analytics:read"],
  ["roster", "roster:read"],
  ["recommendations", "recommendations:read"],
  ["opportunities", "opportunities:read"],
  ["content", "content:read"],
  ["analytics-clicks", "analytics:read"],
  ["analytics-hosts", "analytics:read"],
  ["gifts", "gifts:read"],
  ["codes", "codes:read"],
  ["surveys", "surveys:read"],
])("the error for a key that may not read %s names the scope %s", async (name, scope) => {
  const brand = makeBrand();
  brand.setKey({ scopes: [] });
  expect(await brand.run(`sync ${name}`)).toMatchObject({
    code: 5,
    err: expect.stringContaining(`the scope ${scope}`),
  });
});
