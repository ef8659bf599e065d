import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApi } from "../../src/api/index.js";
import { systemClock, systemDeps } from "../../src/deps.js";
import { BrandapiError } from "../../src/errors.js";
import { silentReporter } from "../../src/lib/reporter.js";
import { openMirror } from "../../src/query/open.js";
import { resources } from "../../src/resources/index.js";
import { syncResources } from "../../src/sync/resources.js";
import { type Access, defaultOptions } from "../../src/sync/run.js";
import { type Sandbox, startSandbox } from "../support/old-sandbox/index.js";
import { draws } from "./draws.js";

export interface YearsOptions {
  nights: number;
  seed: number;
  /** Orders in the history of two years before the first night. */
  orders: number;
  /** The resources to read; all of them unless told. */
  only?: readonly string[];
  say(line: string): void;
}

/** What happened in a night beside the sync. */
export type Trouble = "none" | "outage" | "key expired" | "off" | "disk full";

export interface Night {
  night: number;
  trouble: Trouble;
  /** Whether every resource was read and verified. */
  verified: boolean;
  /** Orders in the API, and how many of them the mirror holds as they are. */
  orders: number;
  equal: number;
  /** Orders in the mirror that the API no longer has, or never had. */
  tooMany: number;
  /** Requests of `sync orders`, and the pages of its window alone. */
  requests: number;
  windowPages: number;
}

export interface YearsReport {
  nights: Night[];
  /** Bytes of the mirror at the end, and of one that was read at once on the last day. */
  bytes: number;
  freshBytes: number;
  /** Bytes of what a fresh one cannot know: old forms, changes, runs, the ranking day by day. */
  historyBytes: number;
  /** Whether a last whole read found nothing left to change. */
  equalAtEnd: boolean;
}

const day = 86_400_000;
const anchor = Date.UTC(2026, 10, 21, 3);

