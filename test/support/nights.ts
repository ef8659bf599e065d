import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { silentReporter } from "../../src/lib/reporter.js";
import { claimMirror } from "../../src/mirror/info.js";
import type { Mirror } from "../../src/mirror/mirror.js";
import type { Run } from "../../src/mirror/runs.js";
import { openMirror } from "../../src/query/open.js";
import type { JsonObject } from "../../src/resources/types.js";
import { type Access, defaultOptions, type SyncOptions } from "../../src/sync/run.js";
import { verifyResource } from "../../src/verify/engine.js";
import type { Verdict } from "../../src/verify/report.js";
import type { Behaviour } from "./fake/behaviour.js";
import {
  clientOf,
  type FakeApi,
  type FakeFault,
  type FakeRecords,
  type FakeRequest,
  fakeApi,
} from "./fake-api.js";
import { makeHome } from "./home.js";
import { makeMirror, resourceOf } from "./mirror.js";
import { brandapi, type ProgramResult } from "./program.js";
import { syncOrThrow } from "./sync.js";

export const hour = 3_600_000;
export const day = 24 * hour;
/** "Now" where a story begins. */
export const noon = Date.UTC(2026, 10, 21, 12);
export const at = (ms: number) => new Date(ms).toISOString();

/** How a run ended: its row of `sync_runs`, and what a person was told. */
export interface Night extends Run {
  /** What the run threw or confessed; null where it ended well. */
  failure: unknown;
  warnings: string[];
  asked: FakeRequest[];
}

/** A brand on the fake API, and its mirror: the engine runs on them night after night, in this process. */
export interface Nights {
  api: FakeApi;
  mirror: Mirror;
  home: string;
  now(): number;
  /** Lets time pass; back too. */
  pass(ms: number): void;
  /** @throws what is no error of the program's own */
  sync(resource?: string, options?: Partial<SyncOptions>): Promise<Night>;
  /**
   * A sync that ends before the first request is answered that is the one. Stopped, it ends as it likes; killed, the
   * mirror goes on as its file was at that instant.
   */
  broken(
    how: "stopped" | "killed",
    isIt: (request: FakeRequest) => boolean,
    resource?: string,
    options?: Partial<SyncOptions>,
  ): Promise<void>;
  verify(resource?: string, repair?: boolean): Promise<Verdict>;
  /** A command line on the same mirror, at the same instant. */
  run(command: string): Promise<ProgramResult>;
  access(options?: Partial<SyncOptions>): Access & { warnings: string[] };
  /** Lets something happen once, before the first request is answered that is the one; later ones are left alone. */
  once(isIt: (request: FakeRequest) => boolean, happen: () => void): void;
  sql<Row>(query: string, ...parameters: unknown[]): Row[];
  /** The keys of a resource's records that the mirror holds as present, sorted. */
  mirrored(resource?: string): string[];
}

