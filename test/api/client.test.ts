import { expect, it } from "vitest";
import { key, sendJson, serve, testApi } from "./support.js";

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
    { json: '{"id":"a","total_amount":12.50}', value: { id: "a", total_amount: 12.5 } },
    { json: '{"id":"b"}', value: { id: "b" } },
  ]);
  expect(answer.pagination).toBeNull();
  expect(api.stats).toMatchObject({ requests: 1, retries: 0 });
});
