import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDeltaLog } from "../../src/delta/log.js";
import { createBrand } from "../../src/sandbox/brand.js";
import { saveInfo } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { writeRead } from "../support/mirror.js";
import { Sqlite } from "../support/sqlite.js";
import { createRandom } from "./brand.js";
import { type LakeReader, openLakeReader, toText } from "./lake-reader.js";

export interface LakeOptions {
  brands: number;
  orders: number;
  days: number;
  seed: number;
  bin: string;
  say(line: string): void;
}

interface LakeBrand {
  id: string;
  path: string;
  orders: JsonObject[];
  /** Orders that the API returns only on a later day. */
  later: JsonObject[];
  backup?: { orders: JsonObject[]; later: JsonObject[] };
}

/** The Delta table's version at the end of an earlier day, and the mirrors' rows at that time. */
interface Snapshot {
  version: number;
  checkpointVersion: number;
  rows: string[];
}

const dayMs = 86_400_000;
const machineCount = 3;
const ordersPerDay = 10;
const allTables = ["orders", "orders_removed", "order_line_items", "sales_by_month"];

/**
 * The moment at which an export is killed: when a file that matches the pattern changes. In a pattern, PID is a
 * placeholder for the export's process ID.
 */
interface Strike {
  name: string;
  /** The pattern is null if the export is killed at a random time. */
  pattern: string | null;
}

const strikes: readonly Strike[] = [
  { name: "at a random time", pattern: null },
  { name: "while a data file is being written", pattern: "part-[^/]+-PID-[^/]+$" },
  { name: "after a data file", pattern: "part-[0-9a-f-]{36}\\.parquet$" },
  { name: "while a version is being written", pattern: "\\d{20}\\.json\\.[^/]+-PID-[^/]+$" },
  { name: "after a version", pattern: "_delta_log/\\d{20}\\.json$" },
];

/** These files change only during exports that write a checkpoint. */
const checkpointStrikes: readonly Strike[] = [
  { name: "while a checkpoint is being written", pattern: "checkpoint\\.parquet\\.[^/]+-PID-[^/]+$" },
  { name: "after a checkpoint", pattern: "\\d{20}\\.checkpoint\\.parquet$" },
  { name: "while `_last_checkpoint` is being written", pattern: "_last_checkpoint\\.[^/]+-PID-[^/]+$" },
];

/**
 * Simulates three machines that export many brands to one set of Delta tables every day. Each export is killed once and
 * repeated. After each day, each brand's rows and sums are compared with the brand's mirror. At the end, the results of
 * ten queries across all brands are compared. Returns the differences.
 */
export async function soakLake({ bin, days, say, seed, ...size }: LakeOptions): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "brandapi-lake-"));
  const lake = join(home, "lake");
  const workingFolder = process.cwd();
  const random = createRandom(seed);
  const reader = openLakeReader(home);
  const kills = new Map([...strikes, ...checkpointStrikes].map(({ name }) => [name, 0]));
  const faults: string[] = [];
  try {
    const brands = await createBrands(home, days, size);
    const machines = createMachines(home, brands);
    say(`${size.brands} brands with ${size.orders} orders each, ${days} days, read with ${reader.name}`);
    let previous: Snapshot | undefined;
    for (let day = 1; day <= days && faults.length < 5; day += 1) {
      const ageMs = (days - day) * dayMs;
      for (const brand of brands)
        await changeOrders(brand, new Date(Date.now() - ageMs).toISOString(), random);
      const [first, second] = brands;
      if (first && day % 10 === 5) backUp(first);
      if (first && day % 10 === 8) restore(first);
      if (second && day % 10 === 9) await replaceMirror(second);
      const tables = day === 1 || day === days ? allTables : ["orders"];
      const args = ["export", ...tables, "--all-profiles", "--delta", lake, "--quiet"];
      const isCheckpointDue = previous && previous.version + brands.length >= previous.checkpointVersion + 50;
      const ofDay = isCheckpointDue ? checkpointStrikes : strikes;
      const exportAll = async (env: Record<string, string>, index: number) => {
        const strike = ofDay[(day * machineCount + index) % ofDay.length];
        const run = () => spawnExport(bin, args, env, ageMs);
        const delayMs = random() * 2_000;
        if (strike && (await killOnce(run(), strike.pattern, join(lake, "orders"), delayMs)))
          kills.set(strike.name, (kills.get(strike.name) ?? 0) + 1);
        const { code, out } = await run().ended;
        if (code !== 0) faults.push(`day ${day}: the export exited with code ${code}: ${out.slice(-300)}`);
      };
      await Promise.all(machines.map(exportAll));
      for (const fault of await compareOrders(brands, reader, lake)) faults.push(`day ${day}: ${fault}`);
      if (day === days) faults.push(...(await askQuestions(brands, reader, lake, previous, say)));
      const { version, checkpointVersion } = await readDeltaLog(join(lake, "orders"));
      previous = { version, checkpointVersion, rows: readMirrors(brands, byMonth.mirror) };
      if (day % 5 === 0 || day === days)
        say(`  day ${day}: version ${version}, ${faults.length} differences`);
    }
  } finally {
    process.chdir(workingFolder);
    rmSync(home, { recursive: true, force: true });
  }
  for (const [name, count] of kills) say(`  killed ${name}: ${count}`);
  return faults;
}

