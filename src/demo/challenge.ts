import { PassThrough } from "node:stream";
import { json } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { Context, Deps } from "../deps.js";
import { Incomplete, UsageError } from "../errors.js";
import { createBrandEvents } from "../sandbox/activity.js";
import type { Brand } from "../sandbox/brand.js";
import type { Order } from "../sandbox/orders-endpoint.js";
import { formatCount, pluralize } from "../util/format-text.js";
import type { JsonObject } from "../util/json-value.js";
import { renderTable } from "../util/terminal-table.js";
import { utcDay } from "../util/time-ranges.js";
import { dayMs, formatInstant } from "../util/timestamps.js";
import { checks, type Evidence } from "../verify/evidence.js";
import { type DemoFlags, startDemo } from "./start-demo.js";

interface ScriptCopy {
  orders: Map<string, object>;
  roster: Map<string, object>;
}

/**
 * Reads orders and the roster as a typical script does. The first run reads all orders, and every later run reads the
 * orders of the last 30 days. Every run reads the complete roster.
 */
async function runPlainScript(copy: ScriptCopy, { clock, env, fetch }: Deps) {
  async function* records(path: string, query: Record<string, string>) {
    for (let page = 1, hasNext = true; hasNext; page += 1) {
      const parameters = new URLSearchParams({ ...query, per_page: "100", page: String(page) });
      const headers = { authorization: `Bearer ${env.BRANDAPI_KEY}` };
      const response = await fetch(`${env.BRANDAPI_BASE_URL}${path}?${parameters}`, { headers });
      if (response.status !== 200 || !response.body) throw new Error(`${path}: ${response.status}`);
      const body = (await json(response.body)) as { data: JsonObject[]; pagination: { has_next: boolean } };
      yield* body.data;
      hasNext = body.pagination.has_next;
    }
  }

  const since = new Date(clock.now() - 30 * dayMs).toISOString();
  for await (const order of records("/orders", copy.orders.size === 0 ? {} : { start_date: since }))
    copy.orders.set(String(order.id), order);
  copy.roster.clear();
  for await (const entry of records("/roster", {})) copy.roster.set(String(entry.relationship_id), entry);
}

function findRecord({ orders, roster }: ScriptCopy, { id }: SilentChange): object | undefined {
  return orders.get(id) ?? roster.get(id);
}

interface SilentChange {
  name: string;
  id: string;
  date: string;
  /** The name of the check that can detect the change, as printed by `verify --evidence`. */
  check: string;
}

function changeSilently(brand: Brand, seed: number, now: number): SilentChange[] {
  const events = createBrandEvents(brand, () => now);
  /**
   * The kinds of change. `change` receives an order and changes it or another record. It returns the ID of the record
   * that it changed, or undefined if that is the order.
   */
  const kinds: { name: string; days: number; check: string; change(order: Order): unknown }[] = [
    {
      name: "host left",
      days: 20,
      check: checks.list,
      change: () => events.leave(brand.roster[0]?.host.id ?? ""),
    },
    { name: "refunded", days: 15, check: "refunded", change: ({ id }) => events.refund(id) },
    {
      name: "partially refunded",
      days: 275,
      check: checks.day,
      change: ({ id, total_amount }) => events.refund(id, Number(total_amount) / 3),
    },
    {
      name: "attributed late",
      days: 60,
      check: checks.day,
      change: ({ order_date }) => events.attributeLate(Date.parse(order_date)),
    },
    { name: "withdrawn", days: 150, check: checks.day, change: ({ id }) => void events.withdraw(id) },
    { name: "cancelled", days: 360, check: "cancelled", change: ({ id }) => events.cancel(id) },
    {
      name: "commission raised",
      days: 550,
      check: checks.day,
      change: ({ id, commission_rate }) => events.changeRate(id, commission_rate + 5),
    },
  ];
  return kinds.map(({ name, days, check, change }) => {
    const isOfAge = ({ order_date }: Order) =>
      Math.abs((now - Date.parse(order_date)) / dayMs / days - 1) < 1 / 6;
    const isUnchanged = ({ is_cancelled, refund_amount, total_amount }: Order) =>
      !is_cancelled && !refund_amount && Boolean(total_amount);
    const candidates = brand.orders.filter((order) => isOfAge(order) && isUnchanged(order));
    const order = candidates[(seed * 7_919) % candidates.length];
    if (!order)
      throw new UsageError(`No order is about ${days} days old.`, {
        hint: "create more orders with `--orders`",
      });
    const id = String(change(order) ?? order.id);
    return { name: `${name}, ${id}`, id, date: formatInstant(Date.parse(order.order_date)), check };
  });
}

