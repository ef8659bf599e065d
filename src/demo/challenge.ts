import { PassThrough } from "node:stream";
import { json } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { Context } from "../cli/context.js";
import type { Deps } from "../deps.js";
import { Incomplete, UsageError } from "../errors.js";
import type { Brand, Order } from "../sandbox/brand.js";
import { createBrandEvents } from "../sandbox/events.js";
import type { JsonObject } from "../util/json-value.js";
import { utcDay } from "../util/ranges.js";
import { renderTable } from "../util/terminal-table.js";
import { dayMs, formatInstant } from "../util/times.js";
import type { Evidence } from "../verify/evidence.js";
import { type DemoOptions, startDemo } from "./demonstration.js";

/**
 * The script that most people write, as well as they write it: every order the first time, those of the last 30 days every
 * night, by page numbers and over what is there; the roster whole.
 * @param copy the records that it keeps, by their ids
 */
export async function runPlainScript(copy: Map<string, object>, { clock, env, fetch }: Deps) {
  async function* records(path: string, query: Record<string, string>) {
    for (let page = 1, hasNext = true; hasNext; page += 1) {
      const parameters = new URLSearchParams({ ...query, per_page: "100", page: String(page) });
      const headers = { authorization: `Bearer ${env.BRANDAPI_KEY}` };
      const answer = await fetch(`${env.BRANDAPI_BASE_URL}${path}?${parameters}`, { headers });
      if (answer.status !== 200 || !answer.body) throw new Error(`${path}: ${answer.status}`);
      const body = (await json(answer.body)) as { data: JsonObject[]; pagination: { has_next: boolean } };
      yield* body.data;
      hasNext = body.pagination.has_next;
    }
  }

  const since = new Date(clock.now() - 30 * 86_400_000).toISOString();
  for await (const order of records("/orders", copy.size === 0 ? {} : { start_date: since }))
    copy.set(String(order.id), order);
  for (const [id, one] of copy) if ("relationship_id" in one) copy.delete(id);
  for await (const entry of records("/roster", {})) copy.set(String(entry.relationship_id), entry);
}

/**
 * Changes a record in each of seven ways, of which the API says nothing. The seed chooses it.
 * @returns the record's id, the date of its order, and the check of `verify --evidence` that may show the change
 */
export function changeSilently(brand: Brand, seed: number, now: number) {
  const happen = createBrandEvents(brand, () => now);
  // The change, the age of its order in days, the check that may show it, and how; some return another record's id.
  const kinds: readonly [string, number, string, (order: Order) => unknown][] = [
    ["host left", 20, "one by one", () => happen.leave(brand.roster[0]?.host.id ?? "")],
    ["refunded", 15, "refunded", ({ id }) => happen.refund(id)],
    ["refunded in part", 275, "a day", ({ id, total_amount }) => happen.refund(id, Number(total_amount) / 3)],
    ["attributed late", 60, "a day", ({ order_date }) => happen.attributeLate(Date.parse(order_date))],
    ["withdrawn", 150, "a day", ({ id }) => void happen.withdraw(id)],
    ["cancelled", 360, "cancelled", ({ id }) => happen.cancel(id)],
    ["commission raised", 550, "a day", (one) => happen.changeRate(one.id, one.commission_rate + 5)],
  ];
  return kinds.map(([what, days, check, change]) => {
    const isOfAge = (one: Order) => Math.abs((now - Date.parse(one.order_date)) / dayMs / days - 1) < 1 / 6;
    const isPlain = (one: Order) => !one.is_cancelled && !one.refund_amount && one.total_amount;
    const fit = brand.orders.filter((one) => isOfAge(one) && isPlain(one));
    const order = fit[(seed * 7_919) % fit.length];
    if (!order) throw new UsageError(`No order is ${days} days old.`, { hint: "take more with `--orders`" });
    const id = String(change(order) ?? order.id);
    return { name: `${what}, ${id}`, id, dated: formatInstant(Date.parse(order.order_date)), check };
  });
}

/** Changes seven records in silence, and shows which of them a plain script finds, which a sync, and by what. */
export async function runChallenge(options: DemoOptions, { deps, brandapi }: Context): Promise<void> {
  const { seed = 1, orders = 2_000, out = "brandapi-challenge", quiet } = options;
  // All nights are over by now: each reads 490 orders again.
  let time = Math.floor(deps.clock.now() / dayMs - orders / 490 - 5) * dayMs;
  const there = { ...deps, clock: { ...deps.clock, now: () => time } };
  const { at, brand, close } = await startDemo(out, { seed, orders, now: time }, there);
  const copy = new Map<string, object>();
  const say = (text: string) => void (quiet || deps.stdout.write(`${text}\n`));

  /** Runs a command, and returns its lines of JSON: they say what is incomplete. */
  async function run<Line>(command: string): Promise<Line[]> {
    const stdout = new PassThrough({ highWaterMark: Number.MAX_SAFE_INTEGER });
    await brandapi([...command.split(" "), "--quiet"], { ...at, stdout }).catch((error: unknown) => {
      if (!(error instanceof Incomplete)) throw error;
    });
    const lines = String(stdout.read() ?? "").split("\n");
    return lines.filter(Boolean).map((line): Line => JSON.parse(line));
  }
  const night = () => Promise.all([runPlainScript(copy, at), run("sync orders roster")]);
  const verify = () => run<{ evidence: Evidence[] }>("verify orders roster --evidence --json");
  const readClaims = async () => (await verify()).flatMap(({ evidence }) => evidence);

  try {
    say(`A plain script (30 days, page by page) and \`brandapi sync\` read a brand of ${orders} orders.`);
    await night();
    const before = new Map(copy);
    let open = changeSilently(brand, seed, time);
    say("\nThen seven records change in silence. `brandapi verify --evidence` says what shows each:\n");
    let claims = await readClaims();
    for (const one of open) say(`  ${one.name}: ${describeEvidence(one, claims)}`);
    while (open.length > 0) {
      if (time > deps.clock.now()) throw new Incomplete(`Not found in any night: ${open[0]?.name}.`);
      time += dayMs;
      await night();
      const changes = await run<{ key: string }>("export changes --ndjson");
      const missed = open.filter(({ id }) => changes.every(({ key }) => key !== id));
      const rows = open.map((one) => [
        one.name,
        isDeepStrictEqual(copy.get(one.id), before.get(one.id)) ? "missed" : "found",
        missed.includes(one) ? "not yet" : "found",
        describeEvidence(one, claims),
      ]);
      say(`\nThe night of ${utcDay(time)}:\n`);
      say(renderTable(["change", "script", "brandapi", "evidence"], rows));
      open = missed;
      claims = await readClaims();
    }
    const [first] = claims;
    say(`\nBy hand, with your own API (here ${first?.api} orders, ${first?.mirror} in ${out}):\n`);
    say(`${first?.request}\n${first?.sql}`);
  } finally {
    await close();
  }
}

/** Returns the claim that shows a change, or else the night (`2026-11-25`) by which its order is read again. */
function describeEvidence(
  { check, dated }: Record<"check" | "dated", string>,
  claims: readonly Evidence[],
): string {
  const ofDate = claims.filter(({ from, to }) => (from ?? "") <= dated && dated <= (to ?? "9999"));
  const shown = ofDate.findLast((one) => one.agrees === false && one.check === check);
  if (!shown) return `nothing: ${ofDate.find((one) => one.check === "blind spot")?.note}`;
  return shown.api === null ? `${shown.note}` : `${check}: ${shown.api} in the API, ${shown.mirror} here`;
}
