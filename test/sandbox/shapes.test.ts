import { expect, test } from "vitest";
import { createBrand } from "../../src/sandbox/brand.js";
import { endpoints } from "../../src/sandbox/endpoints.js";
import { noon } from "../support/records.js";
import { clicksShape, misfits, nullablesOf, shapes } from "./shapes.js";
import { ask, askAll } from "./support.js";

const brand = createBrand({ seed: 1, orders: 5_000, now: noon });

test("every sandbox record has exactly the documented fields and types, and every nullable field is null in at least one record", () => {
  const never: string[] = [];
  for (const [list, shape] of Object.entries(shapes)) {
    const nulls = new Set<string>();
    const records =
      list === "opportunity-details"
        ? brand.opportunities.map(({ id }) => ask(`/opportunities/${id}`, { brand }).one)
        : askAll(`/${list.replace("analytics-", "analytics/")}`, { brand });
    expect(records.length).toBeGreaterThan(40);
    expect(records.flatMap((record) => misfits(record, shape, list, nulls)).slice(0, 3)).toEqual([]);
    never.push(...nullablesOf(shape, list).filter((at) => !nulls.has(at)));
  }
  // Every host has a first or a last name, so `content.host.name` is never null.
  expect(never).toEqual(["content.host.name"]);
});

test("the tests define the expected fields of every list that the API documentation describes", () => {
  const lists = endpoints
    .map(({ path }) => path.slice(1).replace("/", "-"))
    .filter((name) => !/[{/]/.test(name) && !["me", "analytics-clicks"].includes(name));
  expect(lists.filter((name) => shapes[name] === undefined)).toEqual(["gifts", "codes", "surveys"]);
});

test("the sandbox's click analytics have exactly the documented fields", () => {
  expect(misfits(ask("/analytics/clicks", { brand }).one, clicksShape, "clicks", new Set())).toEqual([]);
});

test("the sandbox's hosts have names with accents and punctuation, and one host's introduction is a spreadsheet formula", () => {
  const text = JSON.stringify([brand.roster, brand.orders]);
  for (const part of ["'", '\\"', ", ", "ü", "ø", "🏔️", "\\n", '"intro":"=HYPERLINK('])
    expect([part, text.includes(part)]).toEqual([part, true]);
});

test("in the sandbox's roster, a host's number of active campaigns equals the number of active assignments", () => {
  const active = brand.roster.filter(({ campaigns }) => campaigns?.status === "active");
  expect(active.length).toBeGreaterThan(5);
  for (const { host, campaigns } of active) {
    const mine = brand.opportunities
      .flatMap(({ assignments }) => assignments)
      .filter((one) => one.host?.id === host.id);
    expect(mine.filter(({ status }) => status === "ACTIVE")).toHaveLength(campaigns?.active ?? -1);
  }
});

test("in the sandbox's roster, a host's campaign status is `active` if any campaign is active, and otherwise `invited` if any invitation is open", () => {
  const all = brand.roster.flatMap(({ campaigns }) => campaigns ?? []);
  for (const { status, active, invited, completed } of all)
    expect(status).toBe(active ? "active" : invited ? "invited" : completed ? "completed" : "none");
  expect(all.filter(({ active, invited }) => active && invited)).not.toEqual([]);
});