/** Nightly runs of everything, while time passes at the brand: by the real engine, over real sockets, one process. */
export async function playYears(options: YearsOptions): Promise<YearsReport> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-years-"));
  const sandbox = await startSandbox(
    { seed: options.seed, orders: options.orders, rateLimit: null, now: anchor },
    { clock: systemClock },
  );
  try {
    const path = join(folder, "mirror.sqlite");
    const random = draws(options.seed);
    const nights: Night[] = [];
    sandbox.setKey("all", { expiresAt: sandbox.now() + 90 * day });
    for (let night = 0; night < options.nights; night += 1) {
      if (night > 0) sandbox.advance(day + Math.floor((random() - 0.5) * 3_600_000));
      const trouble = troubleOf(night, sandbox);
      nights.push(await playNight(sandbox, path, night, trouble, options.only));
      if (night % 100 === 99) options.say(`night ${night + 1}: ${JSON.stringify(nights.at(-1))}`);
    }
    sandbox.setKey("all", { expiresAt: sandbox.now() + 90 * day });
    await syncAll(sandbox, path, { full: true, details: "all", acceptRemovals: true }, options.only);
    const last = await compare(sandbox, path);
    const fresh = join(folder, "fresh.sqlite");
    await syncAll(sandbox, fresh, {}, options.only);
    return {
      nights,
      bytes: statSync(path).size,
      freshBytes: statSync(fresh).size,
      historyBytes: await historyOf(path),
      equalAtEnd: last.equal === last.orders && last.tooMany === 0,
    };
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Two outages of a night, one of three; a week off; the key runs out every 90 days; the disk is full twice. */
function troubleOf(night: number, sandbox: Sandbox): Trouble {
  if (night === 0) return "none";
  const inYear = night % 365;
  if (inYear === 40 || (inYear >= 120 && inYear < 123)) return "outage";
  if (inYear >= 200 && inYear < 207) return "off";
  if (inYear === 300) return "disk full";
  if (night % 91 !== 0) return "none";
  // The next night there is a new one.
  sandbox.setKey("all", { expiresAt: sandbox.now() - 1 });
  return "key expired";
}

async function playNight(
  sandbox: Sandbox,
  path: string,
  night: number,
  trouble: Trouble,
  only?: readonly string[],
): Promise<Night> {
  if (trouble !== "key expired") sandbox.setKey("all", { expiresAt: sandbox.now() + 120 * day });
  let ran = { verified: false, requests: 0, windowPages: 0 };
  if (trouble === "outage") sandbox.intercept = () => ({ kind: "status", status: 503 });
  if (trouble !== "off") ran = await syncAll(sandbox, path, {}, only, trouble === "disk full");
  sandbox.intercept = undefined;
  return { night, trouble, ...ran, ...(await compare(sandbox, path)) };
}

async function syncAll(
  sandbox: Sandbox,
  path: string,
  options: Partial<typeof defaultOptions>,
  only?: readonly string[],
  diskFull = false,
): Promise<Pick<Night, "verified" | "requests" | "windowPages">> {
  let skipped = 0;
  const clock = {
    now: () => sandbox.now(),
    monotonic: () => systemClock.monotonic() + skipped,
    async sleep(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      skipped += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const { signal } = new AbortController();
  const deps = { ...systemDeps(signal, (url, init) => fetch(url, init)), clock };
  const { baseUrl, key } = sandbox;
  const api = openApi(
    { baseUrl, key, rateLimit: null, maxWaitMs: 300_000, userAgent: "brandapi/soak", statePath: tmpdir() },
    deps,
  );
  const mirror = await openMirror(path);
  if (diskFull) {
    const pages = mirror.db.pragma("page_count", { simple: true });
    mirror.db.pragma(`max_page_count = ${Number(pages) + 1}`);
  }
  const from = sandbox.now() - 31 * day;
  const inWindow = [...(sandbox.records("orders") as Iterable<{ order_date: string }>)].filter(
    ({ order_date }) => Date.parse(order_date) >= from,
  ).length;
  const night = { verified: true, requests: 0, windowPages: Math.max(1, Math.ceil(inWindow / 100)) };
  try {
    const access: Access = {
      mirror,
      api,
      clock,
      signal,
      reporter: silentReporter,
      options: { ...defaultOptions, ...options },
    };
    const allowed = resources.filter(({ name }) => only?.includes(name) ?? true);
    const chosen = { allowed, skipped: [], named: false };
    await syncResources(access, chosen, (run) => {
      if (run.outcome !== "done") night.verified = false;
      if (run.resource === "orders") night.requests = run.requests;
    });
  } catch (error) {
    const isFull = error instanceof Error && "code" in error && error.code === "SQLITE_FULL";
    if (!(error instanceof BrandapiError) && !isFull) throw error;
    night.verified = false;
  } finally {
    mirror.db.close();
    api.close();
  }
  return night;
}

async function compare(sandbox: Sandbox, path: string): Promise<Pick<Night, "orders" | "equal" | "tooMany">> {
  const mirror = await openMirror(path);
  try {
    const integrity = mirror.db.pragma("quick_check", { simple: true });
    if (integrity !== "ok") throw new Error(`The mirror is damaged: ${integrity}`);
    const rows = mirror.db
      .prepare("SELECT key, json FROM records WHERE resource = 'orders' AND removed_at IS NULL")
      .all() as { key: string; json: string }[];
    const mine = new Map(rows.map(({ key, json }) => [key, json]));
    const api = [...sandbox.records("orders")] as { id: string }[];
    const equal = api.filter((order) => mine.get(order.id) === JSON.stringify(order)).length;
    const known = new Set(api.map(({ id }) => id));
    return { orders: api.length, equal, tooMany: rows.filter(({ key }) => !known.has(key)).length };
  } finally {
    mirror.db.close();
  }
}

async function historyOf(path: string): Promise<number> {
  const mirror = await openMirror(path);
  const tables = ["record_versions", "changes", "sync_runs", "analytics_hosts_snapshots"];
  const sizes = mirror.db.prepare(
    "SELECT sum(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?)",
  );
  try {
    return tables.reduce((sum, table) => sum + Number(sizes.pluck().get(table)), 0);
  } finally {
    mirror.db.close();
  }
}

/** The figures that the README shows. */
export function summarize(report: YearsReport): string[] {
  const { nights, bytes, freshBytes, historyBytes, equalAtEnd } = report;
  const mib = (size: number) => `${(size / 2 ** 20).toFixed(1)} MiB`;
  const ran = nights.filter(({ trouble }) => trouble === "none").slice(1);
  const extra = ran.map(({ requests, windowPages }) => requests - windowPages).sort((a, b) => a - b);
  const shares = ran.map(({ equal, orders }) => equal / orders);
  const whole = ran.filter(({ equal, orders, tooMany }) => equal === orders && tooMany === 0).length;
  const per = (share: number) => `${(share * 100).toFixed(3)} %`;
  return [
    `${nights.length} nights, ${nights.length - ran.length - 1} of them troubled; ${ran.filter(({ verified }) => verified).length} of ${ran.length} others verified`,
    `orders equal to the API after a night: ${per(shares.reduce((sum, share) => sum + share, 0) / shares.length)} on average, ${per(Math.min(...shares))} at worst, all of them on ${whole} nights`,
    `requests beyond the window's pages: ${extra[Math.floor(extra.length / 2)]} in the middle, ${extra[Math.floor(extra.length * 0.95)]} on 19 of 20 nights, ${extra.at(-1)} at most`,
    `at the end ${equalAtEnd ? "equal" : "NOT EQUAL"}; the file has ${mib(bytes)}, a fresh one ${mib(freshBytes)}; ${mib(historyBytes)} are history`,
  ];
}
