import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPages } from "../../src/api/pages.js";
import { systemDeps } from "../../src/deps.js";
import { FakeClock, pagination, rejection, sendJson, serve, temporaryFolder, testApi } from "./support.js";

const good = '{"success":true,"data":{}}';
const limits = [
  { "ratelimit-remaining": "0", "ratelimit-reset": "3600" },
  { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "60" },
];

describe("patience bounds what the server's own headers ask for", () => {
  it.each(limits)("a hold by %j, with our budget and without", async (headers) => {
    for (const rateLimit of [60, null]) {
      const server = await serve((_request, response) => sendJson(response, good, 200, headers));
      const clock = new FakeClock();
      const settings = { rateLimit, maxWaitMs: 2_000, statePath: temporaryFolder() };
      const api = testApi(server.baseUrl, { settings, deps: { clock } });
      await api.get("/me");
      const error = await rejection(api.get("/me"));
      expect(error.exitCode).toBe(6);
      expect(error.message).toMatch(
        /^The API asks for a wait of another (58|60) s before the next request, /,
      );
      expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2_100);
      expect(server.requests.length).toBe(1);
    }
  });

  it.each([60, null])(
    "a Retry-After that an earlier request was told, with a budget of %s",
    async (rateLimit) => {
      const server = await serve((_request, response) =>
        sendJson(response, good, 429, { "retry-after": "120" }),
      );
      const clock = new FakeClock();
      const settings = { rateLimit, maxWaitMs: 8_000, statePath: temporaryFolder() };
      const api = testApi(server.baseUrl, { settings, deps: { clock } });
      await rejection(api.get("/me"));
      clock.pass(10_000);
      const error = await rejection(api.get("/orders"));
      expect(error).toMatchObject({ exitCode: 6, status: 429, hint: expect.stringContaining("--max-wait") });
      expect(error.message).toBe(
        "The API asks for a wait of another 110 s before the next request, longer than is left of `--max-wait`.",
      );
      expect(clock.slept).toEqual([]);
      expect(server.requests.length).toBe(1);
    },
  );

  it("a Retry-After that another process was told: in vain is not waited, in time is", async () => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count === 1 ? 429 : 200, { "retry-after": "120" }),
    );
    const clock = new FakeClock();
    const statePath = temporaryFolder();
    const process = (maxWaitMs: number) =>
      testApi(server.baseUrl, { settings: { rateLimit: 60, maxWaitMs, statePath }, deps: { clock } });
    await rejection(process(8_000).get("/me"));
    expect((await rejection(process(8_000).get("/me"))).message).toContain("another 2 minutes");
    expect(clock.slept).toEqual([]);
    expect(server.requests.length).toBe(1);
    await process(300_000).get("/me");
    expect(clock.slept).toEqual([120_000]);
    expect(server.requests.length).toBe(2);
  });

  it("a Retry-After of months, which is no reason to lock a key out of this machine", async () => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count === 1 ? 429 : 200, { "retry-after": "9999999" }),
    );
    const clock = new FakeClock();
    const settings = { rateLimit: 60, maxWaitMs: 8_000, statePath: temporaryFolder() };
    const api = testApi(server.baseUrl, { settings, deps: { clock } });
    const remedy = `; should the API not mean it: \`rm ${join(settings.statePath, "rate.sqlite")}\``;
    const first = await rejection(api.get("/me"));
    expect(first.message).toContain("asks to wait 116 days, longer than is left of `--max-wait`");
    expect(first.hint).toBe(`try again after 2026-10-21 12:00 UTC${remedy}`);
    clock.pass(3_600_000);
    const second = await rejection(api.get("/me"));
    expect(second.message).toContain("The API asks for a wait of another 23 hours before the next request");
    expect(second.hint).toBe(
      `try again after 2026-10-21 12:00 UTC, or wait for it with \`--max-wait 1381m\`${remedy}`,
    );
    clock.pass(82_799_000 - 10_000);
    expect((await rejection(api.get("/me"))).hint).not.toContain("rm ");
    clock.pass(11_000);
    await api.get("/me");
    expect(server.requests.length).toBe(2);
  });

  it("a Retry-After that was a mistake, which the file that the hint names makes forgotten", async () => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count === 1 ? 429 : 200, { "retry-after": "86400" }),
    );
    const settings = { rateLimit: 60, maxWaitMs: 8_000, statePath: temporaryFolder() };
    const { hint = "" } = await rejection(testApi(server.baseUrl, { settings }).get("/me"));
    rmSync(/`rm (.*)`/.exec(hint)?.[1] ?? "");
    await testApi(server.baseUrl, { settings }).get("/me");
    expect(server.requests.length).toBe(2);
  });

  it("a hold that comes with 429s", async () => {
    const server = await serve((_request, response) => sendJson(response, good, 429, limits[0]));
    const clock = new FakeClock();
    const settings = { rateLimit: 60, maxWaitMs: 2_000, statePath: temporaryFolder() };
    const error = await rejection(testApi(server.baseUrl, { settings, deps: { clock } }).get("/me"));
    expect(error.exitCode).toBe(6);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2_200);
  });

  it("not our own budget, which is waited for as long as it takes", async () => {
    const server = await serve((_request, response) => sendJson(response, good));
    const clock = new FakeClock();
    const settings = { rateLimit: 1, maxWaitMs: 2_000, statePath: temporaryFolder() };
    const api = testApi(server.baseUrl, { settings, deps: { clock } });
    await api.get("/me");
    await api.get("/me");
    expect(server.requests.length).toBe(2);
  });
});

