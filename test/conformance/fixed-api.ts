import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a path answers with: the text of `data`, or of each item of the list, as it goes over the wire. */
export type Wire = { items: readonly string[] } | { data: string };

export interface FixedApi {
  baseUrl: string;
  /** Path and query of each request. */
  asked: string[];
}

/**
 * An API that sends exact texts: numbers as they were written, which no JSON library would keep. Lists are paged as
 * documented and know no filters; `/me` allows everything; what it does not hold is an empty list.
 * @param perPage rows a page, whatever was asked for
 */
export async function fixedApi(
  answers: Readonly<Record<string, Wire>>,
  { perPage = 100 }: { perPage?: number } = {},
): Promise<FixedApi> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://fixed");
    const path = url.pathname.replace("/api/brand/v1", "");
    asked.push(path + url.search);
    response.setHeader("content-type", "application/json");
    response.end(bodyFor(path, url.searchParams, answers, perPage));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/brand/v1`, asked };
}

const me =
  '{"brand":{"id":"b-1","name":"Exact"},"key":{"id":"k-1","scopes":["analytics:read","opportunities:read","content:read","roster:read","recommendations:read","gifts:read","codes:read","surveys:read"],"expires_at":"2030-01-01T00:00:00Z"}}';

function bodyFor(
  path: string,
  query: URLSearchParams,
  answers: Readonly<Record<string, Wire>>,
  most: number,
): string {
  if (path === "/me") return `{"success":true,"data":${me}}`;
  const wire = answers[path] ?? { items: [] };
  if ("data" in wire) return `{"success":true,"data":${wire.data}}`;
  const page = Number(query.get("page") ?? 1);
  const perPage = Math.min(Number(query.get("per_page") ?? 25), most);
  const pages = Math.ceil(wire.items.length / perPage);
  const pagination = {
    page,
    per_page: perPage,
    total_items: wire.items.length,
    total_pages: pages,
    has_next: page < pages,
    has_prev: page > 1,
  };
  const items = wire.items.slice((page - 1) * perPage, page * perPage);
  return `{"success":true,"data":[${items.join(",")}],"pagination":${JSON.stringify(pagination)}}`;
}
