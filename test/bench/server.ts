import { parseArgs } from "node:util";
import { serveBrand } from "./served.js";

/**
 * Serves the sandbox in a separate process. Caches the JSON for all orders before the first request so that the server
 * does not distort the measurement.
 */
const { values } = parseArgs({ options: { orders: { type: "string" }, latency: { type: "string" } } });
const count = Number(values.orders ?? 100_000);
const { baseUrl, key } = await serveBrand({ orders: count, latencyMs: Number(values.latency ?? 0) });
let bytes = 0;
for (let page = 1; (page - 1) * 100 < count; page += 1) {
  const answer = await fetch(`${baseUrl}/orders?per_page=100&page=${page}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  bytes += (await answer.text()).length;
}
process.stdout.write(`${JSON.stringify({ baseUrl, key, bytes })}\n`);
