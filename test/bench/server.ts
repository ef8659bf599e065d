import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/deps.js";
import { startSandbox } from "../support/old-sandbox/index.js";

/**
 * The sandbox's brand with its orders rendered beforehand, so that the server costs next to nothing: a page is one
 * slice of one long text. Everything else is passed on to the sandbox.
 */
const { values } = parseArgs({ options: { orders: { type: "string" }, latency: { type: "string" } } });
const count = Number(values.orders ?? 100_000);
const latencyMs = Number(values.latency ?? 0);

const sandbox = await startSandbox({ orders: count, rateLimit: null }, { clock: systemClock });
const { text, starts, dates, cancelled, refunded } = render();
const server = createServer((incoming, response) => {
  if (latencyMs > 0) setTimeout(() => answer(incoming, response), latencyMs);
  else answer(incoming, response);
});
server.keepAliveTimeout = 90_000;
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/api/brand/v1`;
  process.stdout.write(`${JSON.stringify({ baseUrl, key: sandbox.key, bytes: text.length })}\n`);
});

function render() {
  const pieces: Buffer[] = [];
  const starts = new Float64Array(count + 1);
  const dates = new Float64Array(count);
  /** How many of the orders before each are cancelled, and refunded. */
  const cancelled = new Uint32Array(count + 1);
  const refunded = new Uint32Array(count + 1);
  let at = 0;
  let index = 0;
  for (const order of sandbox.records("orders")) {
    const { order_date, is_cancelled, is_refunded } = order as Record<string, unknown>;
    const piece = Buffer.from(`${JSON.stringify(order)},`);
    pieces.push(piece);
    starts[index] = at;
    at += piece.length;
    dates[index] = Date.parse(String(order_date));
    cancelled[index + 1] = (cancelled[index] ?? 0) + (is_cancelled === true ? 1 : 0);
    refunded[index + 1] = (refunded[index] ?? 0) + (is_refunded === true ? 1 : 0);
    index += 1;
  }
  starts[index] = at;
  return { text: Buffer.concat(pieces), starts, dates, cancelled, refunded };
}

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  const url = new URL(incoming.url ?? "/", "http://localhost");
  if (url.pathname !== "/api/brand/v1/orders") {
    passOn(incoming, response);
    return;
  }
  const query = url.searchParams;
  const page = Number(query.get("page") ?? 1);
  const perPage = Number(query.get("per_page") ?? 25);
  const status = query.get("status") ?? "all";
  // Newest first: the range begins at its end.
  const end = query.get("end_date");
  const start = query.get("start_date");
  const first = end === null ? 0 : firstNotAfter(Date.parse(end));
  const last = start === null ? count : firstNotAfter(Date.parse(start) - 1);
  const among = (sums: Uint32Array) => (sums[last] ?? 0) - (sums[first] ?? 0);
  const total =
    status === "cancelled" ? among(cancelled) : status === "refunded" ? among(refunded) : last - first;
  const from = Math.min(first + (page - 1) * perPage, last);
  const to = Math.min(from + perPage, last);
  // A count of a part: its one record stands for any.
  const data = text.subarray(starts[from], Math.max(starts[from] ?? 0, (starts[to] ?? 0) - 1));
  const pages = Math.ceil(total / perPage);
  const head = '{"success":true,"data":[';
  const tail = `],"pagination":{"page":${page},"per_page":${perPage},"total_items":${total},"total_pages":${pages},"has_next":${page < pages},"has_prev":${page > 1}},"_timing":{"duration_ms":1}}`;
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": head.length + data.length + tail.length,
  });
  response.cork();
  response.write(head);
  response.write(data);
  response.end(tail);
}

/** The first order, newest first, that was not placed after `time`. */
function firstNotAfter(time: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((dates[middle] ?? 0) > time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function passOn(incoming: IncomingMessage, response: ServerResponse): void {
  const { origin } = new URL(sandbox.baseUrl);
  ask(`${origin}${incoming.url}`, { headers: incoming.headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 500, answered.headers);
    answered.pipe(response);
  }).end();
}
