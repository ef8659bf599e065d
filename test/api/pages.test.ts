import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { ApiClient, RequestOptions } from "../../src/api/client.js";
import { type Page, type PagesOptions, readPages } from "../../src/api/pages.js";
import { UnexpectedAnswer } from "../../src/errors.js";
import { pagination, rejection, sendJson, serve, testApi } from "./support.js";

type Change = (list: { total: number }, page: number, response: ServerResponse, reply: () => void) => boolean;

/** A list that really pages; `change` may alter it, or answer in its place (true), as requests come in. */
async function serveList(start: number, change?: Change) {
  const list = { total: start };
  let open = 0;
  const most = { open: 0 };
  const server = await serve((request, response) => {
    const query = new URL(request.url ?? "", "http://x").searchParams;
    const page = Number(query.get("page"));
    const per_page = Number(query.get("per_page"));
    open += 1;
    most.open = Math.max(most.open, open);
    response.on("close", () => {
      open -= 1;
    });
    const reply = () => {
      const first = (page - 1) * per_page;
      const length = Math.max(0, Math.min(per_page, list.total - first));
      const data = Array.from({ length }, (_, each) => ({ id: first + each }));
      sendJson(response, { success: true, data, pagination: pagination(page, per_page, list.total) });
    };
    // Page 2 answers last, so that order is the reader's doing.
    if (!change?.(list, page, response, reply)) setTimeout(reply, page === 2 ? 40 : 20);
  });
  const asked = () =>
    server.requests.map((each) => Number(new URL(each.url ?? "", "http://x").searchParams.get("page")));
  return { ...server, list, asked, most };
}

async function read(baseUrl: string, options: PagesOptions = {}, settings = {}): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of readPages(testApi(baseUrl, { settings }), "/orders", { per_page: 10 }, options))
    pages.push({ ...page, records: [...page.records] });
  return pages;
}

const ids = (pages: readonly Page[]) =>
  pages.flatMap((page) => page.records.map((each) => (each.value as { id: number }).id));
const upTo = (count: number) => Array.from({ length: count }, (_, each) => each);

