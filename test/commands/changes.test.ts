import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

const clock = { now: () => Date.parse("2026-11-05T00:00:00.000Z") };

async function mirrorWithChanges(): Promise<string> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)], { at: "2026-10-20T02:00:00.000Z" });
  writeRead(mirror, "orders", [anOrder(1, { currency: "USD" })], { at: "2026-10-21T02:00:00.000Z" });
  writeRead(mirror, "orders", [anOrder(2, { refund_amount: 45.5, financial_status: "partially_refunded" })], {
    at: "2026-11-03T02:00:00.000Z",
  });
  const host = { id: "h", username: "ada\u001b[31m", first_name: null };
  writeRead(mirror, "roster", [{ relationship_id: "r", host, commission_rate: 10 }], {
    at: "2026-10-20T02:00:00.000Z",
  });
  writeRead(mirror, "roster", [{ relationship_id: "r", host, commission_rate: 12 }], {
    at: "2026-11-04T02:00:00.000Z",
  });
  writeRead(mirror, "orders", [], { at: "2026-11-04T02:00:00.000Z", remove: ["order-3"] });
  mirror.db.close();
  return mirror.path;
}

test("brandapi changes lists changes from oldest to newest, each with its time interval, field, old value and new value", async () => {
  const path = await mirrorWithChanges();
  const run = await brandapi(["changes", "--db", path], { clock });
  expect(run).toMatchObject({ code: 0, err: "" });
  expect(run.out).toBe(
    `orders 2026-10-20 02:00 to 2026-11-03 02:00 UTC
record  what              was      is now              key
#2      refund_amount     0     →  45.5                order-2
#2      financial_status  paid  →  partially_refunded  order-2

roster 2026-10-20 02:00 to 2026-11-04 02:00 UTC
record         what             was     is now  key
ada\\u001b[31m  commission_rate  10   →  12      r

orders 2026-10-20 02:00 to 2026-11-04 02:00 UTC
record  what     was    is now  key
#3      removed                 order-3
`,
  );
});

test("in a narrow terminal, brandapi changes shows an order's ID only if the order has no number", async () => {
  const mirror = await makeMirror();
  for (const [day, currency] of ["EUR", "USD"].entries())
    writeRead(mirror, "orders", [anOrder(1, { currency }), anOrder(2, { currency, order_number: null })], {
      at: `2026-11-0${day + 3}T02:00:00.000Z`,
    });
  mirror.db.close();
  const lines = async (columns: number) => {
    const options = { clock, columns, tty: { stdout: true } };
    const { out } = await brandapi(["changes", "--no-color", "--db", mirror.path], options);
    return out.trimEnd().split("\n").slice(1);
  };
  expect(await lines(80)).toEqual([
    "record   what      was     is now  key",
    "#1       currency  EUR  →  USD     order-1",
    "order-2  currency  EUR  →  USD",
  ]);
  expect((await lines(40))[1]).toBe("#1       currency  EUR  →  USD");
});

test("brandapi changes lists changes from the same time interval under one heading", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)], { at: "2026-11-01T02:00:10.000Z" });
  writeRead(mirror, "orders", [anOrder(2, { refund_amount: null })], { at: "2026-11-01T02:00:20.000Z" });
  const refund = { refund_amount: 45.5, financial_status: "partially_refunded" };
  writeRead(mirror, "orders", [anOrder(1, refund)], { at: "2026-11-03T02:00:10.000Z" });
  writeRead(mirror, "orders", [anOrder(2, refund)], { at: "2026-11-03T02:00:20.000Z" });
  mirror.db.close();
  const run = await brandapi(["changes", "--db", mirror.path], { clock });
  expect(run.out).toBe(`orders 2026-11-01 02:00 to 2026-11-03 02:00 UTC
record  what              was      is now              key
#1      refund_amount     0     →  45.5                order-1
#1      financial_status  paid  →  partially_refunded  order-1
#2      refund_amount     null  →  45.5                order-2
#2      financial_status  paid  →  partially_refunded  order-2
`);
  const one = await brandapi(["changes", "--limit", "1", "--db", mirror.path], { clock });
  expect(one.out.split("\n").slice(2)).toEqual([
    "#2      financial_status  paid  →  partially_refunded  order-2",
    "",
  ]);
  expect(one.err).toContain("newest 1 of 4 changes");
  const csv = await brandapi(["changes", "--limit", "1", "--csv", "--db", mirror.path], { clock });
  expect(csv.out.trimEnd().split("\n")).toHaveLength(2);
});

