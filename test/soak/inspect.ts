import { existsSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { RecordSet, Sandbox } from "../support/old-sandbox/index.js";

/** The typed table of each record set, and its resource. */
export const tableOf: Partial<Record<RecordSet, { resource: string; table: string }>> = {
  orders: { resource: "orders", table: "orders" },
  roster: { resource: "roster", table: "roster" },
  recommendations: { resource: "recommendations", table: "recommendations" },
  "opportunity-details": { resource: "opportunities", table: "opportunities" },
  content: { resource: "content", table: "content" },
  gifts: { resource: "gifts", table: "gifts" },
  codes: { resource: "codes", table: "codes" },
};

/** The API's records by set, as text: they stand still while points are killed. */
export type Api = ReadonlyMap<RecordSet, readonly string[]>;

export function readApi(sandbox: Sandbox): Api {
  return new Map(
    (Object.keys(tableOf) as RecordSet[]).map((set) => [
      set,
      [...sandbox.records(set)].map((record) => JSON.stringify(record)),
    ]),
  );
}

/**
 * What is wrong with a mirror that a kill left: nothing, for a sound program. The file opens and is sound; typed tables
 * and records agree; of each page of a list either all that it changed is there or nothing; of what is read by date, all
 * that the killed run claims to have read is there as the API has it.
 * @param before the records of the mirror before the killed run, by set
 */
export function damage(path: string, api: Api, before: Api | null): string[] {
  if (!existsSync(path)) return [];
  const found: string[] = [];
  const db = new Sqlite(path);
  try {
    const integrity = db.pragma("integrity_check", { simple: true });
    if (integrity !== "ok") return [`integrity_check: ${integrity}`];
    if (db.prepare("SELECT count(*) FROM sqlite_master WHERE name = 'records'").pluck().get() === 0)
      return [];
    for (const [set, { resource, table }] of Object.entries(tableOf)) {
      const records = api.get(set as RecordSet) ?? [];
      const date = dates[resource];
      if (date === undefined) {
        const pages = brokenPages(db, resource, records, before?.get(set as RecordSet) ?? []);
        if (pages > 0) found.push(`${resource}: ${pages} pages are there in part`);
      } else {
        const lacking = lackingOf(db, resource, records, date);
        if (lacking > 0)
          found.push(`${resource}: ${lacking} records of what it claims to have read are not there`);
      }
      const hasTable = db
        .prepare("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?")
        .pluck()
        .get(table);
      const rows = hasTable ? db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get() : 0;
      const held = db.prepare("SELECT count(*) FROM records WHERE resource = ?").pluck().get(resource);
      if (rows !== held) found.push(`${table}: ${rows} rows for ${held} records`);
    }
    return found;
  } finally {
    db.close();
  }
}

/** What is read by date, and the member that dates it. */
const dates: Readonly<Record<string, string>> = { orders: "order_date", content: "created_at" };

/** Records of the API that lie in what the killed run claims, and that the mirror does not hold as they are. */
function lackingOf(db: Sqlite.Database, resource: string, api: readonly string[], date: string): number {
  const claimed = db
    .prepare(
      `SELECT from_at, to_at FROM coverage WHERE resource = @resource
       AND run_id = (SELECT max(run_id) FROM sync_runs WHERE resource = @resource AND outcome = 'running')`,
    )
    .all({ resource }) as { from_at: string | null; to_at: string }[];
  const mirror = new Set(
    db
      .prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL")
      .pluck()
      .all(resource) as string[],
  );
  return api.filter((json) => {
    const at = Date.parse(String((JSON.parse(json) as Record<string, unknown>)[date]));
    const isClaimed = claimed.some(
      ({ from_at, to_at }) => (from_at === null || at >= Date.parse(from_at)) && at <= Date.parse(to_at),
    );
    return isClaimed && !mirror.has(json);
  }).length;
}

/** Pages of the API's list of which the mirror holds a part, but not all, of what the run had to write. */
function brokenPages(
  db: Sqlite.Database,
  resource: string,
  api: readonly string[],
  before: readonly string[],
): number {
  // Details come one by one: their list has a form of its own.
  if (resource === "opportunities") return 0;
  const mirror = new Set(
    db
      .prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL")
      .pluck()
      .all(resource) as string[],
  );
  const old = new Set(before);
  let broken = 0;
  for (let start = 0; start < api.length; start += 100) {
    const due = api.slice(start, start + 100).filter((json) => !old.has(json));
    const there = due.filter((json) => mirror.has(json)).length;
    if (there !== 0 && there !== due.length) broken += 1;
  }
  return broken;
}

/** How the mirror's present records differ from the API's, for some sets. */
export function unequal(path: string, api: Api, sets: readonly RecordSet[]): string[] {
  const db = new Sqlite(path, { readonly: true });
  try {
    return sets.flatMap((set) => {
      const { resource = set } = tableOf[set] ?? {};
      const rows = db
        .prepare("SELECT json FROM records WHERE resource = ? AND removed_at IS NULL")
        .pluck()
        .all(resource) as string[];
      const expected = new Set(api.get(set));
      const lost = rows.filter((json) => !expected.has(json)).length;
      return rows.length === expected.size && lost === 0
        ? []
        : [
            `${resource}: ${rows.length} records where the API has ${expected.size}, ${lost} of them different`,
          ];
    });
  } finally {
    db.close();
  }
}
