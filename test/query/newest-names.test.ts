import { expect, test } from "vitest";
import { orders } from "../../src/resources/orders.js";
import { rebuildHostNames } from "../../src/store/host-names.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { redactMirror } from "../../src/store/redact-mirror.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { orderAt } from "../support/records.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const host = (username: string | null, first: string | null = "Ada") => ({
  ...{ id: "12345678-h", username, first_name: first, last_name: null, profile_photo: null },
});
const order = (n: number, username: string, more = {}) =>
  orderAt(`o${n}`, Date.parse(at(1)) - n * 1_000, { host: host(username), refund_amount: 0, ...more });
const perHost = ["hosts_by_month", "commission_by_host", "content_by_host", "roster_changes"];
const perOrder = ["orders_net", "order_figures", "late_refunds"];

/** Creates a mirror with a host who was renamed from `zoe` to `ada`. Older orders still contain `zoe`. */
async function renamed() {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [order(1, "zoe"), order(2, "zoe")], { at: at(1), whole: true });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: host("zoe"), commission_rate: 8 }], {
    at: at(1),
  });
  const content = { source: "upload", id: "f", created_at: at(1) };
  writeRead(mirror, "content", [{ ...content, host: { id: "12345678-h", username: "zoe", name: "Zoe" } }], {
    at: at(1),
  });
  writeRead(mirror, "roster", [{ relationship_id: "r", host: host("ada"), commission_rate: 9 }], {
    at: at(2),
  });
  writeRead(mirror, "orders", [order(1, "ada", { refund_amount: 1 })], { at: at(3), whole: true });
  const names = (view: string) =>
    mirror.db
      .prepare(`SELECT DISTINCT host_username, host_label FROM ${view} WHERE host_id IS NOT NULL`)
      .raw()
      .all();
  return { mirror, names };
}

test("views use a host's newest handle, not the alphabetically last one", async () => {
  const { mirror, names } = await renamed();
  for (const view of [...perHost, ...perOrder]) expect([view, names(view)]).toEqual([view, [["ada", "ada"]]]);
  expect(mirror.db.prepare("SELECT username, host_label FROM hosts").raw().all()).toEqual([["ada", "ada"]]);
  mirror.transaction(() => rebuildHostNames(mirror));
  rebuildTables(mirror, [orders]);
  for (const view of [...perHost, ...perOrder]) expect([view, names(view)]).toEqual([view, [["ada", "ada"]]]);
});

test("views keep a host's newest name even if the record with that name is removed", async () => {
  const { mirror, names } = await renamed();
  writeRead(mirror, "roster", [], { at: at(4), remove: ["r"] });
  writeRead(mirror, "orders", [], { at: at(4), remove: ["o1"] });
  expect(names("hosts_by_month")).toEqual([["ada", "ada"]]);
  expect(names("roster_changes")).toEqual([["ada", "ada"]]);
});

test("if a host's newest record has no handle, views label the host by name or, if the name is missing, by ID", async () => {
  const { mirror, names } = await renamed();
  writeRead(mirror, "orders", [order(3, "x", { host: host(null) })], { at: at(5) });
  expect(names("hosts_by_month")).toEqual([[null, "Ada"]]);
  redactMirror(mirror, ["12345678-h"]);
  for (const view of perHost) expect([view, names(view)]).toEqual([view, [[null, "12345678"]]]);
  expect(mirror.db.prepare("SELECT DISTINCT username, name FROM host_names").raw().all()).toEqual([
    [null, null],
  ]);
});

test("views use the names that hosts had at the time given with --as-of", async () => {
  const { mirror } = await renamed();
  const { path } = mirror;
  mirror.db.close();
  const labels = async (time: string) =>
    (
      await brandapi([
        "export",
        "hosts_by_month",
        "--csv",
        "--columns",
        "host_label",
        "--as-of",
        time,
        "--db",
        path,
      ])
    ).out;
  expect(await labels("2026-11-01T12:00:00Z")).toBe("host_label\nzoe\n");
  expect(await labels("2026-11-03")).toBe("host_label\nada\n");
});
