import type { Mirror } from "./mirror.js";

/** Returns the first damage that SQLite finds in a mirror's file, indexes included; null if there is none. */
export function findDamage({ db }: Pick<Mirror, "db">): string | null {
  const first = String(db.pragma("integrity_check(1)", { simple: true }));
  return first === "ok" ? null : first;
}