it("a damaged file of requests is no word of the server's: its window is waited for", async () => {
  const server = await serve((_request, response) => sendJson(response, good));
  const clock = new FakeClock();
  const statePath = temporaryFolder();
  writeFileSync(
    join(statePath, "rate.sqlite"),
    "no database at all, but long enough to be taken for one".repeat(50),
  );
  const api = testApi(server.baseUrl, {
    settings: { rateLimit: 60, maxWaitMs: 2_000, statePath },
    deps: { clock },
  });
  await api.get("/me");
  expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(50_000);
});

describe("one request has a deadline, as long as the patience and at least five seconds", () => {
  const deadlines: number[] = [];
  /** Deadlines pass at once. */
  const later = (ms: number, call: () => void) => {
    deadlines.push(ms);
    const timer = setTimeout(call, 20);
    return () => clearTimeout(timer);
  };

  it.each([
    ["a server that is silent", () => {}],
    [
      "a body that drips",
      (response: import("node:http").ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 5);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("%s is cut off", async (_, answer) => {
    const server = await serve((_request, response) => answer(response));
    deadlines.length = 0;
    const api = testApi(server.baseUrl, { settings: { maxWaitMs: 0 }, deps: { later } });
    const error = await rejection(api.get("/me"));
    expect(error.exitCode).toBe(6);
    expect(error.message).toContain("no whole answer came within 5 s");
    expect(deadlines).toEqual([5_000]);
  });

  it.each([
    ["an answer", (): Promise<Response> => new Promise(() => {})],
    ["a body", async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))],
  ])("%s that does not hear that it is called off is left behind", async (_, fetch) => {
    const api = testApi("http://127.0.0.1:9/api/brand/v1", {
      settings: { maxWaitMs: 0 },
      deps: { later, fetch },
    });
    expect((await rejection(api.get("/me"))).message).toContain("no whole answer came within 5 s");
  });

  it("follows the patience, up to five minutes", async () => {
    const server = await serve((_request, response) => sendJson(response, good));
    const given: number[] = [];
    const later = (ms: number) => {
      given.push(Math.round(ms));
      return () => {};
    };
    for (const maxWaitMs of [20_000, 1_800_000])
      await testApi(server.baseUrl, { settings: { maxWaitMs }, deps: { later } }).get("/me");
    expect(given).toEqual([20_000, 300_000]);
  });

  it("is no end of a page that gets no answer, where others come meanwhile and wait for their turn", async () => {
    const clock = new FakeClock();
    const calls: (() => void)[] = [];
    const asked: string[] = [];
    const server = await serve((request, response) => {
      const page = Number(new URL(request.url ?? "", "http://x").searchParams.get("page"));
      asked.push(String(page));
      if (page === 2 && asked.filter((each) => each === "2").length === 1) return;
      sendJson(response, { success: true, data: [{ id: page }], pagination: pagination(page, 1, 3) });
    });
    let answers = 0;
    const onRequest = () => {
      answers += 1;
      if (answers !== 2) return;
      // Page 3 has come, some time after page 1: then the second one's deadline passes.
      setImmediate(() => {
        clock.pass(19_000);
        calls[1]?.();
      });
    };
    const api = testApi(server.baseUrl, {
      settings: { maxWaitMs: 20_000 },
      deps: {
        clock,
        later: (_ms, call) => {
          if (calls.push(call) === 3) clock.pass(1_000);
          return () => {};
        },
      },
      events: { onRequest },
    });

    const pages: number[] = [];
    for await (const { page } of readPages(api, "/orders", { per_page: 1 })) pages.push(page);
    expect(pages).toEqual([1, 2, 3]);
    expect(asked.sort()).toEqual(["1", "2", "2", "3"]);
  });

  it("the real program has one", () => {
    expect(systemDeps(new AbortController().signal, fetch).later).toBeTypeOf("function");
  });
});
