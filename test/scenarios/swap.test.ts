import { expect, test } from "vitest";
import { brandForTest, byId, nthRead, type OrderSeen, ordersOf } from "./brand.js";

test("one order leaves a page that was read while an old one comes to a page that was not: nobody else is removed", async () => {
  const brand = await brandForTest({ orders: 250, seed: 5 });
  expect((await brand.run("sync orders")).code).toBe(0);
  const before = ordersOf(brand.sandbox);
  // Neither cancelled nor refunded: so that no other count gives the swap away.
  const isPlain = (order: OrderSeen | undefined) => order && !order.is_cancelled && !order.is_refunded;
  const leaver = before.slice(40, 90).find(isPlain);
  expect(isPlain(before[100])).toBe(true);
  const isSecond = nthRead("/orders", 2);
  brand.sandbox.intercept = (request) => {
    if (!isSecond(request)) return;
    brand.sandbox.intercept = undefined;
    brand.sandbox.events.withdraw(leaver?.id ?? "");
    brand.sandbox.events.lateOrder(Date.parse(before[240]?.order_date ?? ""));
  };
  expect((await brand.run("sync orders --full")).code).toBe(0);
  expect(brand.sandbox.intercept).toBeUndefined();
  const after = ordersOf(brand.sandbox).map(({ id }) => id);
  const mirrored = new Set((brand.mirrored("orders") as OrderSeen[]).map(({ id }) => id));
  expect(after.filter((id) => !mirrored.has(id))).toEqual([]);
  // The one that left is found by the next run at the latest.
  expect((await brand.run("sync orders")).code).toBe(0);
  expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
});

test.each(["sync", "verify"])(
  "one host leaves a page of the roster that was read while another joins it: `%s` removes nobody else, and the next run tells",
  async (command) => {
    const brand = await brandForTest({ orders: 2_400 });
    const roster = () =>
      [...brand.sandbox.records("roster")] as { relationship_id: string; host: { id: string } }[];
    expect(roster().length).toBeGreaterThan(100);
    const before = roster().map(key).sort();
    if (command === "verify") await brand.run("sync roster");
    brand.sandbox.intercept = ({ path, query }) => {
      if (path !== "/roster" || query.get("page") !== "2") return;
      brand.sandbox.intercept = undefined;
      brand.sandbox.events.leaveRoster(roster()[3]?.host.id ?? "");
      brand.sandbox.events.joinRoster();
    };
    // Both happen on the page that was read: what the answers show is the roster as it was before.
    expect((await brand.run(`${command} roster`)).code).toBe(0);
    expect(brand.sandbox.intercept).toBeUndefined();
    expect((brand.mirrored("roster") as { relationship_id: string }[]).map(key).sort()).toEqual(before);
    expect(brand.changes("roster")).toEqual([]);
    // What is there now is not what was mirrored.
    expect((await brand.run("verify roster")).code).toBe(8);
    expect((await brand.run("sync roster")).code).toBe(0);
    expect((brand.mirrored("roster") as { relationship_id: string }[]).map(key).sort()).toEqual(
      roster().map(key).sort(),
    );
  },
);

const day = 86_400_000;

test.each([
  { swaps: "once", times: 1, code: 0, why: /verified/ },
  {
    swaps: "each time",
    times: Number.POSITIVE_INFINITY,
    code: 8,
    why: /somebody else was missing from .* each time/,
  },
])(
  "one order of a crowd leaves a page that was read while another comes to one that was not, $swaps: no third is removed",
  async ({ times, code, why }) => {
    const brand = await brandForTest({ orders: 150 });
    const at = brand.sandbox.now() - 5 * day;
    for (let n = 0; n < 130; n += 1) brand.sandbox.events.lateOrder(at);
    expect((await brand.run("sync orders")).code).toBe(0);
    const crowd = () => ordersOf(brand.sandbox).filter(({ order_date }) => Date.parse(order_date) === at);
    let left = times;
    const gone: string[] = [];
    brand.sandbox.intercept = ({ path, query }) => {
      if (path !== "/orders" || query.get("page") !== "2" || left === 0) return;
      left -= 1;
      // The next one comes to the page that was read, and the new one to the end of the list.
      const leaver = crowd()[10]?.id ?? "";
      gone.push(leaver);
      brand.sandbox.events.withdraw(leaver);
      brand.sandbox.events.lateOrder(at - 1);
    };
    const run = await brand.run("sync orders --full");
    expect(run.code, run.err).toBe(code);
    expect(run.err + run.out).toMatch(why);
    expect(gone.length).toBeGreaterThan(0);
    const there = new Set(ordersOf(brand.sandbox).map(({ id }) => id));
    const removed = brand.changes("orders").filter(({ kind }) => kind === "removed");
    expect(removed.filter(({ key: id }) => there.has(id))).toEqual([]);
    brand.sandbox.intercept = undefined;
    await brand.run("sync orders");
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(byId(brand.mirrored("orders") as OrderSeen[])).toEqual(byId(ordersOf(brand.sandbox)));
  },
);

function key({ relationship_id }: { relationship_id: string }): string {
  return relationship_id;
}
