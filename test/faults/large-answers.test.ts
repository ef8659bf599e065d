import { statSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { spawnBrandapi } from "../support/process.js";
import { sandboxForTest } from "../support/sandbox.js";
import { stop } from "../support/stop.js";
import { envOf, sharedSandbox } from "./matrix.js";

const envelope = (data: string, more = "") => `{"success":true,"data":${data}${more},"_timing":{}}`;
const list = (count: number, one: (n: number) => string) =>
  `[${Array.from({ length: count }, (_, n) => one(n)).join(",")}]`;
const item = (n: number) => `{"id":"item ${n}","a":"${"text".repeat(20)}${n}","b":true,"c":"${n}","d":null}`;
const point = (n: number) => `{"date":"2026-01-01","clicks":${n},"orders":2}`;
const pagination = (items: number) =>
  `,"pagination":{"page":1,"per_page":100,"total_items":${items},"total_pages":1,"has_next":false,"has_prev":false}`;

/** Answers as large as they may be: to write one takes seconds. */
const answers: [what: string, resource: string, kept: string, path: RegExp, body: () => string][] = [
  ["an undocumented list", "gifts", "gifts", /^\/gifts$/, () => envelope(list(190_000, item))],
  [
    "a survey's results",
    "surveys",
    "survey-results",
    /^\/surveys\/.+\/results$/,
    () => envelope(list(190_000, item)),
  ],
  [
    "a month's points",
    "analytics-clicks",
    "analytics-clicks",
    /^\/analytics\/clicks$/,
    () => envelope(`{"summary":{},"timeseries":${list(300_000, point)},"top_hosts":[],"top_products":[]}`),
  ],
  [
    "a page of orders",
    "orders",
    "orders",
    /^\/orders$/,
    () =>
      envelope(
        list(
          100,
          (n) =>
            `{"id":"o${n}","order_date":"2026-01-01T00:00:00.000Z","line_items":${list(1_600, () => '{"title":"Shoe"}')}}`,
        ),
        pagination(100),
      ),
  ],
];

test.each(answers)(
  "a signal ends a sync while %s is written, and nothing of it is kept",
  async (_, resource, kept, path, body) => {
    const sandbox = await sharedSandbox();
    const home = makeHome();
    const env = envOf(sandbox, home, sandbox.key);
    const text = body();
    sandbox.intercept = (request) => (path.test(request.path) ? { kind: "raw", body: text } : undefined);
    const program = spawnBrandapi(["sync", resource], { home, env });
    await Promise.race([writing(env.BRANDAPI_DB), program.ended]);
    const ended = await stop(program, "SIGINT");
    expect(ended).toMatchObject({ code: 130, signal: null });
    expect(recordsOf(env.BRANDAPI_DB, kept)).toBe(0);
  },
);

test("large answers are never in the log together, however fast they come", async () => {
  const sandbox = await sandboxForTest({ orders: 1_500, pace: 0 });
  const home = makeHome();
  const env = envOf(sandbox, home, sandbox.key);
  const enlarge = (envelope: Record<string, unknown>) => {
    for (const order of envelope.data as { order_number: string }[]) order.order_number = "x".repeat(60_000);
    return envelope;
  };
  let most = 0;
  sandbox.intercept = ({ path }) => {
    most = Math.max(most, logOf(env.BRANDAPI_DB));
    return path === "/orders" ? { kind: "envelope", change: enlarge } : undefined;
  };
  const { code, err } = await spawnBrandapi(["sync", "orders"], { home, env }).ended;
  expect(code, err).toBe(0);
  // A page has 6 MB, once as records and once as rows.
  expect(most).toBeGreaterThan(12e6);
  expect(most).toBeLessThan(40e6);
});

/** Once so much of an answer is written that it does not fit into SQLite's memory: the log has some of it. */
async function writing(db: string): Promise<void> {
  while (logOf(db) < 2_000_000) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Bytes of the log beside a mirror. */
function logOf(db: string): number {
  return statSync(`${db}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function recordsOf(db: string, resource: string): unknown {
  const mirror = new Sqlite(db, { readonly: true });
  try {
    return mirror.prepare("SELECT count(*) FROM records WHERE resource = ?").pluck().get(resource);
  } finally {
    mirror.close();
  }
}
