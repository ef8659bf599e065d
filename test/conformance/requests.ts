import { resources } from "../../src/resources/index.js";
import { type Brand, day } from "../scenarios/brand.js";
import type { Sandbox } from "../support/old-sandbox/index.js";

/** What two syncs of a resource cost, and what they would cost someone who knew beforehand what is new. */
export interface Cost {
  resource: string;
  first: number;
  leastFirst: number;
  second: number;
  leastSecond: number;
}

/** Syncs everything twice, a day apart on which nothing happens, and counts the requests of each resource. */
export async function measureRequests(brand: Brand): Promise<Cost[]> {
  const first = await syncAndCount(brand);
  brand.sandbox.advance(day);
  const second = await syncAndCount(brand);
  return resources.map(({ name }) => ({
    resource: name,
    first: first.get(name) ?? 0,
    leastFirst: leastFirst(brand.sandbox, name),
    second: second.get(name) ?? 0,
    leastSecond: leastSecond(brand.sandbox, name),
  }));
}

async function syncAndCount(brand: Brand): Promise<Map<string, number>> {
  const { code, out, err } = await brand.run("sync --json");
  if (code !== 0) throw new Error(err);
  const runs = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { resource: string; requests: number });
  return new Map(runs.map(({ resource, requests }) => [resource, requests]));
}

const pages = (records: number) => Math.max(1, Math.ceil(records / 100));

/** Every page once at a hundred records, every detail, every month. */
function leastFirst(sandbox: Sandbox, resource: string): number {
  if (resource === "analytics-clicks") return 25;
  if (resource === "opportunities") return pages(sandbox.count(resource)) + sandbox.count(resource);
  if (resource === "surveys") return pages(sandbox.count(resource)) + sandbox.count(resource);
  return pages(sandbox.count(resource as "orders"));
}

/** The window's pages; the whole list where there is no filter; details that can still move; the months of the window. */
function leastSecond(sandbox: Sandbox, resource: string): number {
  const since = sandbox.now() - 31 * day;
  const recent = (set: "orders" | "content", date: string) =>
    ([...sandbox.records(set)] as Record<string, string>[]).filter(
      (one) => Date.parse(one[date] ?? "") >= since,
    ).length;
  if (resource === "orders") return pages(recent("orders", "order_date"));
  if (resource === "content") return pages(recent("content", "created_at"));
  if (resource === "analytics-clicks") return 2;
  if (resource === "opportunities") {
    const list = [...sandbox.records("opportunity-details")] as Campaign[];
    return pages(list.length) + list.filter(isOpen).length;
  }
  return leastFirst(sandbox, resource);
}

interface Campaign {
  status: string;
  assignments: { status: string; brand_payment_state: string | null; athlete_payment_state: string | null }[];
}

function isOpen({ status, assignments }: Campaign): boolean {
  if (["DRAFT", "DECLINED", "ARCHIVED"].includes(status)) return false;
  if (status !== "COMPLETED") return true;
  return assignments.some(
    (one) =>
      one.status !== "DECLINED" &&
      !(
        ["PAID", "REFUNDED", "FAILED"].includes(one.brand_payment_state ?? "") &&
        one.athlete_payment_state === "PAID"
      ),
  );
}

/** The table of the README. */
export function requestTable(costs: readonly Cost[]): string {
  const rows = costs.map(
    ({ resource, first, leastFirst, second, leastSecond }) =>
      `| \`${resource}\` | ${first} | ${leastFirst} | ${second} | ${leastSecond} |`,
  );
  const sum = (pick: (cost: Cost) => number) => costs.reduce((total, cost) => total + pick(cost), 0);
  const total = `| all | ${sum((c) => c.first)} | ${sum((c) => c.leastFirst)} | ${sum((c) => c.second)} | ${sum((c) => c.leastSecond)} |`;
  return [
    "| resource | first sync | least | second sync | least |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows,
    total,
  ].join("\n");
}
