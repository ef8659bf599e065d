import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { makeHome } from "../support/home.js";
import type { InterceptedRequest, LogEntry, Sandbox, SandboxOptions } from "../support/old-sandbox/index.js";
import { brandapi, type ProgramOptions, type ProgramResult } from "../support/program.js";
import { envFor, sandboxForTest } from "../support/sandbox.js";

export const day = 86_400_000;
/** Asked for beyond each end of a range: the API may keep finer dates than it shows. */
export const margin = 1_000;
/** "Now" where a story begins, unless it says otherwise: the same data every time. */
export const noon = Date.UTC(2026, 10, 21, 12);

export interface Told extends ProgramResult {
  /** What the API was asked for meanwhile. */
  requests: LogEntry[];
}

/** A brand with its API, and the person who mirrors it: a home folder, a key, and a clock that agrees with the API's. */
export interface Brand {
  sandbox: Sandbox;
  home: string;
  dbPath: string;
  /** The key in the person's environment. */
  key: string;
  env(): Record<string, string>;
  run(command: string | readonly string[], options?: ProgramOptions): Promise<Told>;
  /** Rows of the mirror. */
  sql<Row>(query: string, ...parameters: unknown[]): Row[];
  /** The present records of a resource, as the mirror holds them. */
  mirrored(resource: string): unknown[];
  /** The changes that the mirror saw, oldest first. */
  changes(resource: string): Change[];
  /** The latest run of a resource. */
  lastRun(resource: string): Record<string, unknown>;
}

export interface Change {
  key: string;
  kind: string;
  field: string | null;
  old: string | null;
  new: string | null;
  last_seen_unchanged_at: string | null;
  seen_changed_at: string;
}

/** Time stands still unless the story moves it (`sandbox.advance`), and nothing happens by itself. */
export async function brandForTest(options: SandboxOptions = {}): Promise<Brand> {
  const sandbox = await sandboxForTest({ now: noon, pace: 0, orders: 300, ...options });
  const home = makeHome();
  const dbPath = join(home, "mirror.sqlite");

  function sql<Row>(query: string, ...parameters: unknown[]): Row[] {
    const db = new Sqlite(dbPath, { readonly: true });
    try {
      return db.prepare(query).all(...parameters) as Row[];
    } finally {
      db.close();
    }
  }

  const brand: Brand = {
    sandbox,
    home,
    dbPath,
    key: sandbox.key,
    env: () => ({ ...(envFor(sandbox, brand.key) as Record<string, string>), BRANDAPI_DB: dbPath }),
    async run(command, programOptions = {}) {
      const before = sandbox.log.length;
      const { env, ...rest } = programOptions;
      const result = await brandapi(command, {
        home,
        env: { ...brand.env(), ...env },
        clock: { now: () => sandbox.now() },
        ...rest,
      });
      return { ...result, requests: sandbox.log.slice(before) };
    },
    sql,
    mirrored: (resource) =>
      sql<{ json: string }>(
        "SELECT json FROM records WHERE resource = ? AND removed_at IS NULL",
        resource,
      ).map(({ json }) => JSON.parse(json) as unknown),
    changes: (resource) =>
      sql<Change>(
        `SELECT key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at FROM changes
         WHERE resource = ? ORDER BY change_id`,
        resource,
      ),
    lastRun: (resource) =>
      sql<Record<string, unknown>>(
        "SELECT * FROM sync_runs WHERE resource = ? ORDER BY run_id DESC LIMIT 1",
        resource,
      )[0] ?? {},
  };
  return brand;
}

/** An order as the sandbox serves it, as far as stories look at it. */
export interface OrderSeen {
  id: string;
  order_date: string;
  total_amount: number | null;
  refund_amount: number | null;
  is_cancelled: boolean;
  is_refunded: boolean;
  host: { id: string; username: string | null } | null;
  currency: string | null;
}

export function ordersOf(sandbox: Sandbox): OrderSeen[] {
  return [...sandbox.records("orders")] as OrderSeen[];
}

/** An untouched order that is about so many days old, with an amount and a host. */
export function orderAged(sandbox: Sandbox, days: number): OrderSeen {
  const at = sandbox.now() - days * day;
  const plain = ordersOf(sandbox).filter(
    (order) =>
      !order.is_cancelled &&
      (order.refund_amount ?? 0) === 0 &&
      (order.total_amount ?? 0) > 1 &&
      order.host !== null,
  );
  const distance = ({ order_date }: OrderSeen) => Math.abs(Date.parse(order_date) - at);
  const [nearest] = plain.sort((a, b) => distance(a) - distance(b));
  if (!nearest) throw new Error("no such order");
  return nearest;
}

export function byId<T extends { id: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Recognises the nth request that reads records of a path. Those that only count ask for one record a page. */
export function nthRead(path: string, nth: number): (request: InterceptedRequest) => boolean {
  let count = 0;
  return (request) => {
    if (request.path !== path || request.query.get("per_page") !== "100") return false;
    count += 1;
    return count === nth;
  };
}

/** Whether so many orders are those of whole answers: each begins with the oldest order of the one before. */
export function areWholeAnswers(orders: number): boolean {
  return orders === 0 || (orders - 1) % 99 === 0;
}

/**
 * The orders that a run which goes on has to read: those that the mirror has not, and the day on which the one before
 * stopped, which it reads once more as a whole.
 */
export function leftToRead(brand: Brand): { least: number; most: number } {
  const held = brand.mirrored("orders") as OrderSeen[];
  const all = ordersOf(brand.sandbox);
  const least = all.length - held.length;
  const stoppedOn = held.map(({ order_date }) => order_date.slice(0, 10)).sort()[0];
  const again =
    held.length === 0 ? [] : all.filter(({ order_date }) => order_date.slice(0, 10) === stoppedOn);
  return { least, most: least + 1 + again.length };
}

/** The requests to one path, without the versioned root. */
export function asked(requests: readonly LogEntry[], path: string): URLSearchParams[] {
  return requests
    .map((entry) => new URL(entry.path, "http://sandbox"))
    .filter((url) => url.pathname.replace("/api/brand/v1", "") === path)
    .map((url) => url.searchParams);
}
