import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { firstPage, type Page, readPages } from "../../src/api/pagination.js";
import type { ApiResponse } from "../../src/api/response.js";
import { UnexpectedResponse } from "../../src/errors.js";
import { pagination, rejection, sendJson, serve, testApi } from "./support.js";

type Change = (list: { total: number }, page: number, response: ServerResponse) => boolean | undefined;

/** A list that really pages; `change` may alter it, or answer in its place (true), as requests come in. */
async function serveList(total: number, change?: Change) {
  const list = { total };
  const asked: number[] = [];
  const server = await serve((request, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const [page, per_page] = [Number(query.get("page")), 10];
    asked.push(page);
    if (change?.(list, page, response)) return;
    const from = (page - 1) * per_page;
    const length = Math.max(0, Math.min(per_page, list.total - from));
    const data = Array.from({ length }, (_, each) => from + each);
    sendJson(response, { success: true, data, pagination: pagination(page, per_page, list.total) });
  });
  return { ...server, asked };
}

async function read(baseUrl: string): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of readPages(testApi(baseUrl), "/orders", { per_page: 10 })) pages.push(page);
  return pages;
}

const itemsOf = (pages: readonly Page[]) => pages.flatMap(({ items }) => items);
const upTo = (count: number) => Array.from({ length: count }, (_, each) => each);

describe("pages", () => {
  it.each([
    [0, [1]],
    [10, [1]],
    [11, [1, 2]],
    [25, [1, 2, 3]],
  ])("of %i rows are %j, in order, and no other is asked for", async (rows, expected) => {
    const { asked, baseUrl } = await serveList(rows);
    const pages = await read(baseUrl);
    expect(pages.map(({ page }) => page)).toEqual(expected);
    expect(itemsOf(pages)).toEqual(upTo(rows));
    expect(asked).toEqual(expected);
  });

  it("are asked for one at a time, the next one while the one before is handled", async () => {
    const { asked, baseUrl } = await serveList(40);
    for await (const { page } of readPages(testApi(baseUrl), "/orders", { per_page: 10 }))
      await expect.poll(() => asked).toEqual(upTo(Math.min(page + 1, 4)).map((each) => each + 1));
  });

  it.each([
    [400, [1, 2, 1]],
    [404, [1, 2, 1]],
    ["empty", [1, 2]],
    ["clamped", [1, 2]],
  ] as const)(
    "just end if the list has shrunk and the API answers %s past its end",
    async (past, expected) => {
      const { asked, baseUrl } = await serveList(20, (list, page, response) => {
        if (page !== 2) return false;
        list.total = 10;
        const body = { success: true, data: [], pagination: pagination(past === "clamped" ? 1 : 2, 10, 10) };
        sendJson(response, body, typeof past === "number" ? past : 200);
        return true;
      });
      expect(itemsOf(await read(baseUrl))).toEqual(upTo(10));
      expect(asked).toEqual(expected);
    },
  );

  it("go on if the list grows meanwhile", async () => {
    const { baseUrl } = await serveList(20, (list, page) => {
      if (page === 2) list.total = 35;
      return false;
    });
    expect(itemsOf(await read(baseUrl))).toEqual(upTo(35));
  });

  it("end with the first empty one, whatever is announced: the count shows that something is missing", async () => {
    const { asked, baseUrl } = await serveList(90, (_list, page, response) => {
      if (page > 1) sendJson(response, { success: true, data: [], pagination: pagination(page, 10, 90) });
      return page > 1;
    });
    expect((await read(baseUrl)).at(-1)?.pagination.total_items).toBe(90);
    expect(asked).toEqual([1, 2]);
  });

  it.each([
    [400, "RequestRefused", /refused the parameters/],
    [404, "UnexpectedResponse", /announces page 3, and nothing is there \(404\)\.$/],
  ])("fail if a page that exists is answered with %i", async (status, name, message) => {
    const { baseUrl } = await serveList(60, (_list, page, response) => {
      if (page === 3) sendJson(response, {}, status);
      return page === 3;
    });
    const error = await rejection(read(baseUrl));
    expect(error.name).toBe(name);
    expect(error.message).toMatch(message);
  });

  it.each([
    [
      "the same page twice",
      (page: number) => ({ data: Array(10).fill({ id: 1 }), pagination: pagination(page, 10, 90) }),
      /repeats page 1 as page 2/,
    ],
    [
      "a next page for ever",
      (page: number) => ({ data: [page], pagination: { ...pagination(page, 10, 30), has_next: true } }),
      /page 3 of 3 has a next one/,
    ],
    [
      "another page",
      (page: number) => ({ data: [page], pagination: pagination(Math.min(page, 2), 10, 90) }),
      /is page 2 where page 3 was asked for/,
    ],
    ["no list", () => ({ data: {} }), /is not a list/],
    ["no pagination", () => ({ data: [] }), /has no `pagination`/],
  ])("are refused if the API gives %s", async (_name, body, message) => {
    const { baseUrl } = await serveList(0, (_list, page, response) => {
      sendJson(response, { success: true, ...body(page) });
      return true;
    });
    const error = await rejection(read(baseUrl));
    expect(error).toBeInstanceOf(UnexpectedResponse);
    expect(error.message).toMatch(message);
  });

  it("are never asked for beyond 10,000", async () => {
    const asked: number[] = [];
    const api = {
      async get(_path: string, { page }: { page?: number | string | undefined } = {}): Promise<ApiResponse> {
        asked.push(Number(page));
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
    expect([last, asked.at(-1)]).toEqual([10_000, 10_000]);
  });
});

it("the first page alone is refused if it is another", () => {
  const answer = { data: [], items: [], pagination: pagination(2, 1, 2), requestedAt: 0, serverTime: null };
  expect(() => firstPage("/orders", answer)).toThrow("is page 2 where page 1 was asked for");
});
