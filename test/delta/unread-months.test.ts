import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDeltaLog } from "../../src/delta/log.js";
import { makeBrand } from "../support/brand.js";
import { createEmptyMirror } from "../support/mirror.js";
import { day, noon, orderAt } from "../support/records.js";

/** Creates a brand with orders on the 5th and 20th of the given months. `mirror` is the name of a mirror file. */
function makeBrandWithOrders(months: readonly string[]) {
  const orders = months.flatMap((month) =>
    ["20", "05"].map((date) => orderAt(`${month}-${date}`, `${month}-${date}T00:00:00Z`)),
  );
  const brand = makeBrand({ orders: orders.reverse() });
  const lake = join(brand.home, "lake");
  const pathOf = (mirror: string) => join(brand.home, `${mirror}.sqlite`);
  const sync = async (mirror: string, command = "") => {
    await createEmptyMirror(pathOf(mirror));
    expect(await brand.run(`sync orders ${command} --db ${pathOf(mirror)}`)).toMatchObject({ code: 0 });
  };
  const runDelta = async (mirror: string, command: string) =>
    await brand.run(`${command} --delta ${lake} --db ${pathOf(mirror)}`);
  const exportOrders = async (mirror: string, tables = "orders") =>
    await runDelta(mirror, `export ${tables}`);
  const expectExported = async (mirror: string) => {
    expect(await exportOrders(mirror)).toMatchObject({ code: 0 });
    expect(await runDelta(mirror, "verify --full")).toMatchObject({ code: 0 });
  };
  const monthsIn = async () => {
    const { files } = await readDeltaLog(join(lake, "orders"));
    return [...files.values()].map(({ partitionValues }) => partitionValues.month).sort();
  };
  return { brand, lake, pathOf, sync, runDelta, exportOrders, expectExported, monthsIn };
}

const autumn = ["2026-08", "2026-09", "2026-10", "2026-11"];

test.each([
  ["starts after them", ["--since 2026-10-15"], "2026-08", "sync orders --full"],
  ["starts in the middle of a month", ["--since 2026-08-15"], "2026-08", "sync orders --full"],
  ["has a gap", ["--since 2026-11-01", "--since 2026-08-01 --until 2026-09-10"], "2026-09", "sync orders"],
  ["was synced only up to an earlier date", ["--until 2026-09-30"], "2026-10", "sync orders"],
])(
  "a Delta export to a table that a complete mirror was exported to is refused if its mirror %s",
  async (_, syncs, month, fix) => {
    const { sync, runDelta, exportOrders, expectExported, pathOf, monthsIn } = makeBrandWithOrders(autumn);
    await sync("complete");
    await exportOrders("complete");
    for (const flags of syncs) await sync("partial", flags);
    const { code, err } = await exportOrders("partial");
    expect(code).toBe(3);
    expect(err).toContain(`contains data for ${month} that the mirror has not read`);
    expect(err).toContain(`\`brandapi ${fix} --db ${pathOf("partial")}\`, or choose a different folder`);
    expect(await monthsIn()).toEqual(autumn);
    expect(await runDelta("partial", "verify")).toMatchObject({
      code: 8,
      out: expect.stringMatching(new RegExp(`differs from the mirror: .*${month}`)),
    });
    await sync("partial", fix.replace("sync orders", ""));
    await expectExported("partial");
    expect(await monthsIn()).toEqual(autumn);
  },
);

test("a Delta export of a view is refused if an earlier export contained orders that the mirror has not read", async () => {
  const { sync, exportOrders } = makeBrandWithOrders(["2026-10", "2026-11"]);
  await sync("complete");
  // `commission_by_host` is not partitioned by month.
  const views = ["sales_by_month", "commission_by_host", "order_line_items"];
  await exportOrders("complete", views.join(" "));
  await sync("partial", "--since 2026-10-15");
  expect(await exportOrders("partial", "sales_by_month")).toMatchObject({
    code: 3,
    err: expect.stringContaining("contains data for 2026-10 that"),
  });
  expect(await exportOrders("partial", "commission_by_host")).toMatchObject({
    code: 3,
    err: expect.stringContaining("contains data that the mirror has not read"),
  });
});

