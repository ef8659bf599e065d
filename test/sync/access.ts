import { systemClock } from "../../src/deps.js";
import { silentReporter } from "../../src/reporter.js";
import type { JsonObject } from "../../src/resources/types.js";
import { type Access, defaultOptions } from "../../src/sync/context.js";
import { mirrorForTest, order, rows } from "../mirror/mirror.js";
import type { ListApi } from "./list-api.js";

export const start = Date.UTC(2026, 0, 1);

/** `count` orders, `perInstant` of them at each instant, `apartMs` between one instant and the next. */
export function list(count: number, perInstant = 1, apartMs = 60_000): JsonObject[] {
  return Array.from({ length: count }, (_, n) =>
    order(`o${n}`, { order_date: new Date(start + Math.floor(n / perInstant) * apartMs).toISOString() }),
  );
}

export async function accessTo(api: ListApi, options: Partial<Access["options"]> = {}): Promise<Access> {
  return {
    api,
    mirror: await mirrorForTest(),
    clock: systemClock,
    signal: new AbortController().signal,
    reporter: silentReporter,
    options: { ...defaultOptions, ...options },
  };
}

/** The keys of the records that the mirror holds as present. */
export function mirrored({ mirror }: Access): string[] {
  return rows<{ key: string }>(mirror, "SELECT key FROM records WHERE removed_at IS NULL")
    .map(({ key }) => key)
    .sort();
}

export function listed(api: ListApi): string[] {
  return api.rows.map(({ id }) => String(id)).sort();
}
