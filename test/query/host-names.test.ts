import { expect, test } from "vitest";
import { makeMirror, writeRead } from "../support/mirror.js";
import { orderAt } from "../support/records.js";

const hosts = {
  handle: { id: "11111111-a", username: "ada", first_name: "Ada", last_name: "Lovelace" },
  full: { id: "22222222-b", username: null, first_name: "Grace", last_name: "Hopper" },
  first: { id: "33333333-c", username: "", first_name: "Cher", last_name: null },
  none: { id: "44444444-d", username: null, first_name: null, last_name: null },
};
const named = [
  { host_id: "11111111-a", host_username: "ada", host_label: "ada" },
  { host_id: "22222222-b", host_username: null, host_label: "Grace Hopper" },
  { host_id: "33333333-c", host_username: "", host_label: "Cher" },
  { host_id: "44444444-d", host_username: null, host_label: "44444444" },
];

test("views label a host without a handle with the host's name or the first eight characters of the ID", async () => {
  const mirror = await makeMirror();
  const all = Object.values(hosts);
  const at = (n: number) => `2026-11-0${n}T00:00:00.000Z`;
  const orders = all.map((host, n) => orderAt(`o${n}`, Date.parse(at(1)), { host, refund_amount: 0 }));
  const members = all.map((host, n) => ({ relationship_id: `r${n}`, host, commission_rate: 8 }));
  const ranked = all.map((host) => ({ host, clicks: 1, buy_now_clicks: 0, orders: 0, sales: 1 }));
  writeRead(mirror, "orders", orders, { at: at(2), whole: true });
  writeRead(
    mirror,
    "orders",
    orders.map((order) => ({ ...order, refund_amount: 2 })),
    { at: at(3), whole: true },
  );
  writeRead(mirror, "roster", members, { at: at(2) });
  writeRead(
    mirror,
    "roster",
    members.map((one) => ({ ...one, commission_rate: 9 })),
    { at: at(3) },
  );
  for (const [position, row] of ranked.entries())
    writeRead(mirror, "analytics-hosts", [row], { position, parameters: { position } });
  const names = "host_id, host_username, host_label";
  for (const view of ["orders_net", "hosts_by_month", "commission_by_host", "late_refunds", "roster_changes"])
    expect([view, mirror.db.prepare(`SELECT ${names} FROM ${view} ORDER BY host_id`).all()]).toEqual([
      view,
      named,
    ]);
  expect(mirror.db.prepare("SELECT id, host_label FROM hosts ORDER BY id").all()).toEqual(
    named.map(({ host_id: id, host_label }) => ({ id, host_label })),
  );
  const files = all.map(({ id, username, first_name, last_name }, n) => ({
    ...{ source: "upload", id: `f${n}`, created_at: at(1) },
    host: { id, username, name: first_name && [first_name, last_name].filter(Boolean).join(" ") },
  }));
  writeRead(mirror, "content", files);
  expect(mirror.db.prepare(`SELECT ${names} FROM content_by_host ORDER BY host_id`).all()).toEqual(named);
  mirror.db.close();
});

test("the `day` and `month` columns of `orders` are in UTC", async () => {
  const mirror = await makeMirror();
  const dates = ["2026-10-01T01:30:00+02:00", "2026-10-31T23:59:59.999Z", "2026-11-01"];
  writeRead(
    mirror,
    "orders",
    dates.map((order_date, n) => ({ ...orderAt(`o${n}`, 0), order_date })),
  );
  expect(mirror.db.prepare("SELECT day, month FROM orders").raw().all()).toEqual([
    ["2026-09-30", "2026-09"],
    ["2026-10-31", "2026-10"],
    ["2026-11-01", "2026-11"],
  ]);
  const october = "SELECT count(*) FROM orders WHERE day BETWEEN '2026-10-01' AND '2026-10-31'";
  expect(mirror.db.prepare(october).pluck().get()).toBe(1);
  mirror.db.close();
});
