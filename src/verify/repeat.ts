import type { Range } from "../lib/ranges.js";
import { instantOrNull } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { Query, Resource } from "../resources/types.js";

/** Prints the API's count of a list. */
export const totalItems = `grep -o '"total_items": *[0-9]*' | grep -o '[0-9]*$'`;

/**
 * Returns a curl line whose output is one number. The key and the base URL stay variables of the shell, and the shell's
 * own `echo` gives the key to curl, because a list of processes shows arguments.
 */
export function curlLine(path: string, query: Query, printing: string): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const address = `$BRANDAPI_BASE_URL${path}?${given}`.replaceAll("%3A", ":").replace(/\?$/, "");
  return `echo "Authorization: Bearer $BRANDAPI_KEY" | curl -fsS -H @- "${address}" | ${printing}`;
}

/** Returns a line for the sqlite3 shell that opens the mirror read-only and prints what a statement selects. */
export function sqliteLine({ path }: Mirror, sql: string): string {
  const escaped = encodeURI(path).replace(/[?#']/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `sqlite3 'file:${escaped}?mode=ro' "${sql.replace(/[\\"$`]/g, "\\$&")}"`;
}

/** Returns SQL that counts a resource's present records of a range. @param also further conditions */
export function countingSql({ date, table }: Resource, { from, to }: Range, also: string[] = []): string {
  // Ranges begin and end with whole seconds.
  const second = (ms: number) => instantOrNull(ms)?.slice(0, 19).replace("T", " ");
  const conditions = [...also];
  if (Number.isFinite(from)) conditions.push(`datetime(${date}) >= '${second(from)}'`);
  if (Number.isFinite(to)) conditions.push(`datetime(${date}) <= '${second(to)}'`);
  const where = conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "";
  return `SELECT count(*) FROM ${table}${where}`;
}
