import { expect, it } from "vitest";
import { FakeClock, freePort, key, rejection, sendJson, serve, temporaryFolder, testApi } from "./support.js";

it("the client sends the API key only in the Authorization header, and returns the response together with the local and server times", async () => {
  const server = await serve((_request, response) =>
    sendJson(response, '{"success":true,"data":[{"id":"a"}]}', 200, {
      date: "Tue, 20 Oct 2026 12:00:07 GMT",
    }),
  );
  const api = testApi(server.baseUrl, { deps: { clock: new FakeClock() } });
  const response = await api.get("/orders", { page: 1, status: "all", end_date: undefined });
  const request = server.requests[0];
  expect([request?.method, request?.url]).toEqual(["GET", "/api/brand/v1/orders?page=1&status=all"]);
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${key}`,
    accept: "application/json",
    "user-agent": "brandapi/test",
  });
  expect(response).toEqual({
    data: [{ id: "a" }],
    items: [{ id: "a" }],
    pagination: null,
    requestedAt: Date.parse("2026-10-20T12:00:00Z"),
    serverTime: Date.parse("2026-10-20T12:00:07Z"),
  });
  expect(api.stats).toEqual({ requests: 1, retries: 0 });
});

it.each([
  ["more items than the requested `per_page`", { per_page: 1 }, "the 1 item"],
  ["more than 200,000 items to a request without `per_page`", {}, "the 200,000 items"],
])("the client rejects a response with %s", async (_, query, maximum) => {
  const items = JSON.stringify(Array(200_001).fill(0));
  const server = await serve((_request, response) => sendJson(response, `{"success":true,"data":${items}}`));
  const error = await rejection(testApi(server.baseUrl).get("/orders", query));
  expect(error).toMatchObject({ name: "UnsafeResponse", exitCode: 7 });
  expect(error.message).toContain(
    `response to /orders was rejected: it contains more than ${maximum} requested`,
  );
});

it("if the rate-limit headers of a response report no remaining requests, the next request waits until the limit resets", async () => {
  const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "25" };
  const server = await serve((_request, response) =>
    sendJson(response, '{"success":true,"data":{}}', 200, headers),
  );
  const clock = new FakeClock();
  const settings = { rateLimit: 60, maxWaitMs: 60_000, statePath: temporaryFolder() };
  const api = testApi(server.baseUrl, { settings, deps: { clock } });
  await api.get("/me");
  await api.get("/me");
  expect(clock.waitedMs).toBe(25_000);
});

it("requests without a response count toward the rate limit", async () => {
  const clock = new FakeClock();
  const settings = { rateLimit: 1, statePath: temporaryFolder() };
  const api = testApi(`http://127.0.0.1:${await freePort()}/api/brand/v1`, { settings, deps: { clock } });
  await rejection(api.get("/me"));
  await rejection(api.get("/me"));
  expect(clock.waitedMs).toBe(60_050);
  expect(api.stats.requests).toBe(2);
});
