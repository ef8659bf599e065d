import type { Mirror } from "./mirror.js";

/** What SQLite finds wrong with a mirror's file first, indexes included; null where it is sound. */
export function findDamage({ db }: Mirror): string | null {
  const first = String(db.pragma("integrity_check(1)", { simple: true }));
  return first === "ok" ? null : first;
}
