import { existsSync } from "node:fs";
import { Sqlite } from "../support/sqlite.js";
import type { SoakBrand } from "./brand.js";

interface RecordRow {
  key: string;
  json: string;
  removed: number;
}

/**
 * Returns the errors in a mirror after a kill, and the number of current orders in the mirror. A missing mirror has no
 * errors.
 */
export function inspect(path: string, brand: SoakBrand): { wrong: string[]; held: number } {
  if (!existsSync(path)) return { wrong: [], held: 0 };
  const db = new Sqlite(path);
  try {
    const integrity = db.pragma("integrity_check", { simple: true });
    const tables = db
      .prepare("SELECT name FROM sqlite_master WHERE name IN ('records', 'orders', 'orders_removed')")
      .pluck()
      .all();
    if (tables.length < 3) return { wrong: integrity === "ok" ? [] : [String(integrity)], held: 0 };
    const records = db
      .prepare("SELECT key, json, removed_at IS NOT NULL AS removed FROM records WHERE resource = 'orders'")
      .all() as RecordRow[];
    const rows = db
      .prepare("SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM orders_removed)")
      .pluck()
      .get() as number;
    const wrong = [
      ...(integrity === "ok" ? [] : [`integrity_check: ${integrity}`]),
      ...(rows === records.length ? [] : [`${rows} rows for ${records.length} records`]),
      ...records
        .filter(({ key, json }) => !brand.wasSent(key, json))
        .map(({ key }) => `${key} differs from every version that the API sent`),
    ];
    return { wrong, held: records.filter(({ removed }) => removed === 0).length };
  } finally {
    db.close();
  }
}

/** Returns the differences between a mirror and the API after a verified run. */
export function compare(path: string, { data }: SoakBrand): string[] {
  const db = new Sqlite(path, { readonly: true });
  try {
    const held = new Map(
      db
        .prepare("SELECT key, json FROM records WHERE resource = 'orders' AND removed_at IS NULL")
        .raw()
        .all() as [string, string][],
    );
    const missing = data.orders
      .filter(({ id }) => !held.has(id))
      .map(({ id }) => `${id} is not in the mirror`);
    const ids = new Set(data.orders.map(({ id }) => id));
    const gone = [...held.keys()].filter((key) => !ids.has(key)).map((key) => `${key} is not in the API`);
    const changed = data.orders.filter(
      (order) => held.has(order.id) && held.get(order.id) !== JSON.stringify(order),
    );
    return [...missing, ...gone, ...changed.map(({ id }) => `${id} differs`)];
  } finally {
    db.close();
  }
}
