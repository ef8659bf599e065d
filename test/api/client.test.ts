import { expect, it } from "vitest";
import { FakeClock, freePort, key, rejection, sendJson, serve, temporaryFolder, testApi } from "./support.js";

it("asks below the base URL with the key in its header only, and hands back the exact text", async () => {
  const server = await serve((_request, response) =>
    sendJson(
      response,
      '{"success":true,"data":[{"id":"a","total_amount":12.50}, {"id":"b"}],"_timing":{"duration_ms":1}}',
    ),
  );
  const api = testApi(server.baseUrl);
  const answer = await api.get("/orders", { page: 1, status: "all", end_date: undefined });
  const request = server.requests[0];
  expect(request?.url).toBe("/api/brand/v1/orders?page=1&status=all");
  expect(request?.method).toBe("GET");
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${key}`,
    accept: "application/json",
    "user-agent": "brandapi/test",
  });
  expect(answer.json).toBe('[{"id":"a","total_amount":12.50},{"id":"b"}]');
  expect(answer.items).toEqual([
    { json: '{"id":"a","total_amount":12.50}', value: { id: "a", total_amount: 12.5 }, plain: false },
    { json: '{"id":"b"}', value: { id: "b" }, plain: true },
  ]);
  expect(answer.pagination).toBeNull();
  expect(api.stats).toMatchObject({ requests: 1, retries: 0 });
});

it("heeds what the answer says is left of the server's limit", async () => {
  const server = await serve((_request, response) =>
    sendJson(response, '{"success":true,"data":{}}', 200, {
      "ratelimit-remaining": "0",
      "ratelimit-reset": "25",
    }),
  );
  const clock = new FakeClock();
  const api = testApi(server.baseUrl, {
    settings: { rateLimit: 60, maxWaitMs: 60_000, statePath: temporaryFolder() },
    deps: { clock },
  });
  await api.get("/me");
  await api.get("/me");
  expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBe(25_000);
  expect(api.stats.waitedMs).toBe(25_000);
});

it("counts requests that got no answer against the budget too", async () => {
  const clock = new FakeClock();
  const api = testApi(`http://127.0.0.1:${await freePort()}/api/brand/v1`, {
    settings: { rateLimit: 1, statePath: temporaryFolder() },
    deps: { clock },
  });
  await rejection(api.get("/me"));
  await rejection(api.get("/me"));
  expect(clock.slept).toEqual([60_050]);
  expect(api.stats.requests).toBe(2);
});

it("reports every request, and what came of it", async () => {
  const server = await serve((_request, response, count) =>
    sendJson(response, '{"success":true,"data":{}}', count > 1 ? 200 : 503),
  );
  const seen: object[] = [];
  const events = {
    onRequest: (each: { path: string; status: number; bytes: number }) =>
      seen.push([each.path, each.status, each.bytes]),
  };
  await testApi(server.baseUrl, {
    settings: { maxWaitMs: 60_000 },
    deps: { clock: new FakeClock() },
    events,
  }).get("/me");
  expect(seen).toEqual([
    ["/me", 503, 0],
    ["/me", 200, 26],
  ]);
});
