import { expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { answers } from "../docs/answers.js";
import { shown } from "../docs/shown.js";
import { type Brand, brandForTest, day } from "../scenarios/brand.js";
import { currencyOf, dayOf, figuresOf, grouped, hostOf, monthOf } from "./oracle.js";

type Row = Record<string, unknown>;
type Name = (typeof answers)[number]["name"];

/** The API's own records, as they were at the first sync and are now. */
interface World {
  brand: Brand;
  before: Records;
  now: Records;
}
type Records = Record<"orders" | "roster" | "opportunities" | "content" | "clicks", JsonObject[]>;

/** A brand whose time is now: answers speak of last month and the last seven days. */
async function aBrand(): Promise<World> {
  const brand = await brandForTest({ orders: 2_500, seed: 11, now: Date.now() - 75 * day, pace: 1 });
  expect((await brand.run("sync")).code).toBe(0);
  const before = records(brand);
  brand.sandbox.advance(75 * day);
  expect((await brand.run("sync --window 400d")).code).toBe(0);
  return { brand, before, now: records(brand) };
}

function records(brand: Brand): Records {
  const of = (resource: string) => brand.mirrored(resource) as JsonObject[];
  const clicks = brand.sql<{ json: string; month: string }>(
    "SELECT json, context ->> 'period_start' AS month FROM records WHERE resource = 'analytics-clicks'",
  );
  return {
    orders: of("orders"),
    roster: of("roster"),
    opportunities: of("opportunities"),
    content: of("content"),
    clicks: clicks.map(({ json, month }) => ({
      ...(JSON.parse(json) as JsonObject),
      month: month.slice(0, 7),
    })),
  };
}

const usernameOf = (record: JsonObject) =>
  ((record.host as JsonObject | null)?.username ?? null) as string | null;
const round = (value: number, digits: number) => Number(value.toFixed(digits));
const monthBefore = (month: string) => new Date(Date.parse(`${month}-01`) - day).toISOString().slice(0, 7);

/** The newest first, then the currency, null first as in SQL. */
const newest = (rows: Row[]) =>
  rows
    .sort((a, b) =>
      a.month === b.month
        ? String(a.currency ?? "") < String(b.currency ?? "")
          ? -1
          : 1
        : String(a.month) > String(b.month)
          ? -1
          : 1,
    )
    .slice(0, 12);

const byMonth = ({ now }: World) =>
  grouped(now.orders, (order) => ({ month: monthOf(order), currency: currencyOf(order) }));

/** The same answers, worked out from the records alone. `today` is the day on which it is asked. */
const wanted: Record<Name, (world: World, today: string) => unknown[]> = {
  net: (world) =>
    newest(
      byMonth(world).map(({ month, currency, orders, gross_amount, refunded_amount, net_amount }) => ({
        month,
        currency,
        orders,
        gross_amount,
        refunded_amount,
        net_amount,
      })),
    ),

  "refund rate": (world) =>
    newest(
      byMonth(world).map(({ month, currency, orders, gross_amount, refunded_amount }) => ({
        month,
        currency,
        orders,
        refunded_orders: world.now.orders.filter(
          (order) =>
            monthOf(order) === month &&
            currencyOf(order) === currency &&
            !order.is_cancelled &&
            Number(order.refund_amount) > 0,
        ).length,
        percent: gross_amount === 0 ? null : round((100 * refunded_amount) / gross_amount, 1),
      })),
    ),

  hosts({ now }, today) {
    const month = monthBefore(today.slice(0, 7));
    const own = grouped(
      now.orders.filter((order) => monthOf(order) === month),
      (order) => ({ host: hostOf(order), host_username: usernameOf(order), currency: currencyOf(order) }),
    );
    const ranking = (now.clicks.find((answer) => answer.month === month)?.top_hosts ?? []) as JsonObject[];
    return own
      .sort((a, b) => b.net_amount - a.net_amount)
      .slice(0, 10)
      .map(({ host, host_username, currency, orders, net_amount }) => {
        const row = ranking.find((one) => ((one.host as JsonObject | null)?.id ?? null) === host);
        return {
          host_username,
          currency,
          orders,
          net_amount,
          clicks: row?.total_clicks ?? null,
          conversion_rate: row?.conversion_rate ?? null,
        };
      });
  },

  roster({ before, now }, today) {
    const ids = (all: JsonObject[]) => new Set(all.map(({ relationship_id }) => relationship_id));
    const told = (what: string, some: JsonObject[], others: JsonObject[]) =>
      some
        .filter((one) => !ids(others).has(one.relationship_id))
        .map((one) => ({ day: today, what, host_username: usernameOf(one) }));
    const rows = [...told("joined", now.roster, before.roster), ...told("left", before.roster, now.roster)];
    return rows.sort((a, b) => (`${a.what} ${a.host_username}` < `${b.what} ${b.host_username}` ? -1 : 1));
  },

  commission({ before, now }) {
    const groups = grouped(now.orders, (order) => ({
      host: hostOf(order),
      host_username: usernameOf(order),
      currency: currencyOf(order),
    }));
    const brings = (order: JsonObject | undefined) =>
      order && order.is_cancelled !== true ? Number(order.commission_amount ?? 0) : 0;
    const today = new Map(now.orders.map((order) => [order.id, order]));
    return groups
      .sort((a, b) => b.commission_amount - a.commission_amount)
      .slice(0, 10)
      .map(({ host, host_username, currency, orders, commission_amount }) => {
        const own = before.orders.filter((order) => hostOf(order) === host && currencyOf(order) === currency);
        const lost = own.reduce((sum, order) => {
          const after = today.get(order.id);
          const isSame = after && hostOf(after) === host && currencyOf(after) === currency;
          return sum + Math.max(0, brings(order) - brings(isSame ? after : undefined));
        }, 0);
        return { host_username, currency, orders, commission_amount, taken_back: round(lost, 6) };
      });
  },

  "late refunds"({ before, now, brand }) {
    const [first, second] = brand
      .sql<{ started_at: string }>("SELECT started_at FROM sync_runs WHERE resource = 'orders'")
      .map(({ started_at }) => Date.parse(started_at));
    const was = new Map(before.orders.map((order) => [order.id, order]));
    return now.orders
      .filter((order) => was.has(order.id) && !order.is_cancelled)
      .map((order) => {
        const placed = Date.parse(String(order.order_date));
        return {
          order_number: order.order_number,
          ordered: dayOf(order),
          currency: currencyOf(order),
          refunded_amount: round(
            Number(order.refund_amount ?? 0) - Number(was.get(order.id)?.refund_amount ?? 0),
            6,
          ),
          days_at_least: Math.floor((Number(first) - placed) / day),
          days_at_most: Math.ceil((Number(second) - placed) / day),
        };
      })
      .filter((row) => row.refunded_amount !== 0 && row.days_at_least > 30)
      .sort((a, b) => b.refunded_amount - a.refunded_amount)
      .slice(0, 10);
  },

  campaigns({ now }) {
    const count = (of: unknown, isIt: (one: JsonObject) => boolean) =>
      ((of ?? []) as JsonObject[]).filter(isIt).length;
    return now.opportunities
      .map(({ title, status, deadline, deliverables, assignments }) => ({
        title,
        status,
        deadline,
        deliverables_open: ["ACTIVE", "COMPLETED"].includes(String(status))
          ? count(deliverables, (one) => one.completed_at === null)
          : 0,
        assignments_open: count(assignments, (one) => one.status === "ACTIVE"),
        payments_open: count(
          assignments,
          (one) =>
            ["INVOICED", "PAYMENT_PENDING", "FAILED"].includes(String(one.brand_payment_state)) ||
            (one.status === "COMPLETED" && one.brand_payment_state === "NOT_INVOICED"),
        ),
        payouts_open: count(assignments, (one) =>
          ["EARNED", "SCHEDULED_FOR_PAYOUT", "ON_HOLD", "FAILED"].includes(String(one.athlete_payment_state)),
        ),
      }))
      .filter(
        (row) => row.deliverables_open + row.assignments_open + row.payments_open + row.payouts_open > 0,
      )
      .sort((a, b) => (`${a.deadline ?? ""} ${a.title}` < `${b.deadline ?? ""} ${b.title}` ? -1 : 1))
      .slice(0, 10);
  },

  content({ now }) {
    const names = [...new Set(now.content.filter((file) => hostOf(file) !== null).map(usernameOf))];
    return names
      .map((host_username) => {
        const own = now.content.filter((file) => usernameOf(file) === host_username && hostOf(file) !== null);
        const of = (type: string) => own.filter((file) => file.media_type === type).length;
        const last = own
          .map((file) => String(file.created_at))
          .sort()
          .at(-1);
        return {
          host_username,
          files: own.length,
          images: of("image"),
          videos: of("video"),
          last_added: last?.slice(0, 10),
        };
      })
      .sort((a, b) => b.files - a.files || (String(a.host_username) < String(b.host_username) ? -1 : 1))
      .slice(0, 10);
  },

  growth: (world, today) =>
    newest(
      byMonth(world).map(({ month, currency }) => {
        const isPartial = month === today.slice(0, 7);
        const isWhole = (order: JsonObject) => !isPartial || dayOf(order).slice(8) < today.slice(8);
        const of = (wanted: string) =>
          world.now.orders.filter((order) => monthOf(order) === wanted && currencyOf(order) === currency);
        const earlier = of(monthBefore(month));
        const hasDays = !isPartial || !today.endsWith("-01");
        const net_through = hasDays ? figuresOf(of(month).filter(isWhole)).net_amount : null;
        const net_before =
          hasDays && earlier.length > 0 ? figuresOf(earlier.filter(isWhole)).net_amount : null;
        return {
          month,
          currency,
          is_partial: isPartial ? 1 : 0,
          net_through,
          net_before,
          more: net_through !== null && net_before ? round((100 * net_through) / net_before - 100, 1) : null,
        };
      }),
    ),

  week({ now }, today) {
    const from = new Date(Date.parse(today) - 7 * day).toISOString().slice(0, 10);
    const week = now.orders.filter((order) => from <= dayOf(order) && dayOf(order) < today);
    return grouped(week, (order) => ({ currency: currencyOf(order) }))
      .map(({ currency, orders, cancelled_orders, net_amount }) => ({
        currency,
        orders,
        cancelled: cancelled_orders,
        net: round(net_amount, 2),
      }))
      .sort((a, b) => ((a.currency ?? "") < (b.currency ?? "") ? -1 : 1));
  },
};

test("each question that people ask is one SELECT of at most three lines, with the right answer", async () => {
  const world = await aBrand();
  for (const { name, question, sql } of answers) {
    expect(sql.split("\n").length).toBeLessThanOrEqual(3);
    // Asked again where midnight was in between: the answer is of the day on which it is asked.
    for (let isSameDay = false; !isSameDay; ) {
      const today = new Date().toISOString().slice(0, 10);
      const rows = world.brand.sql<Row>(sql);
      isSameDay = new Date().toISOString().slice(0, 10) === today;
      if (!isSameDay) continue;
      expect([question, rows]).toEqual([question, wanted[name](world, today)]);
      expect(rows.length).toBeGreaterThan(1);
      // What the document shows was printed by this very question.
      const titles = shown[name].split("\n")[0]?.replace("…", "").split(/\s+/) ?? [];
      expect(Object.keys(rows[0] ?? {}).map((key, at) => key.startsWith(titles[at] ?? "-"))).not.toContain(
        false,
      );
    }
  }
}, 120_000);