/** @param home where there is a mirror already, `mirror.sqlite` */
export async function nights(
  records: Partial<FakeRecords> = {},
  behaviour: Partial<Behaviour> = {},
  { begin = noon, home = makeHome() }: { begin?: number; home?: string } = {},
): Promise<Nights> {
  let now = begin;
  let skipped = 0;
  const api = fakeApi(records, behaviour, () => now);
  const { fetch } = api;
  // Each answer has an instant of its own.
  api.fetch = async (input, init) => {
    now += 10;
    // An answer that comes late is a slow one, whatever the machine.
    if (api.behaviour.delivery === "late") skipped += 20;
    return await fetch(input, init);
  };
  const clock: Clock = {
    now: () => now,
    monotonic: () => systemClock.monotonic() + skipped,
    // Nobody waits: time jumps.
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      skipped += ms;
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
  const mirror = await makeMirror(home);
  claimMirror(mirror, { id: "b-1", name: "Brand" });
  onTestFinished(() => void brand.mirror.db.close());

  const brand: Nights = {
    api,
    mirror,
    home,
    now: () => now,
    pass: (ms) => {
      now += ms;
    },
    access(options = {}) {
      const warnings: string[] = [];
      return {
        mirror: brand.mirror,
        api: clientOf(api, { clock }),
        clock,
        signal: new AbortController().signal,
        reporter: { ...silentReporter, warn: (text) => void warnings.push(text) },
        options: { ...defaultOptions, ...options },
        warnings,
      };
    },
    async sync(resource = "orders", options = {}) {
      const access = brand.access(options);
      const before = api.asked.length;
      const { run, error } = await syncOrThrow(access, resourceOf(resource));
      return { ...run, failure: error, warnings: access.warnings, asked: api.asked.slice(before) };
    },
    async broken(how, isIt, resource = "orders", options = {}) {
      const stop = new AbortController();
      const copy = join(home, `killed-${brand.now()}.sqlite`);
      brand.once(isIt, () => {
        if (how === "killed") copyMirror(brand.mirror.path, copy);
        stop.abort(new Stopped("SIGINT"));
      });
      const access = { ...brand.access(options), signal: stop.signal };
      await expect(syncOrThrow(access, resourceOf(resource))).rejects.toThrow(Stopped);
      brand.api.before = undefined;
      if (how === "stopped") return;
      brand.mirror.db.close();
      brand.mirror = await openMirror(copy);
    },
    verify: async (resource = "orders", repair = false) =>
      await verifyResource(brand.access(), resourceOf(resource), repair),
    run: async (command) =>
      await brandapi(command, {
        home,
        fetch: api.fetch,
        clock,
        env: {
          BRANDAPI_BASE_URL: api.baseUrl,
          BRANDAPI_KEY: api.key,
          BRANDAPI_RATE_LIMIT: "none",
          BRANDAPI_DB: brand.mirror.path,
        },
      }),
    once(isIt, happen) {
      let isDone = false;
      api.before = (request) => {
        if (isDone || !isIt(request)) return undefined;
        isDone = true;
        happen();
        return undefined;
      };
    },
    sql: <Row>(query: string, ...parameters: unknown[]) =>
      brand.mirror.db.prepare(query).all(...parameters) as Row[],
    mirrored: (resource = "orders") =>
      brand
        .sql<{ key: string }>(
          "SELECT key FROM records WHERE resource = ? AND removed_at IS NULL ORDER BY key",
          resource,
        )
        .map(({ key }) => key),
  };
  return brand;
}

/** The mirror as its file is at this instant. */
function copyMirror(path: string, copy: string): void {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
}

/** An order with only what a test cares about. */
export function orderAt(id: string, ms: number | string | null, fields: JsonObject = {}): JsonObject {
  return {
    id,
    order_date: typeof ms === "number" ? at(ms) : ms,
    currency: "EUR",
    total_amount: 10,
    subtotal_amount: 8,
    refund_amount: 0,
    is_cancelled: false,
    is_refunded: false,
    host: { id: "h1", username: "ada" },
    line_items: [],
    ...fields,
  };
}

/** A library file with only what a test cares about. */
export function fileAt(id: string, ms: number, source = "upload"): JsonObject {
  return { id, source, media_type: "image", created_at: at(ms) };
}

/** Orders `o0`, the newest, to the oldest: `perInstant` of them at each instant, `apartMs` between two. */
export function ordersBefore(ms: number, count: number, apartMs: number, perInstant = 1): JsonObject[] {
  return Array.from({ length: count }, (_, n) => orderAt(`o${n}`, ms - Math.floor(n / perInstant) * apartMs));
}

/** The ids of what the API has, sorted as `mirrored` sorts. */
export function listed({ api }: Pick<Nights, "api">): string[] {
  return api.records.orders.map((one) => String((one as JsonObject).id)).sort();
}

/** Replaces one order by another form of itself. */
export function change({ api }: Pick<Nights, "api">, id: string, fields: JsonObject): void {
  api.records.orders = api.records.orders.map((one) =>
    (one as JsonObject).id === id ? { ...(one as JsonObject), ...fields } : one,
  );
}

export function withdraw({ api }: Pick<Nights, "api">, ...ids: string[]): void {
  api.records.orders = api.records.orders.filter((one) => !ids.includes(String((one as JsonObject).id)));
}

export function come({ api }: Pick<Nights, "api">, ...orders: JsonObject[]): void {
  api.records.orders = [...api.records.orders, ...orders];
}

/** Answers the first request so that is the one, and no other. @returns whether it came */
export function answerOnce(
  { api }: Pick<Nights, "api">,
  isIt: (request: FakeRequest) => boolean,
  answer: FakeFault,
): () => boolean {
  let hasCome = false;
  api.before = (request) => {
    if (hasCome || !isIt(request)) return undefined;
    hasCome = true;
    return answer;
  };
  return () => hasCome;
}

/** Whether a request reads orders; one for a single record counts them. */
export function readsOrders({ path, query }: FakeRequest): boolean {
  return path === "/orders" && query.per_page !== "1";
}

/** The requests to one list that read records, and those that only count them. */
export function readsOf(asked: readonly FakeRequest[], path: string): FakeRequest[] {
  return asked.filter((one) => one.path === path && one.query.per_page !== "1");
}

export function countsOf(asked: readonly FakeRequest[], path: string): FakeRequest[] {
  return asked.filter((one) => one.path === path && one.query.per_page === "1");
}
