import { expect, test } from "vitest";
import { analyticsClicks } from "../../src/resources/analytics-clicks.js";
import { analyticsHosts } from "../../src/resources/analytics-hosts.js";
import { opportunities } from "../../src/resources/opportunities.js";
import { orders } from "../../src/resources/orders.js";
import { recommendations } from "../../src/resources/recommendations.js";
import { allResources } from "../../src/resources/registry.js";
import type { Resource } from "../../src/resources/resource.js";
import { exportsRawRecords, listTableShapes } from "../../src/resources/table-shape.js";

function shapeOf(resource: Resource, table = resource.table) {
  const shape = listTableShapes(resource).find(({ name }) => name === table);
  if (!shape) throw new Error(`Unknown table: ${table}`);
  return shape;
}

const columnsOf = (...shape: Parameters<typeof shapeOf>) => shapeOf(...shape).columns.map(({ name }) => name);

test("each resource has a main table, followed by a table for each list in the resource's records", () => {
  expect(listTableShapes(orders).map(({ name }) => name)).toEqual(["orders", "order_line_items"]);
  expect(listTableShapes(analyticsClicks).map(({ name }) => name)).toEqual([
    "analytics_clicks_periods",
    "analytics_clicks",
    "analytics_clicks_top_hosts",
    "analytics_clicks_top_products",
  ]);
  expect(listTableShapes(orders)).toBe(listTableShapes(orders));
});

test("columns for a nested object have the object's name as a prefix, unless the object is declared without a prefix", () => {
  expect(columnsOf(orders)).toEqual(
    expect.arrayContaining(["id", "host_id", "host_username", "product_title"]),
  );
  expect(columnsOf(orders)).not.toContain("line_items");
  expect(columnsOf(opportunities)).toContain("payment_flatFee");
  expect(columnsOf(analyticsClicks).slice(0, 6)).toEqual([
    ...["period_start", "period_end", "group_by", "host_id"],
    ...["total_clicks", "product_clicks"],
  ]);
});

test("an order's amounts are formatted as money, but rates and counts are not", () => {
  const amounts = listTableShapes(orders).flatMap(({ columns }) =>
    columns.filter(({ isAmount }) => isAmount),
  );
  expect(amounts.map(({ name }) => name)).toEqual([
    ...["total_amount", "subtotal_amount", "refund_amount", "commission_amount"],
    "price",
  ]);
});

test("a child table starts with the parent's key and, for items without an ID, the position in the list", () => {
  expect(columnsOf(orders, "order_line_items").slice(0, 3)).toEqual(["order_id", "position", "title"]);
  expect(columnsOf(analyticsClicks, "analytics_clicks").slice(0, 4)).toEqual([
    ...["period_start", "group_by", "host_id"],
    "date",
  ]);
  expect(columnsOf(analyticsClicks, "analytics_clicks_top_hosts").slice(0, 5)).toEqual([
    ...["period_start", "group_by", "asked_host_id"],
    ...["position", "host_id"],
  ]);
  expect(columnsOf(opportunities, "opportunity_deliverables").slice(0, 2)).toEqual(["opportunity_id", "id"]);
  expect(shapeOf(orders, "order_line_items").indexes).toEqual([["order_id"]]);
});

test("undocumented fields become columns only in the tables of recommended products, gifts, codes, surveys and their results", () => {
  const discovering = allResources.flatMap((resource) =>
    listTableShapes(resource).flatMap(({ name, discoversColumns }) => (discoversColumns ? name : [])),
  );
  expect(discovering).toEqual(["recommendation_products", "gifts", "codes", "surveys", "survey_results"]);
  expect(shapeOf(recommendations).discoversColumns).toBe(false);
});

test("JSON exports of main tables contain the raw records, except for monthly clicks, whose records lack the month", () => {
  expect(exportsRawRecords(shapeOf(orders))).toBe(true);
  expect(exportsRawRecords(shapeOf(analyticsHosts))).toBe(true);
  expect(exportsRawRecords(shapeOf(orders, "order_line_items"))).toBe(false);
  expect(exportsRawRecords(shapeOf(analyticsClicks))).toBe(false);
  expect(exportsRawRecords(null)).toBe(false);
});
