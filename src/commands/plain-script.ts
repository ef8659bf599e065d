import { json } from "node:stream/consumers";
import type { Deps } from "../deps.js";
import type { JsonObject } from "../resources/types.js";

/**
 * The script that most people write, as well as they write it: every order the first time, those of the last 30 days every
 * night, by page numbers and over what is there; the roster whole.
 * @param copy the records that it keeps, by their ids
 */
export async function runPlainScript(copy: Map<string, object>, { clock, env, fetch }: Deps) {
  async function* records(path: string, query: Record<string, string>) {
    for (let page = 1, hasNext = true; hasNext; page += 1) {
      const parameters = new URLSearchParams({ ...query, per_page: "100", page: String(page) });
      const headers = { authorization: `Bearer ${env.BRANDAPI_KEY}` };
      const answer = await fetch(`${env.BRANDAPI_BASE_URL}${path}?${parameters}`, { headers });
      if (answer.status !== 200 || !answer.body) throw new Error(`${path}: ${answer.status}`);
      const body = (await json(answer.body)) as { data: JsonObject[]; pagination: { has_next: boolean } };
      yield* body.data;
      hasNext = body.pagination.has_next;
    }
  }

  const since = new Date(clock.now() - 30 * 86_400_000).toISOString();
  for await (const order of records("/orders", copy.size === 0 ? {} : { start_date: since }))
    copy.set(String(order.id), order);
  for (const [id, one] of copy) if ("relationship_id" in one) copy.delete(id);
  for await (const entry of records("/roster", {})) copy.set(String(entry.relationship_id), entry);
}
