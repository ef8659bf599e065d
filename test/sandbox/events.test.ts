import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.js";
import { ask, askAll, day, handClock, noon, sandboxOf } from "./support.js";

type Fields = Record<string, unknown>;

async function orderById(sandbox: Sandbox, id: string): Promise<Fields | undefined> {
  return (await askAll(sandbox, "/orders")).find((order) => order.id === id);
}

async function untouchedOrder(sandbox: Sandbox): Promise<Fields & { id: string; total_amount: number }> {
  const orders = await askAll(sandbox, "/orders?status=active");
  const found = orders
    .slice(60)
    .find((order) => !order.refund_amount && Number(order.total_amount) > 10 && order.host);
  return found as Fields & { id: string; total_amount: number };
}

describe("events on demand", () => {
  test("a new order is first, a late one is manual and stands at its old date, and both count", async () => {
    const sandbox = await sandboxOf({}, handClock());
    const fresh = sandbox.events.newOrder();
    const late = sandbox.events.lateOrder(noon - 400 * day);
    const orders = await askAll(sandbox, "/orders");
    expect(orders).toHaveLength(402);
    expect(orders[0]).toMatchObject({
      id: fresh,
      attribution: "tracked",
      order_date: new Date(noon).toISOString(),
    });
    const place = orders.findIndex(({ id }) => id === late);
    expect(orders[place]?.attribution).toBe("manual");
    expect(place).toBeGreaterThan(100);
    expect(orders).toEqual([...sandbox.records("orders")]);
    expect(sandbox.count("orders")).toBe(402);
  });

  test("a partial refund moves the amount only; the rest makes the order refunded", async () => {
    const sandbox = await sandboxOf();
    const { id, total_amount } = await untouchedOrder(sandbox);
    expect(sandbox.events.refund(id, 3.25)).toBe(false);
    expect(await orderById(sandbox, id)).toMatchObject({ refund_amount: 3.25, is_refunded: false });
    expect(sandbox.events.refund(id, 1)).toBe(false);
    expect(await orderById(sandbox, id)).toMatchObject({ refund_amount: 4.25, is_refunded: false });
    expect(sandbox.events.refund(id)).toBe(true);
    expect(await orderById(sandbox, id)).toMatchObject({
      refund_amount: total_amount,
      is_refunded: true,
      commission_amount: 0,
      financial_status: "refunded",
    });
    expect((await askAll(sandbox, "/orders?status=active")).some((order) => order.id === id)).toBe(false);
    expect((await askAll(sandbox, "/orders?status=refunded")).some((order) => order.id === id)).toBe(true);
  });

  test("orders can be cancelled, withdrawn, re-dated, given another host, rate or none", async () => {
    const sandbox = await sandboxOf();
    const { events } = sandbox;
    const { id } = await untouchedOrder(sandbox);
    const [host] = [...sandbox.records("roster")].map((entry) => (entry as { host: { id: string } }).host);
    events.changeHost(id, host?.id ?? "");
    events.changeCommission(id, 33.3);
    expect(await orderById(sandbox, id)).toMatchObject({ host: { id: host?.id }, commission_rate: 33.3 });
    events.changeHost(id, null);
    expect(await orderById(sandbox, id)).toMatchObject({ host: null });
    const before = await orderById(sandbox, id);
    events.redate(id, noon - 5 * day);
    const moved = await orderById(sandbox, id);
    expect(Date.parse(String(moved?.order_date))).toBe(noon - 5 * day);
    expect({ ...moved, order_date: before?.order_date }).toEqual(before);
    events.cancel(id);
    expect(await orderById(sandbox, id)).toMatchObject({ is_cancelled: true, is_refunded: false });
    events.withdraw(id);
    expect(await orderById(sandbox, id)).toBeUndefined();
    expect(sandbox.count("orders")).toBe(399);
    for (const act of [events.cancel, events.withdraw]) expect(() => act(id)).toThrow(RangeError);
  });

  test("the brand's default rate rewrites every order and roster entry without a rate of its own", async () => {
    const sandbox = await sandboxOf();
    const before = [...sandbox.records("orders")] as Fields[];
    sandbox.events.setDefaultRate(14);
    const after = [...sandbox.records("orders")] as Fields[];
    const changed = after.filter((order, place) => order.commission_rate !== before[place]?.commission_rate);
    expect(changed.length).toBeGreaterThan(100);
    expect(changed.every(({ commission_rate }) => commission_rate === 14)).toBe(true);
  });

  test("a host leaves the roster and returns under a new relationship; a rate changes there and on no order", async () => {
    const sandbox = await sandboxOf();
    const roster = await askAll(sandbox, "/roster");
    const entry = roster[3] as { relationship_id: string; host: { id: string } };
    sandbox.events.leaveRoster(entry.host.id);
    const without = await askAll(sandbox, "/roster");
    expect(without).toEqual(roster.filter((one) => one !== (entry as unknown)));
    expect(() => sandbox.events.leaveRoster(entry.host.id)).toThrow(RangeError);
    const orders = await askAll(sandbox, "/orders");
    const relationship = sandbox.events.joinRoster(entry.host.id);
    expect(relationship).not.toBe(entry.relationship_id);
    sandbox.events.setRate(entry.host.id, 31.5);
    const [back] = await askAll(sandbox, "/roster");
    expect(back).toMatchObject({
      relationship_id: relationship,
      host: entry.host,
      commission_rate: 31.5,
      status: "active",
    });
    expect(await askAll(sandbox, "/orders")).toEqual(orders);
    for (let n = 0; n < 60; n++) sandbox.events.joinRoster();
    const hosts = (await askAll(sandbox, "/roster")).map(({ host }) => (host as { id: string }).id);
    expect(new Set(hosts).size).toBe(hosts.length);
  });

  test("campaigns and assignments move, and the roster counts them", async () => {
    const sandbox = await sandboxOf();
    const details = [...sandbox.records("opportunity-details")] as (Fields & {
      id: string;
      updated_at: string;
      assignments: { id: string; status: string; host: { id: string } | null }[];
    })[];
    const onRoster = new Set(
      (await askAll(sandbox, "/roster")).map(({ host }) => (host as { id: string }).id),
    );
    const campaign = details.find(({ assignments }) =>
      assignments.some(({ host }) => host && onRoster.has(host.id)),
    );
    const assignment = campaign?.assignments.find(({ host }) => host && onRoster.has(host.id));
    if (!campaign || !assignment) throw new Error("No campaign with a host of the roster.");
    sandbox.events.setAssignment(assignment.id, { status: "ACTIVE", brandPayment: "INVOICED" });
    const detail = (await ask(sandbox, `/opportunities/${campaign.id}`)).json.data;
    expect(detail.updated_at).toBe(campaign.updated_at);
    expect(detail.assignments.find(({ id }: Fields) => id === assignment.id)).toMatchObject({
      status: "ACTIVE",
      brand_payment_state: "INVOICED",
    });
    expect(detail.assignment_counts.ACTIVE).toBeGreaterThan(0);
    const entry = (await askAll(sandbox, "/roster")).find(
      ({ host }) => (host as { id: string }).id === assignment.host?.id,
    );
    expect(entry?.campaigns).toMatchObject({ status: "active" });
    sandbox.events.moveCampaign(campaign.id, "ARCHIVED");
    const listed = (await askAll(sandbox, "/opportunities?status=archived")).find(
      ({ id }) => id === campaign.id,
    );
    expect(listed?.updated_at).not.toBe(campaign.updated_at);
    const added = sandbox.events.addCampaign();
    expect((await askAll(sandbox, "/opportunities"))[0]).toMatchObject({ id: added, status: "PROPOSED" });
  });

  test("files are added where their date puts them, and removed", async () => {
    const sandbox = await sandboxOf();
    const added = sandbox.events.addContent({
      filename: "../../etc/passwd",
      createdAt: noon - 90 * day,
      size: 10,
    });
    const items = await askAll(sandbox, "/content");
    const place = items.findIndex(({ id }) => id === added.id);
    expect(items[place]).toMatchObject({ filename: "../../etc/passwd", file_size_bytes: 10 });
    const dates = items.map(({ created_at }) => String(created_at));
    expect(dates).toEqual([...dates].sort().reverse());
    sandbox.events.removeContent(added.source, added.id);
    expect(await askAll(sandbox, "/content")).toEqual(items.filter((_, n) => n !== place));
  });

  test("gifts, codes and recommendations change too", async () => {
    const sandbox = await sandboxOf();
    const gift = sandbox.events.addGift();
    sandbox.events.setOpenRecord("gifts", gift.id, { status: "lost", stars: 3 });
    expect((await askAll(sandbox, "/gifts"))[0]).toMatchObject({ id: gift.id, status: "lost", stars: 3 });
    sandbox.events.removeOpenRecord("gifts", gift.id);
    expect((await askAll(sandbox, "/gifts")).some(({ id }) => id === gift.id)).toBe(false);
    const code = sandbox.events.addCode();
    expect((await askAll(sandbox, "/codes"))[0]?.id).toBe(code.id);
    const [first] = (await askAll(sandbox, "/recommendations")) as { host: { id: string } }[];
    sandbox.events.setRecommendation(first?.host.id ?? "", [0, 1]);
    expect((await askAll(sandbox, "/recommendations"))[0]).toMatchObject({ product_count: 2 });
    sandbox.events.setRecommendation(first?.host.id ?? "", []);
    expect((await askAll(sandbox, "/recommendations"))[0]).not.toMatchObject({
      host: { id: first?.host.id },
    });
  });
});
