import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { OutageTimer } from "../../src/api/retry.js";
import { FakeClock, rejection, sendJson, serve, temporaryFolder, testApi } from "./support.js";

const good = '{"success":true,"data":{}}';

describe("what the API asks for is bounded by the patience", () => {
  it.each([60, null])("also if an earlier request was told, with a limit of %s", async (rateLimit) => {
    const server = await serve((_request, response) =>
      sendJson(response, good, 429, { "retry-after": "120" }),
    );
    const clock = new FakeClock();
    const settings = { rateLimit, maxWaitMs: 8_000, statePath: temporaryFolder() };
    const api = testApi(server.baseUrl, { settings, deps: { clock } });
    await rejection(api.get("/me"));
    const error = await rejection(api.get("/orders"));
    expect(error).toMatchObject({ exitCode: 6, status: 429, hint: expect.stringContaining("--max-wait") });
    expect(clock.slept).toEqual([]);
    expect(server.requests.length).toBe(1);
  });

  it.each(["9999999", "3000"])("never delays a later command: %s seconds", async (seconds) => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count === 1 ? 429 : 200, { "retry-after": seconds }),
    );
    const clock = new FakeClock();
    const settings = { rateLimit: 60, maxWaitMs: 8_000, statePath: temporaryFolder() };
    const first = testApi(server.baseUrl, { settings, deps: { clock } });
    expect(await rejection(first.get("/me"))).toMatchObject({ exitCode: 6 });
    await testApi(server.baseUrl, { settings, deps: { clock } }).get("/me");
    expect(clock.slept).toEqual([]);
    expect(server.requests.length).toBe(2);
  });

  it("is forgotten when the run ends, also if it comes in a rate-limit header", async () => {
    const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "50" };
    const server = await serve((_request, response) => sendJson(response, good, 200, headers));
    const clock = new FakeClock();
    const settings = { rateLimit: 60, maxWaitMs: 8_000, statePath: temporaryFolder() };
    await testApi(server.baseUrl, { settings, deps: { clock } }).get("/me");
    await testApi(server.baseUrl, { settings, deps: { clock } }).get("/me");
    expect(clock.slept).toEqual([]);
  });
});

describe("one request has a deadline: the patience, and at least five seconds", () => {
  const drip = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
  };
  const never = () => new Promise<never>(() => {});

  it.each([
    ["a server that is silent", () => {}, {}],
    ["a body that drips", drip, {}],
    ["an answer that does not hear that it is called off", () => {}, { fetch: never }],
    [
      "a body that does not hear that it is called off",
      () => {},
      { fetch: async () => new Response(new ReadableStream({ pull: never })) },
    ],
  ])("%s is cut off", async (_, answer, deps) => {
    const server = await serve((_request, response) => answer(response));
    const deadlines: number[] = [];
    const setTimer = (ms: number, call: () => void) => {
      deadlines.push(ms);
      const timer = setTimeout(call, 20);
      return () => clearTimeout(timer);
    };
    const error = await rejection(testApi(server.baseUrl, { deps: { setTimer, ...deps } }).get("/me"));
    expect(error.exitCode).toBe(6);
    expect(error.message).toContain("no whole answer came within 5s");
    expect(deadlines).toEqual([5_000]);
  });
});

describe("the silence of the API", () => {
  const maxWaitMs = 10_000;
  function start() {
    const clock = new FakeClock();
    return { clock, silence: new OutageTimer(clock, maxWaitMs) };
  }

  it("uses the patience up from when the first request was sent that failed; an answer gives all of it back", () => {
    const { clock, silence } = start();
    const sentAt = clock.mono;
    clock.pass(3_000);
    expect(silence.leftMs(sentAt)).toBe(maxWaitMs);
    silence.failed("/orders", sentAt);
    clock.pass(3_000);
    expect(silence.leftMs(sentAt)).toBe(4_000);
    silence.answered();
    expect(silence.leftMs(sentAt)).toBe(maxWaitMs);
    clock.pass(1_000);
    silence.failed("/orders", sentAt);
    expect(silence.leftMs(sentAt)).toBe(9_000);
  });

  it("leaves a tenth to a request that begins when the patience is used up", () => {
    const { clock, silence } = start();
    silence.failed("/orders", clock.mono);
    clock.pass(maxWaitMs);
    const begunAt = clock.mono;
    expect(silence.leftMs(begunAt)).toBe(1_000);
    clock.pass(1_000);
    expect(silence.leftMs(begunAt)).toBe(0);
  });

  it.each([
    [["/orders", "/orders"], false],
    [["/surveys", "/surveys/7/results"], false],
    [["/orders", "/roster"], true],
    [["/orders", "an answer", "/roster"], false],
  ])("is everywhere after %j: %s", (paths, expected) => {
    const { clock, silence } = start();
    for (const path of paths) {
      if (path === "an answer") silence.answered();
      else silence.failed(path, clock.mono);
    }
    expect(silence.isEverywhere).toBe(expected);
  });
});
