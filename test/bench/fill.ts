import { orders } from "../../src/resources/orders.js";
import { createBrand } from "../../src/sandbox/brand.js";
import { openMirror } from "../../src/store/open.js";
import { RecordWriter } from "../../src/store/record-writer.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { silentReporter } from "../../src/util/reporter.js";

/** Fills a mirror with realistic orders. Usage: fill.js PATH COUNT */
const [path = "", count = "0"] = process.argv.slice(2);
const now = Date.now();
const mirror = await openMirror(path);
const records = new RecordWriter(mirror, orders, { runId: 0, reporter: silentReporter });
const page = 5_000;
for (let from = 0; from < Number(count); from += page) {
  const brand = createBrand({ seed: from, orders: Math.min(page, Number(count) - from), now });
  const values = brand.orders.map((order) => JSON.parse(JSON.stringify(order)) as JsonObject);
  mirror.db.transaction(() => records.write(values, { requestedAt: now }))();
}
mirror.db.close();