async function createBrands(
  home: string,
  days: number,
  { brands, orders }: { brands: number; orders: number },
): Promise<LakeBrand[]> {
  const created: LakeBrand[] = [];
  for (let index = 0; index < brands; index += 1) {
    const now = Date.now() - days * dayMs;
    const data = createBrand({ seed: index + 1, orders: orders + days * ordersPerDay, now });
    const all = data.orders.map((order) => JSON.parse(JSON.stringify(order)) as JsonObject);
    const brand = {
      id: `brand-${index}`,
      path: join(home, `brand-${index}.sqlite`),
      orders: all.slice(0, orders),
      later: all.slice(orders),
    };
    await writeMirror(brand, new Date(now).toISOString());
    created.push(brand);
  }
  return created;
}

async function writeMirror({ id, orders, path }: LakeBrand, at: string): Promise<void> {
  const mirror = await openMirror(path);
  mirror.transaction(() => saveInfo(mirror, "brand_id", id));
  writeRead(mirror, "orders", orders, { at, whole: true });
  mirror.db.close();
}

/**
 * Creates a config folder for each machine, with profiles for the machine's brands. Returns the machines' environment
 * variables.
 */
function createMachines(home: string, brands: readonly LakeBrand[]): Record<string, string>[] {
  return Array.from({ length: machineCount }, (_, machine) => {
    const folder = join(home, `machine-${machine}`);
    mkdirSync(folder);
    const ofMachine = brands.filter((_brand, index) => index % machineCount === machine);
    const profiles = Object.fromEntries(ofMachine.map(({ id, path }) => [id, { key: `bk_${id}`, db: path }]));
    writeFileSync(join(folder, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
    return { HOME: folder, BRANDAPI_CONFIG_DIR: folder };
  });
}

/** Refunds, cancels, removes and adds a few orders, and writes them to the mirror as a nightly sync would. */
async function changeOrders(brand: LakeBrand, at: string, random: () => number): Promise<void> {
  const { orders, later, path } = brand;
  const choose = () => Math.floor(random() * orders.length);
  const changed = [...later.splice(0, ordersPerDay)];
  orders.push(...changed);
  for (let count = 0; count < 20; count += 1) {
    const index = choose();
    const refund_amount = Math.floor(random() * 10_000) / 100;
    const order = { ...orders[index], ...(count < 15 ? { refund_amount } : { is_cancelled: true }) };
    orders[index] = order;
    changed.push(order);
  }
  const removed = [0, 1, 2].flatMap(() => orders.splice(choose(), 1));
  const removedIds = new Set(removed.map(({ id }) => String(id)));
  const mirror = await openMirror(path);
  const written = changed.filter(({ id }) => !removedIds.has(String(id)));
  writeRead(mirror, "orders", written, { at, whole: true, remove: [...removedIds] });
  mirror.db.close();
}

function backUp(brand: LakeBrand): void {
  copyFileSync(brand.path, `${brand.path}.backup`);
  brand.backup = { orders: [...brand.orders], later: [...brand.later] };
}

function restore(brand: LakeBrand): void {
  if (!brand.backup) return;
  copyFileSync(`${brand.path}.backup`, brand.path);
  Object.assign(brand, brand.backup);
}

/** Replaces a mirror with a new mirror to which the same orders are written in reverse order. */
async function replaceMirror(brand: LakeBrand): Promise<void> {
  rmSync(brand.path);
  brand.orders.reverse();
  await writeMirror(brand, new Date().toISOString());
}

/** Runs the program with a clock that is `behindMs` milliseconds slow. */
function spawnExport(bin: string, args: string[], env: Record<string, string>, behindMs: number) {
  const preload = `data:text/javascript,const{now}=Date;Date.now=()=>now()-${behindMs}`;
  const child = spawn(process.execPath, ["--import", preload, bin, ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += String(chunk)));
  const ended = new Promise<{ code: number | null; out: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, out })),
  );
  return { child, ended };
}

/**
 * Kills a process as soon as a file that matches the pattern changes in the folder, or after a delay if no pattern is
 * given. Returns true if the process was still running.
 */
