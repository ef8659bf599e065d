import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Field } from "../../src/resources/fields.js";
import { orders } from "../../src/resources/orders.js";
import { allResources, findResource, resources, syncingResource } from "../../src/resources/registry.js";
import {
  acceptsDates,
  detailsResource,
  listStatusFilters,
  mergesDetails,
  strategyTraits,
} from "../../src/resources/resource.js";
import { roster } from "../../src/resources/roster.js";
import { surveyResults, surveys } from "../../src/resources/undocumented.js";
import { isObject } from "../../src/util/json-value.js";
import { makeBrand, testBaseUrl } from "../support/brand.js";
import { makeMirror, writeRead } from "../support/mirror.js";

const named = (matches: (resource: (typeof resources)[number]) => boolean) =>
  allResources.filter(matches).map(({ name }) => name);

test("commands accept analytics-hosts and analytics_clicks as resource names, but not survey-results, which is part of surveys", () => {
  expect(findResource("analytics_clicks")?.name).toBe("analytics-clicks");
  expect(findResource("analytics-hosts")?.name).toBe("analytics-hosts");
  expect([findResource("survey-results"), findResource("order")]).toEqual([null, null]);
  expect([syncingResource(surveyResults), syncingResource(orders)]).toEqual([surveys, orders]);
});

test("each resource has the expected date column, status filters, details and read strategy", () => {
  expect(named(acceptsDates)).toEqual(["orders", "content", "analytics-clicks"]);
  expect(named(mergesDetails)).toEqual(["opportunities"]);
  expect(named((resource) => detailsResource(resource) !== null)).toEqual(["surveys"]);
  const withTrait = (trait: "isUnverifiable" | "isAlwaysReadInFull") =>
    named(({ strategy }) => strategyTraits[strategy.kind][trait]);
  expect(withTrait("isUnverifiable")).toEqual(["analytics-clicks", "analytics-hosts"]);
  expect(withTrait("isAlwaysReadInFull")).toEqual([
    ...["orders", "roster", "recommendations", "content"],
    ...["gifts", "codes", "survey-results"],
  ]);
  expect(
    allResources.flatMap(({ name, dateColumn }) => (dateColumn ? `${name}: ${dateColumn}` : [])),
  ).toEqual([
    "orders: order_date",
    "roster: joined_at",
    "opportunities: created_at",
    "content: created_at",
    "analytics-clicks: period_start",
  ]);
  expect(named(({ keepsHistory }) => !keepsHistory)).toEqual(["analytics-clicks", "analytics-hosts"]);
  expect(listStatusFilters(orders).map(({ name, statusBit }) => [name, statusBit])).toEqual([
    ["cancelled", 1],
    ["refunded", 2],
  ]);
  expect(listStatusFilters(roster)).toEqual([]);
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
])("the error for an API key that may not read %s names the scope %s", async (name, scope) => {
  const brand = makeBrand();
  brand.setKey({ scopes: [] });
  expect(await brand.run(`sync ${name}`)).toMatchObject({
    code: 5,
    err: expect.stringContaining(`the scope ${scope}`),
  });
});

type FieldTypes = { [name: string]: string | FieldTypes };

/** Returns the type of each field in the records. Fields that are declared as JSON are not examined. */
function typesIn(records: readonly unknown[], fields: readonly Field[]): FieldTypes {
  const objects = records.filter(isObject);
  const names = new Set(objects.flatMap((object) => Object.keys(object)));
  return Object.fromEntries(
    [...names].map((name) => {
      const values = objects
        .map((object) => object[name])
        .filter((value) => value !== null && value !== undefined);
      const field = fields.find((one) => one.name === name);
      if (field?.kind === "object") return [name, typesIn(values, field.fields)];
      if (field?.kind === "list") {
        const types = typesIn(values.flat(), field.fields);
        const isDeclared = ([name]: [string, unknown]) => field.fields.some((one) => one.name === name);
        return [
          name,
          field.discoversColumns ? Object.fromEntries(Object.entries(types).filter(isDeclared)) : types,
        ];
      }
      // The type of an amount cannot be derived from the records, because all amounts may happen to be integers.
      return [name, field?.kind === "scalar" && field.isAmount ? "number" : typeOf(values)];
    }),
  );
}

function typeOf(values: readonly unknown[]): string {
  if (values.every((value) => typeof value === "object")) return "json";
  if (values.every((value) => typeof value === "number"))
    return values.every(Number.isInteger) ? "integer" : "number";
  if (values.every((value) => typeof value === "boolean")) return "boolean";
  if (values.every((value) => /^\d{4}-\d\d-\d\d$/.test(String(value)))) return "date";
  return values.every((value) => /^\d{4}-\d\d-\d\dT.*Z$/.test(String(value))) ? "timestamp" : "text";
}

function declaredTypes(fields: readonly Field[]): FieldTypes {
  const own = fields.filter((field) => field.kind !== "scalar" || field.source === "record");
  return Object.fromEntries(
    own.map((field) => [field.name, field.kind === "scalar" ? field.type : declaredTypes(field.fields)]),
  );
}

test("the declared fields and types of each resource match the records that the API sends", async () => {
  const brand = makeBrand({ history: 200, listLimit: 80 });
  const ask = async (path: string) => {
    const { body } = await brand.fetch(`${testBaseUrl}${path}`, {
      headers: { authorization: `Bearer ${brand.key}` },
    });
    return ((await json(body as AsyncIterable<Uint8Array>)) as { data: unknown }).data;
  };
  const { data } = brand;
  const sent = {
    ...{ orders: data.orders, roster: data.roster, recommendations: data.recommendations },
    ...{ opportunities: data.opportunities, content: data.content },
    "analytics-clicks": [await ask("/analytics/clicks?start_date=2026-10-01&end_date=2026-10-31&limit=100")],
    "analytics-hosts": (await ask("/analytics/hosts")) as unknown[],
  };
  for (const [name, records] of Object.entries(sent)) {
    const { fields = [] } = findResource(name) ?? {};
    expect([name, typesIn(records, fields)]).toEqual([name, declaredTypes(fields)]);
  }
});

test("sync records a change if the path of a URL in a record changes, but not if only the URL's signature changes", async () => {
  const mirror = await makeMirror();
  const write = (url: string) => {
    const host = { id: "h1", profile_photo: url };
    writeRead(mirror, "orders", [{ id: "o1", host, product: { id: "p1", cover_photo: url } }]);
    writeRead(mirror, "roster", [{ relationship_id: "r1", host }]);
    writeRead(mirror, "recommendations", [{ host }]);
    writeRead(mirror, "opportunities", [
      { id: "c1", assignments: [{ id: "a1", host }], attachments: [{ url }] },
    ]);
  };
  const changes = () => mirror.db.prepare("SELECT resource, field FROM changes ORDER BY 1, 2").raw().all();
  write("https://images.example/a.jpg?signature=1");
  write("https://images.example/a.jpg?signature=2");
  expect(changes()).toEqual([]);
  write("https://images.example/b.jpg?signature=3");
  expect(changes()).toEqual([
    ["opportunities", "assignments.a1.host.profile_photo"],
    ["opportunities", "attachments"],
    ["orders", "host_profile_photo"],
    ["orders", "product_cover_photo"],
    ["recommendations", "host_profile_photo"],
    ["roster", "host_profile_photo"],
  ]);
});
