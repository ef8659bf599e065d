import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { countPages, firstPage, type Page, readPages } from "../../src/api/pagination.js";
import type { ApiResponse } from "../../src/api/response.js";
import { UnexpectedResponse } from "../../src/errors.js";
import { pagination, rejection, sendJson, serve, testApi } from "./support.js";

type OnRequest = (list: { total: number }, page: number, response: ServerResponse) => boolean | undefined;

/** Serves a paginated list. `onRequest` can change the list, or send a custom response and return true. */
async function serveList(total: number, onRequest?: OnRequest) {
  const list = { total };
  const requested: number[] = [];
  const server = await serve((request, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const [page, per_page] = [Number(query.get("page")), 10];
    requested.push(page);
    if (onRequest?.(list, page, response)) return;
    const from = (page - 1) * per_page;
    const length = Math.max(0, Math.min(per_page, list.total - from));
    const data = Array.from({ length }, (_, each) => from + each);
    sendJson(response, { success: true, data, pagination: pagination(page, per_page, list.total) });
  });
  return { ...server, requested };
}

async function read(baseUrl: string): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of readPages(testApi(baseUrl), "/orders", { per_page: 10 })) pages.push(page);
  return pages;
}

const itemsOf = (pages: readonly Page[]) => pages.flatMap(({ items }) => items);
const upTo = (count: number) => Array.from({ length: count }, (_, each) => each);

it.each([
  [0, "1 request", [1]],
  [10, "1 request", [1]],
  [11, "2 requests", [1, 2]],
  [25, "3 requests", [1, 2, 3]],
])("a list of %i items with 10 items per page is read in order with %s", async (rows, _, expected) => {
  const { requested, baseUrl } = await serveList(rows);
  const pages = await read(baseUrl);
  expect(pages.map(({ page }) => page)).toEqual(expected);
  expect(itemsOf(pages)).toEqual(upTo(rows));
  expect(requested).toEqual(expected);
});

it.each([
  ["HTTP 400", 400, [1, 2, 1]],
  ["HTTP 404", 404, [1, 2, 1]],
  ["an empty page", 200, [1, 2]],
  ["the last page", 200, [1, 2]],
] as const)(
  "if a list becomes shorter while it is being read, %s in response to a request past its end is not an error",
  async (beyondEnd, status, expected) => {
    const { requested, baseUrl } = await serveList(20, (list, page, response) => {
      if (page !== 2) return false;
      list.total = 10;
      const body = {
        success: true,
        data: [],
        pagination: pagination(beyondEnd === "the last page" ? 1 : 2, 10, 10),
      };
      sendJson(response, body, status);
      return true;
    });
    expect(itemsOf(await read(baseUrl))).toEqual(upTo(10));
    expect(requested).toEqual(expected);
  },
);

it("the client reads a list to the end even if items are added during the read", async () => {
  const { baseUrl } = await serveList(20, (list, page) => {
    if (page === 2) list.total = 35;
    return false;
  });
  expect(itemsOf(await read(baseUrl))).toEqual(upTo(35));
});

it("an empty page ends a list even if the response indicates more pages", async () => {
  const { requested, baseUrl } = await serveList(90, (_list, page, response) => {
    if (page > 1) sendJson(response, { success: true, data: [], pagination: pagination(page, 10, 90) });
    return page > 1;
  });
  expect((await read(baseUrl)).at(-1)?.pagination.total_items).toBe(90);
  expect(requested).toEqual([1, 2]);
});

it.each([
  [1, 400, "BadRequest", /rejected the parameters/, [1]],
  [1, 404, "NotFound", /Nothing found at/, [1]],
  [3, 400, "BadRequest", /rejected the parameters/, [1, 2, 3, 1]],
  [3, 404, "UnexpectedResponse", /refers to page 3, which does not exist \(404\)\.$/, [1, 2, 3, 1]],
])(
  "reading a list fails if page %i of 3 returns HTTP %i",
  async (failing, status, name, message, expected) => {
    const { requested, baseUrl } = await serveList(30, (_list, page, response) => {
      if (page === failing) sendJson(response, {}, status);
      return page === failing;
    });
    const error = await rejection(read(baseUrl));
    expect(error.name).toBe(name);
    expect(error.message).toMatch(message);
    expect(requested).toEqual(expected);
  },
);

it.each([
  [
    "the same page twice",
    (page: number) => ({ data: Array(10).fill({ id: 1 }), pagination: pagination(page, 10, 90) }),
    /has the same items on pages 1 and 2/,
  ],
  [
    "`has_next: true` on the last page",
    (page: number) => ({ data: [page], pagination: { ...pagination(page, 10, 30), has_next: true } }),
    /page 3 of 3 has a next page/,
  ],
  [
    "a different page than requested",
    (page: number) => ({ data: [page], pagination: pagination(Math.min(page, 2), 10, 90) }),
    /is page 2, but page 3 was requested/,
  ],
  ["an object instead of an array", () => ({ data: {} }), /is not a list/],
  ["no pagination", () => ({ data: [] }), /has no `pagination`/],
])("a list is rejected if the API returns %s", async (_name, body, message) => {
  const { baseUrl } = await serveList(0, (_list, page, response) => {
    sendJson(response, { success: true, ...body(page) });
    return true;
  });
  const error = await rejection(read(baseUrl));
  expect(error).toBeInstanceOf(UnexpectedResponse);
  expect(error.message).toMatch(message);
});

it("the client reads at most 10,000 pages of a list", async () => {
  const requested: number[] = [];
  const api = {
    async get(_path: string, { page }: { page?: number | string | undefined } = {}): Promise<ApiResponse> {
      requested.push(Number(page));
      const items = [Number(page)];
      const serverTime = null;
      return {
        data: items,
        items,
        pagination: pagination(Number(page), 1, 10_010),
        requestedAt: 0,
        serverTime,
      };
    },
  };
  let last = 0;
  for await (const { page } of readPages(api, "/orders", {})) last = page;
  expect([last, requested.at(-1)]).toEqual([10_000, 10_000]);
});

it.each([
  [0, "1 page", 1],
  [100, "1 page", 1],
  [101, "2 pages", 2],
])("a list of %i records has %s if each page can contain 100 records", (records, _, pages) => {
  expect(countPages(records)).toBe(pages);
});

it("a list is rejected if the API labels its first page as page 2", () => {
  const response = { data: [], items: [], pagination: pagination(2, 1, 2), requestedAt: 0, serverTime: null };
  expect(() => firstPage("/orders", response)).toThrow("is page 2, but page 1 was requested");
});
