import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allResources } from "../../src/resources/registry.js";
import type { Resource } from "../../src/resources/resource.js";
import { copyCoverageToRun, loadCoverage, saveCoverage, withCoveredRange } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import { insertRun, updateRun } from "../../src/store/runs.js";
import type { Json, JsonObject } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";
import { afterFile, makeHome } from "./home.js";
import { orderAt } from "./records.js";

/** Creates a mirror that is closed when the test file ends. */
export async function makeMirror(home = makeHome(), name = "mirror.sqlite"): Promise<Mirror> {
  const path = join(home, name);
  await createEmptyMirror(path);
  const mirror = await openMirror(path);
  afterFile(() => mirror.db.close());
  return mirror;
}

let empty: Buffer | undefined;

/**
 * Creates a mirror unless the file exists. All mirrors after the first are copies of it, because creating the tables
 * and views takes longer than most syncs in tests.
 */
export async function createEmptyMirror(path: string): Promise<void> {
  if (existsSync(path)) return;
  if (!empty) {
    const original = join(makeHome(), "empty.sqlite");
    (await openMirror(original)).db.close();
    empty = readFileSync(original);
  }
  writeFileSync(path, empty, { mode: 0o600 });
}

/** Copies a mirror in the state in which a killed process would leave it. */
export function copyMirrorFiles(path: string, copy: string): void {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
}

/**
 * Creates a mirror that contains orders. Returns its path.
 * @param orders the number of orders to create, or the orders to pass to `writeRead`
 */
export async function mirrorOfOrders(orders: number | readonly object[] = 3): Promise<string> {
  const mirror = await makeMirror();
  const records = typeof orders === "number" ? Array.from({ length: orders }, (_, n) => anOrder(n)) : orders;
  writeRead(mirror, "orders", records);
  mirror.db.close();
  return mirror.path;
}

/**
 * Writes records and a finished run, as a sync would.
 * @param records values, or `{ text }` with the exact JSON from the API
 * @param options.remove the record keys to remove
 * @param options.whole true if the run covers all dates
 */
export function writeRead(
  mirror: Mirror,
  name: string,
  records: readonly (Json | object)[],
  options: {
    at?: string;
    parameters?: JsonObject;
    remove?: readonly string[];
    position?: number;
    whole?: boolean;
  } = {},
): void {
  const resource = resourceOf(name);
  const { at = "2026-11-01T00:00:00.000Z", remove = [], whole = false, ...response } = options;
  const requestedAt = Date.parse(at);
  const runId = insertRun(mirror, resource.name, at);
  const coverage = loadCoverage(mirror, resource.name);
  const writer = new RecordWriter(mirror, resource, { runId, reporter: silentReporter });
  const selectId = mirror.db.prepare("SELECT record_id FROM records WHERE resource = ? AND key = ?").pluck();
  mirror.transaction(() => {
    writer.write(records.map(asValue), { requestedAt, ...response });
    writer.remove(
      remove.map((key) => selectId.get(resource.name, key) as number),
      requestedAt,
    );
    updateRun(mirror, runId, {
      until: at,
      finished_at: at,
      rows_read: records.length,
      outcome: "done",
      verified: true,
    });
    const range = { from: Number.NEGATIVE_INFINITY, to: requestedAt, requestedAt, runId };
    if (whole)
      saveCoverage(mirror, resource.name, withCoveredRange({ coverage, faultySlices: [] }, range).coverage);
    copyCoverageToRun(mirror, runId, loadCoverage(mirror, resource.name));
  });
}

function resourceOf(name: string): Resource {
  const resource = allResources.find((one) => one.name === name);
  if (!resource) throw new Error(`Unknown resource: ${name}`);
  return resource;
}

function asValue(record: Json | object): Json {
  const isText =
    typeof record === "object" && record !== null && "text" in record && Object.keys(record).length === 1;
  return JSON.parse(isText ? String(record.text) : JSON.stringify(record)) as Json;
}

/** Returns a realistic order. Orders with higher numbers are older. */
export function anOrder(n: number, fields: JsonObject = {}): JsonObject {
  const host = { id: `host-${n % 7}`, username: `host_${n % 7}`, first_name: "Ada" };
  const order = orderAt(`order-${n}`, Date.UTC(2026, 9, 1) - n * 3_600_000, {
    external_order_id: `${9_000 + n}`,
    order_number: `#${n}`,
    total_amount: 100.5 + n,
    subtotal_amount: 90 + n,
    commission_rate: 12.5,
    commission_amount: 11.31,
    host: { ...host, last_name: null, profile_photo: null },
    line_items: [{ title: "Trail shoe", variant_title: null, sku: "S-1", quantity: 1, price: 90.5 }],
    ...fields,
  });
  return order as JsonObject;
}