test("a mirror that starts in the middle of a month continues its own Delta table, even after the mirror has been recreated", async () => {
  const { brand, sync, expectExported, monthsIn } = makeBrandWithOrders(autumn);
  await sync("partial", "--since 2026-10-15");
  await expectExported("partial");
  expect(await monthsIn()).toEqual(["2026-10", "2026-11"]);
  brand.change("orders", "2026-10-20", { refund_amount: 5 });
  brand.order({ id: "new" });
  brand.pass(day);
  await sync("partial");
  await expectExported("partial");
  brand.pass(day);
  brand.withdraw("2026-10-20");
  await sync("partial");
  await expectExported("partial");
  expect(await monthsIn()).toEqual(["2026-11"]);
  brand.order({ id: "late" }, Date.parse("2026-10-25T00:00:00Z"));
  await sync("again", "--since 2026-10-15");
  await expectExported("again");
  expect(await monthsIn()).toEqual(["2026-10", "2026-11"]);
  await sync("complete");
  await expectExported("complete");
  expect(await monthsIn()).toEqual(autumn);
});

test("a mirror that has been restored from a backup continues the Delta table", async () => {
  const { brand, pathOf, sync, expectExported, monthsIn } = makeBrandWithOrders(autumn);
  await sync("mirror");
  await expectExported("mirror");
  copyFileSync(pathOf("mirror"), pathOf("restored"));
  brand.pass(14 * day);
  brand.order({ id: "new" });
  brand.order({ id: "late" }, noon - day);
  brand.pass(day);
  await sync("mirror");
  await expectExported("mirror");
  expect(await monthsIn()).toEqual([...autumn, "2026-12"]);
  await expectExported("restored");
  expect(await monthsIn()).toEqual(autumn);
  await sync("restored");
  await expectExported("restored");
  expect(await monthsIn()).toEqual([...autumn, "2026-12"]);
});

test("a Delta export to a table from version 0.1.0 replaces months that the mirror has partly read, but removes no unread months", async () => {
  const { brand, lake, sync, exportOrders, expectExported, monthsIn } = makeBrandWithOrders(autumn);
  const removeDates = async () => {
    const { version } = await readDeltaLog(join(lake, "orders"));
    const path = join(lake, "orders/_delta_log", `${String(version).padStart(20, "0")}.json`);
    const text = readFileSync(path, "utf8");
    expect(text).toContain('"dates":{');
    writeFileSync(path, text.replace(/,"dates":\{.*?\}/, ""));
  };
  await sync("partial", "--since 2026-10-15");
  await exportOrders("partial");
  await removeDates();
  brand.change("orders", "2026-10-20", { refund_amount: 5 });
  await sync("partial");
  await expectExported("partial");
  await sync("complete");
  await exportOrders("complete");
  await removeDates();
  expect(await exportOrders("partial")).toMatchObject({
    code: 3,
    err: expect.stringContaining("contains data for 2026-08 that the mirror has not read"),
  });
  expect(await monthsIn()).toEqual(autumn);
});

test("a mirror continues its own Delta table after the API has returned an unreadable date for a month", async () => {
  const { brand, sync, expectExported } = makeBrandWithOrders(autumn);
  brand.order({ id: "odd" }, Date.parse("2026-11-10T10:20:00Z"));
  await sync("brand-1");
  await expectExported("brand-1");
  Object.assign(brand.api.variants, { datePrecision: "invalid" });
  brand.pass(day);
  await sync("brand-1");
  expect(brand.sql("SELECT * FROM faulty_slices")).not.toEqual([]);
  await expectExported("brand-1");
});