describe("pages", () => {
  it("come in order, each asked for once, four at a time and the first alone", async () => {
    let openAtFirst = 0;
    const server = await serveList(95, (_list, page) => {
      if (page === 1) openAtFirst = server.requests.length;
      return false;
    });
    const pages = await read(server.baseUrl);
    expect(ids(pages)).toEqual(upTo(95));
    expect(pages.map((each) => each.page)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(server.asked().sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(server.most.open).toBe(4);
    expect(openAtFirst).toBe(1);
  });

  it.each([
    [0, [1]],
    [10, [1]],
    [11, [1, 2]],
    [25, [1, 2, 3]],
  ])("of %i rows are %j, and no other is asked for", async (rows, expected) => {
    const server = await serveList(rows);
    expect((await read(server.baseUrl)).map((each) => each.page)).toEqual(expected);
    expect(server.asked().sort((a, b) => a - b)).toEqual(expected);
  });

  it.each(["empty", "clamped", 400, 404] as const)(
    "just end when the list shrinks under way and the API answers %s past its end",
    async (past) => {
      const waiting = new Map<number, { response: ServerResponse; reply: () => void }>();
      const server = await serveList(60, (list, page, response, reply) => {
        if (page === 1) return false;
        waiting.set(page, { response, reply });
        if (waiting.size < 4) return true;
        // All four are under way. The list shrinks; pages 2 to 4 tell so, then comes the one past the end.
        list.total = 35;
        for (const each of [2, 3, 4]) waiting.get(each)?.reply();
        const body = { success: true, data: [], pagination: pagination(past === "clamped" ? 4 : 5, 10, 35) };
        const last = waiting.get(5)?.response ?? response;
        setTimeout(() => sendJson(last, body, typeof past === "number" ? past : 200), 100);
        return true;
      });
      const pages = await read(server.baseUrl);
      expect(ids(pages)).toEqual(upTo(35));
      expect(pages).toHaveLength(4);
      expect(server.asked().sort()).toEqual([1, 2, 3, 4, 5]);
    },
  );

  it("that are empty although announced are nothing to stop for: the count tells", async () => {
    const server = await serve((request, response) => {
      const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page"));
      sendJson(response, { success: true, data: [], pagination: pagination(page, 10, 25) });
    });
    expect(await read(server.baseUrl)).toHaveLength(3);
  });

  it("are asked for while the one before is put away", async () => {
    const server = await serveList(30);
    for await (const { page } of readPages(testApi(server.baseUrl), "/orders", { per_page: 10 })) {
      if (page === 1) await expect.poll(() => server.asked()).toEqual([1, 2, 3]);
    }
  });

  it.each([
    [400, [1, 2, 1]],
    [404, [1, 2, 1]],
    ["empty", [1, 2]],
    ["clamped", [1, 2]],
  ] as const)(
    "just end when only the page that is gone, answered %s, shows that the list is shorter",
    async (past, asked) => {
      const server = await serveList(20, (list, page, response) => {
        if (page !== 2) return false;
        list.total = 10;
        const body = { success: true, data: [], pagination: pagination(past === "clamped" ? 1 : 2, 10, 10) };
        sendJson(response, body, typeof past === "number" ? past : 200);
        return true;
      });
      const pages = await read(server.baseUrl);
      expect(ids(pages)).toEqual(upTo(10));
      expect(pages).toHaveLength(1);
      expect(server.asked()).toEqual(asked);
    },
  );

  it("just end when a later page told of the shorter list before an earlier one was refused", async () => {
    const server = await serveList(30, (list, page, response, reply) => {
      if (page === 1) return false;
      list.total = 10;
      if (page === 3) reply();
      else setTimeout(() => sendJson(response, {}, 400), 100);
      return true;
    });
    expect(ids(await read(server.baseUrl))).toEqual(upTo(10));
    expect(server.asked().sort()).toEqual([1, 2, 3]);
  });

  it("are asked for nothing more when the page before told that a refused one is gone", async () => {
    const server = await serveList(30, (list, page, response, reply) => {
      if (page === 1) return false;
      list.total = 20;
      if (page === 2) setTimeout(reply, 100);
      else sendJson(response, {}, 400);
      return true;
    });
    expect(ids(await read(server.baseUrl))).toEqual(upTo(20));
    expect(server.asked().sort()).toEqual([1, 2, 3]);
  });

  it("that are gone by now are not asked for, whatever a page says that came before and waited", async () => {
    let tries = 0;
    const server = await serveList(90, (list, page, response, reply) => {
      if (page !== 2) return false;
      tries += 1;
      if (tries === 1) sendJson(response, {}, 503);
      else {
        list.total = 50;
        reply();
      }
      return true;
    });
    expect(ids(await read(server.baseUrl, {}, { maxWaitMs: 20_000 }))).toEqual(upTo(50));
    expect(server.asked().sort()).toEqual([1, 2, 2, 3, 4, 5]);
  });

  it("that came as no JSON are asked for again at once, although it is not their turn", async () => {
    const seen: number[] = [];
    let replyTo2 = () => {};
    const server = await serveList(30, (_list, page, response, reply) => {
      seen.push(page);
      if (page === 2) replyTo2 = reply;
      if (page !== 3) return page === 2;
      if (seen.filter((each) => each === 3).length > 1) setTimeout(replyTo2, 20);
      else response.end("<html>sign in</html>");
      return seen.filter((each) => each === 3).length === 1;
    });
    expect(ids(await read(server.baseUrl, {}, { maxWaitMs: 20_000 }))).toEqual(upTo(30));
    expect(seen).toEqual([1, 2, 3, 3]);
  });

  it("cost nothing more, and are not counted, when nobody waits for the refused one any more", async () => {
    const server = await serveList(50, (_list, page, response) => {
      if (page === 3) sendJson(response, {}, 400);
      return page > 1;
    });
    const answered: string[] = [];
    const onRequest = ({ status }: { status: number }) => void answered.push(`${status}`);
    const api = testApi(server.baseUrl, { events: { onRequest } });
    for await (const _page of readPages(api, "/orders", { per_page: 10 })) {
      await expect.poll(() => answered).toContain("400");
      break;
    }
    await expect.poll(() => answered).toHaveLength(5);
    expect(api.stats.requests).toBe(5);
  });

  it("fail when a page that exists is refused", async () => {
    const server = await serveList(60, (_list, page, response) => {
      if (page !== 3) return false;
      sendJson(response, {}, 400);
      return true;
    });
    expect((await rejection(read(server.baseUrl))).name).toBe("RequestRefused");
  });

  it("fail when a page that exists is not there: it is not the base URL that is wrong", async () => {
    const server = await serveList(60, (_list, page, response) => {
      if (page !== 3) return false;
      sendJson(response, {}, 404);
      return true;
    });
    const { message } = await rejection(read(server.baseUrl));
    expect(message).toMatch(/announces page 3, and nothing is there \(404\)\.$/);
  });

  it("go on when the list grows under way", async () => {
    const server = await serveList(30, (list, page) => {
      if (page === 3) list.total = 55;
      return false;
    });
    expect(ids(await read(server.baseUrl))).toEqual(upTo(55));
  });

  it.each([
    [
      "the same page twice",
      (page: number) => ({ data: Array(10).fill({ id: 1 }), pagination: pagination(page, 10, 90) }),
      /repeats page 1 as page 2/,
    ],
    [
      "a next page for ever",
      (page: number) => ({
        data: [{ id: page }],
        pagination: { ...pagination(page, 10, 30), has_next: true },
      }),
      /page 3 of 3 has a next one/,
    ],
    [
      "another page",
      (page: number) => ({ data: [{ id: page }], pagination: pagination(Math.min(page, 2), 10, 90) }),
      /is page 2 where page 3 was asked for/,
    ],
    ["no list", () => ({ data: {} }), /is not a list/],
    ["no pagination", () => ({ data: [] }), /has no `pagination`/],
  ])("end with UnexpectedAnswer when the API gives %s", async (_name, body, message) => {
    const server = await serve((request, response) => {
      const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page"));
      sendJson(response, { success: true, ...body(page) });
    });
    const error = await rejection(read(server.baseUrl));
    expect(error).toBeInstanceOf(UnexpectedAnswer);
    expect(error.message).toMatch(message);
    expect(server.requests.length).toBeLessThan(10);
  });

  it("are never asked for beyond 10,000", async () => {
    const asked: number[] = [];
    const api = {
      async get(_path: string, query: { page?: number }, options: RequestOptions) {
        const page = Number(query.page);
        asked.push(page);
        const one = pagination(page, 1, 10_010);
        await options.arrived?.(one);
        return { items: [{ json: `{"id":${page}}`, value: { id: page } }], pagination: one, askedAt: 0 };
      },
    } as unknown as ApiClient;
    let last = 0;
    for await (const { page } of readPages(api, "/orders", {})) last = page;
    expect(last).toBe(10_000);
    expect(Math.max(...asked)).toBe(10_000);
  });

  it("stop at once with the signal's reason, and leave nothing behind", async () => {
    const stop = new AbortController();
    const server = await serveList(900, (_list, page) => {
      if (page === 3) stop.abort(new Error("enough"));
      return page > 2;
    });
    const error = await rejection(read(server.baseUrl, { signal: stop.signal }));
    expect(error.message).toBe("enough");
  });

  it("stop when nobody reads on: requests under way are dropped", async () => {
    let dropped = 0;
    const server = await serveList(900, (_list, page, response) => {
      response.on("close", () => {
        if (!response.writableEnded) dropped += 1;
      });
      return page > 1;
    });
    for await (const { page } of readPages(testApi(server.baseUrl), "/orders", { per_page: 10 })) {
      expect(page).toBe(1);
      await expect.poll(() => server.requests.length).toBe(5);
      break;
    }
    await expect.poll(() => dropped).toBe(4);
  });

  it("say when they were asked for, not when they came", async () => {
    const before = Date.now();
    const server = await serveList(5);
    const [page] = await read(server.baseUrl);
    expect(page?.askedAt).toBeGreaterThanOrEqual(before);
    expect(page?.askedAt).toBeLessThanOrEqual(Date.now());
  });
});