async function killOnce(
  { child, ended }: ReturnType<typeof spawnExport>,
  pattern: string | null,
  folder: string,
  delayMs: number,
): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  const expected = new RegExp((pattern ?? "^$").replace("PID", String(child.pid)));
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name && expected.test(name)) child.kill("SIGKILL");
  });
  const timer = pattern === null ? setTimeout(() => child.kill("SIGKILL"), delayMs) : undefined;
  const { code } = await ended;
  watcher.close();
  clearTimeout(timer);
  return code === null;
}

/** Runs SQL on each mirror. Returns one line per row, with the brand's ID and the row's values, sorted. */
function readMirrors(brands: readonly LakeBrand[], sql: string): string[] {
  const rows = brands.flatMap(({ id, path }) => {
    const db = new Sqlite(path, { readonly: true });
    const found = db.prepare(sql).raw().all() as unknown[][];
    db.close();
    return found.map((row) => toText([id, ...row]).join(" "));
  });
  return rows.sort();
}

/** Returns SQL that sums an amount in whole cents, because all engines compute integer sums exactly. */
const cents = (column: string) => `sum(CAST(coalesce(round(${column} * 100), 0) AS BIGINT))`;

interface Question {
  name: string;
  table: string;
  lake: string;
  mirror: string;
}

function question(name: string, table: string, group: string, select: string, where = "1 = 1"): Question {
  const rest = `${group}, ${select} FROM`;
  const groupBy = `WHERE ${where} GROUP BY`;
  return {
    name,
    table,
    lake: `SELECT brand_id, ${rest} TABLE ${groupBy} brand_id, ${group}`,
    mirror: `SELECT ${rest} ${table} ${groupBy} ${group}`,
  };
}

const byMonth = question(
  "orders and revenue by month",
  "orders",
  "month",
  `count(*), ${cents("total_amount")}`,
);

const questions = [
  byMonth,
  question("revenue by currency", "orders", "currency", cents("total_amount")),
  question("revenue by host", "orders", "host_id", cents("total_amount")),
  question("refunds by month", "orders", "month", cents("refund_amount"), "refund_amount > 0"),
  question("cancelled orders by month", "orders", "month", "count(*)", "is_cancelled"),
  question("commission by month", "orders", "month", cents("commission_amount")),
  question("removed orders by month", "orders_removed", "month", `count(*), ${cents("total_amount")}`),
  question("items by SKU", "order_line_items", "sku", `sum(quantity), ${cents("price")}`),
  question("the sales view", "sales_by_month", "month, currency", `sum(orders), ${cents("net_amount")}`),
];

async function readLake(
  reader: LakeReader,
  lake: string,
  { lake: sql, table }: Question,
  version?: number,
): Promise<string[]> {
  const rows = await reader.query(join(lake, table), sql, version);
  return rows.map((row) => row.join(" ")).sort();
}

/** Compares each brand's order count, distinct IDs and sums with those in its mirror. */
async function compareOrders(
  brands: readonly LakeBrand[],
  reader: LakeReader,
  lake: string,
): Promise<string[]> {
  const totals = question(
    "totals",
    "orders",
    "'all'",
    `count(*), count(DISTINCT id), ${cents("total_amount")}, ${cents("refund_amount")}`,
  );
  const inLake = await reader.query(join(lake, "orders"), totals.lake);
  return differences(inLake.map((row) => row.join(" ")).sort(), readMirrors(brands, totals.mirror));
}

function differences(inLake: readonly string[], inMirrors: readonly string[]): string[] {
  const missing = inMirrors
    .filter((row) => !inLake.includes(row))
    .map((row) => `not in the Delta table: ${row}`);
  const surplus = inLake
    .filter((row) => !inMirrors.includes(row))
    .map((row) => `only in the Delta table: ${row}`);
  return [...missing, ...surplus].slice(0, 3);
}

async function askQuestions(
  brands: readonly LakeBrand[],
  reader: LakeReader,
  lake: string,
  previous: Snapshot | undefined,
  say: (line: string) => void,
): Promise<string[]> {
  const faults: string[] = [];
  const check = (name: string, inLake: readonly string[], inMirrors: readonly string[]) => {
    const found = differences(inLake, inMirrors);
    faults.push(...found.map((fault) => `${name}: ${fault}`));
    say(`  ${name}: ${inLake.length} rows, ${found.length === 0 ? "equal" : "different"}`);
  };
  for (const each of questions)
    check(each.name, await readLake(reader, lake, each), readMirrors(brands, each.mirror));
  if (previous && reader.readsVersions)
    check(
      "the previous day's orders",
      await readLake(reader, lake, byMonth, previous.version),
      previous.rows,
    );
  return faults;
}
