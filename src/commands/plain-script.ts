import type { Fetch } from "../deps.js";
import type { JsonObject } from "../resources/types.js";

/** What a plain script keeps: records by their ids. */
export type Copy = Record<"orders" | "roster", Map<string, JsonObject>>;

/**
 * The script that most people write, as well as they write it: every order the first time, those of the last 30 days every
 * night, by page numbers and over what is there; the roster whole.
 */
export async function runPlainScript(copy: Copy, fetch: Fetch, baseUrl: string, key: string, now: number) {
  async function* records(path: string, query: Record<string, string>) {
    for (let page = 1, hasNext = true; hasNext; page += 1) {
      const parameters = new URLSearchParams({ ...query, per_page: "100", page: String(page) });
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`${baseUrl}${path}?${parameters}`, { headers });
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      const body = (await answer.json()) as { data: JsonObject[]; pagination: { has_next: boolean } };
      yield* body.data;
      hasNext = body.pagination.has_next;
    }
  }

  const since = new Date(now - 30 * 86_400_000).toISOString();
  for await (const order of records("/orders", copy.orders.size === 0 ? {} : { start_date: since }))
    copy.orders.set(String(order.id), order);
  copy.roster.clear();
  for await (const entry of records("/roster", {})) copy.roster.set(String(entry.relationship_id), entry);
}