/** Changes seven records. For each day, prints the changes that a typical script and a sync have found. */
export async function runChallenge(flags: DemoFlags, { deps, runCommand }: Context): Promise<void> {
  const { seed = 1, orders = 2_000, out = "brandapi-challenge", quiet } = flags;
  // Start far enough in the past that the simulated days end before the present. Each daily
  // sync audits 490 orders, so auditing all orders takes `orders / 490` days.
  let time = Math.floor(deps.clock.now() / dayMs - orders / 490 - 5) * dayMs;
  const pastDeps = { ...deps, clock: { ...deps.clock, now: () => time } };
  const { brand, close, sandboxDeps } = await startDemo(out, { seed, orders, now: time }, pastDeps);
  const copy: ScriptCopy = { orders: new Map(), roster: new Map() };
  const print = (text: string) => void (quiet || deps.stdout.write(`${text}\n`));

  async function run<Line>(command: string): Promise<Line[]> {
    const stdout = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    await runCommand([...command.split(" "), "--quiet"], { ...sandboxDeps, stdout }).catch(
      (error: unknown) => {
        if (!(error instanceof Incomplete)) throw error;
      },
    );
    const lines = String(stdout.read() ?? "").split("\n");
    return lines.filter(Boolean).map((line): Line => JSON.parse(line));
  }
  const syncBoth = () => Promise.all([runPlainScript(copy, sandboxDeps), run("sync orders roster")]);
  const verify = () => run<{ evidence: Evidence[] }>("verify orders roster --evidence --json");
  const collectEvidence = async () => (await verify()).flatMap((result) => result.evidence);

  try {
    print(
      `A typical script and \`brandapi sync\` both read a brand with ${pluralize(orders, "order")}. After its first run, the script reads only the orders of the last 30 days.`,
    );
    await syncBoth();
    const before: ScriptCopy = { orders: new Map(copy.orders), roster: new Map(copy.roster) };
    let undetected = changeSilently(brand, seed, time);
    print(
      "\nNow seven records change without notice. For each change, `brandapi verify --evidence` shows:\n",
    );
    let evidence = await collectEvidence();
    for (const change of undetected) print(`  ${change.name}: ${describeEvidence(change, evidence)}`);
    while (undetected.length > 0) {
      if (time > deps.clock.now()) throw new Incomplete(`No sync found this change: ${undetected[0]?.name}.`);
      time += dayMs;
      await syncBoth();
      const changes = await run<{ key: string }>("export changes --ndjson");
      const missed = undetected.filter(({ id }) => changes.every(({ key }) => key !== id));
      const rows = undetected.map((change) => [
        change.name,
        isDeepStrictEqual(findRecord(copy, change), findRecord(before, change)) ? "missed" : "found",
        missed.includes(change) ? "not yet" : "found",
        describeEvidence(change, evidence),
      ]);
      print(`\nAfter the sync on ${utcDay(time)}:\n`);
      print(renderTable(["change", "script", "brandapi", "evidence"], rows));
      undetected = missed;
      evidence = await collectEvidence();
    }
    const [first] = evidence;
    print(
      `\nTo run this check against your own API (here: ${formatCount(first?.api ?? 0)} orders in the API, ${formatCount(first?.mirror ?? 0)} in ${out}):\n`,
    );
    print(`${first?.request}\n${first?.sql}`);
  } finally {
    await close();
  }
}

function describeEvidence({ check, date }: SilentChange, evidence: readonly Evidence[]): string {
  const ofDate = evidence.filter(({ from, to }) => (from ?? "") <= date && date <= (to ?? "9999"));
  const difference = ofDate.findLast((each) => each.agrees === false && each.check === check);
  if (!difference)
    return `not detected by any check; ${ofDate.find((each) => each.check === checks.undetected)?.note}`;
  const { api, mirror, note } = difference;
  return api === null ? `${note}` : `${check}: ${api} in the API, ${mirror} in the mirror`;
}
