import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { OutageTimer } from "../../src/api/retry.js";
import { FakeClock, rejection, sendJson, serve, temporaryFolder, testApi } from "./support.js";

const good = '{"success":true,"data":{}}';

it.each([
  ["a", 60],
  ["no", null],
])(
  "a Retry-After longer than --max-wait makes the run's later requests fail without being sent (with %s rate limit)",
  async (_, rateLimit) => {
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
  },
);

it.each(["9999999", "3000"])(
  "a Retry-After of %s seconds does not delay the next command",
  async (seconds) => {
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
  },
);

it("the reset time in a rate-limit header does not delay the next command", async () => {
  const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "50" };
  const server = await serve((_request, response) => sendJson(response, good, 200, headers));
  const clock = new FakeClock();
  const settings = { rateLimit: 60, maxWaitMs: 8_000, statePath: temporaryFolder() };
  await testApi(server.baseUrl, { settings, deps: { clock } }).get("/me");
  await testApi(server.baseUrl, { settings, deps: { clock } }).get("/me");
  expect(clock.slept).toEqual([]);
});

it("if several endpoints fail and the response to /me is invalid, the error is about the endpoint and counts as an outage", async () => {
  const server = await serve(({ url }, response) =>
    url?.endsWith("/me") ? sendJson(response, "{}", 200) : sendJson(response, "{}", 503),
  );
  const api = testApi(server.baseUrl, { settings: { maxWaitMs: 0 } });
  expect(await rejection(api.get("/orders"))).toMatchObject({ exitCode: 6, failureScope: "resource" });
  expect(await rejection(api.get("/roster"))).toMatchObject({
    exitCode: 6,
    failureScope: "outage",
    message: expect.stringContaining("503"),
  });
});

const drip = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 5);
  response.on("close", () => clearInterval(timer));
};
const never = () => new Promise<never>(() => {});

it.each([
  ["the server does not respond", () => {}, {}],
  ["the body never ends", drip, {}],
  ["`fetch` ignores the abort signal", () => {}, { fetch: never }],
  [
    "reading the body ignores the abort signal",
    () => {},
    { fetch: async () => new Response(new ReadableStream({ pull: never })) },
  ],
])(
  "a request times out after --max-wait or five seconds, whichever is longer, if %s",
  async (_, respond, deps) => {
    const server = await serve((_request, response) => respond(response));
    const timeouts: number[] = [];
    const setTimer = (ms: number, call: () => void) => {
      timeouts.push(ms);
      const timer = setTimeout(call, 20);
      return () => clearTimeout(timer);
    };
    const error = await rejection(testApi(server.baseUrl, { deps: { setTimer, ...deps } }).get("/me"));
    expect(error.exitCode).toBe(6);
    expect(error.message).toMatch(/no complete response from \S+ within 5s/);
    expect(timeouts).toEqual([5_000]);
  },
);

const maxWaitMs = 10_000;
function start() {
  const clock = new FakeClock();
  return { clock, outage: new OutageTimer(clock, maxWaitMs) };
}

it("the timer for --max-wait starts with the first failed request, and is reset by any response", () => {
  const { clock, outage } = start();
  const sentAt = clock.mono;
  clock.pass(3_000);
  expect(outage.remainingMs(sentAt)).toBe(maxWaitMs);
  outage.recordFailure("/orders", sentAt);
  clock.pass(3_000);
  expect(outage.remainingMs(sentAt)).toBe(4_000);
  outage.recordResponse();
  expect(outage.remainingMs(sentAt)).toBe(maxWaitMs);
  clock.pass(1_000);
  outage.recordFailure("/orders", sentAt);
  expect(outage.remainingMs(sentAt)).toBe(9_000);
});

it("if an outage has lasted longer than --max-wait, each further request is retried for a tenth of --max-wait", () => {
  const { clock, outage } = start();
  outage.recordFailure("/orders", clock.mono);
  clock.pass(maxWaitMs);
  expect(outage.remainingMs(null)).toBe(1_000);
  const startedAt = clock.mono;
  expect(outage.remainingMs(startedAt)).toBe(1_000);
  clock.pass(1_000);
  expect(outage.remainingMs(startedAt)).toBe(0);
});

it.each([
  ["two failed requests for /orders", "one endpoint", ["/orders", "/orders"]],
  ["failed requests for /surveys and a survey's results", "one endpoint", ["/surveys", "/surveys/7/results"]],
  ["failed requests for two campaigns", "one endpoint", ["/opportunities/7", "/opportunities/8"]],
  ["failed requests for /orders and /roster", "several endpoints", ["/orders", "/roster"]],
  [
    "failed requests for /analytics/clicks and /analytics/hosts",
    "several endpoints",
    ["/analytics/clicks", "/analytics/hosts"],
  ],
  [
    "failed requests for /orders and /roster, separated by a successful request,",
    "one endpoint",
    ["/orders", "a response", "/roster"],
  ],
])("%s are treated as an outage of %s", (_, affected, paths) => {
  const { clock, outage } = start();
  for (const path of paths) {
    if (path === "a response") outage.recordResponse();
    else outage.recordFailure(path, clock.mono);
  }
  expect(outage.hasSeveralEndpoints).toBe(affected === "several endpoints");
});