test("brandapi changes RESOURCE --since TIME --limit N lists the newest N changes to RESOURCE since TIME", async () => {
  const path = await mirrorWithChanges();
  const lines = async (...args: string[]) =>
    (
      parse((await brandapi(["changes", ...args, "--csv", "--db", path], { clock })).out, {
        columns: true,
      }) as {
        field: string;
        kind: string;
      }[]
    ).map(({ field, kind }) => field || kind);
  expect(await lines("roster")).toEqual(["commission_rate"]);
  expect(await lines("orders", "--since", "30d")).toEqual([
    "currency",
    "refund_amount",
    "financial_status",
    "removed",
  ]);
  expect(await lines("--limit", "2")).toEqual(["commission_rate", "removed"]);
  const json = await brandapi(["changes", "--json", "--limit", "1", "--db", path], { clock });
  expect(JSON.parse(json.out)).toMatchObject([
    { resource: "orders", key: "order-3", kind: "removed", field: null },
  ]);
  const cut = await brandapi(["changes", "--limit", "1", "--db", path], { clock });
  expect(cut.err).toContain("newest 1 of 4 changes");
});

test("brandapi changes --run RUN lists only the changes that RUN found, even if RUN is the newest run", async () => {
  const path = await mirrorWithChanges();
  const run = async (id: number) => {
    const { code, out } = await brandapi(["changes", "--run", String(id), "--csv", "--db", path], { clock });
    return { code, fields: parse(out, { columns: true }).map((row) => (row as { field: string }).field) };
  };
  expect(await run(2)).toEqual({ code: 0, fields: ["currency"] });
  expect(await run(3)).toEqual({ code: 0, fields: ["refund_amount", "financial_status"] });
  expect(await run(6)).toEqual({ code: 0, fields: [""] });
  expect((await brandapi(["changes", "--run", "7", "--db", path], { clock })).code).toBe(2);
  const recent = await brandapi(["changes", "--run", "2", "--since", "7d", "--db", path], { clock });
  expect(recent).toMatchObject({ code: 0, out: "", err: expect.stringContaining("Run 2 found no changes") });
});

test("brandapi changes lists changes found in the last 7 days by default", async () => {
  const path = await mirrorWithChanges();
  const found = Date.parse("2026-11-04T02:00:00.000Z");
  const run = (age: number) =>
    brandapi(["changes", "orders", "--db", path], { clock: { now: () => found + age } });
  expect((await run(7 * 86_400_000)).out).toContain("removed");
  expect(await run(7 * 86_400_000 + 1)).toMatchObject({
    out: "",
    err: expect.stringContaining("since 2026-11-04; use `--since`"),
  });
});

test("brandapi changes prints at most 500 changes by default, but exports all changes", async () => {
  const mirror = await makeMirror();
  const orders = (amount: number) =>
    Array.from({ length: 501 }, (_, n) => anOrder(n, { total_amount: amount }));
  writeRead(mirror, "orders", orders(1), { at: "2026-11-03T02:00:00.000Z" });
  writeRead(mirror, "orders", orders(2), { at: "2026-11-04T02:00:00.000Z" });
  mirror.db.close();
  const printed = await brandapi(["changes", "--db", mirror.path], { clock });
  const lines = printed.out.trimEnd().split("\n");
  expect([lines.length - 2, printed.err]).toEqual([
    500,
    expect.stringContaining("newest 500 of 501 changes"),
  ]);
  const csv = await brandapi(["changes", "--csv", "--db", mirror.path], { clock });
  expect([csv.out.trimEnd().split("\n").length - 1, csv.err]).toEqual([501, ""]);
});

test("brandapi changes prints a note if there are no changes", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const none = await brandapi(["changes", "--db", mirror.path], { clock });
  expect(none).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringMatching(/^No changes were found since \d{4}-\d\d-\d\d; use `--since`/),
  });
  expect((await brandapi(["changes", "--json", "--db", mirror.path], { clock })).out).toBe("[]\n");
});

test("brandapi changes rejects an unknown resource or run, and suggests a valid one", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const unknown = await brandapi(["changes", "oders", "--db", mirror.path]);
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("did you mean `orders`?");
  const run = await brandapi(["changes", "--run", "9", "--db", mirror.path], { clock });
  expect(run).toMatchObject({
    code: 2,
    err: expect.stringMatching(/no run 9\.\n.*newest run is 0/),
  });
});

test.each(["analytics-hosts", "analytics-clicks"])(
  "brandapi changes rejects %s, because it has no change log",
  async (name) => {
    const run = await brandapi(["changes", name, "--db", await mirrorWithChanges()], { clock });
    expect(run).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(`Unknown resource: \`${name}\`.`),
    });
  },
);
