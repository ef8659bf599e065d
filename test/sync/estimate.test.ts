import { expect, test } from "vitest";
import type { ApiClient } from "../../src/api/client.js";
import { Forbidden } from "../../src/errors.js";
import { content } from "../../src/resources/content.js";
import { orders } from "../../src/resources/orders.js";
import { roster } from "../../src/resources/roster.js";
import { estimateSync } from "../../src/sync/estimate.js";
import { day, noon } from "../support/records.js";
import { listedAt, makeDatedRun } from "./dated-run.js";

const listed = Array.from({ length: 320 }, (_, n) => listedAt(`o${n}`, noon - (n + 1) * day));

test("a sync's plan contains the total number of requests, and lists dated resources last", async () => {
  const { run } = await makeDatedRun(listed);
  const plan = await estimateSync(run, { allowed: [orders, roster], withoutScope: [], areNamed: true }, null);
  expect(plan.resources.map(({ resource, requests }) => [resource, requests])).toEqual([
    ["roster", 4],
    ["orders", 9],
  ]);
  expect(plan).toMatchObject({ requests: 13, skipped: [], minutes: null });
});

// The first minute's requests are sent in a burst.
test.each([
  ["0 minutes", "a rate limit of 60", 60, 0],
  ["0 minutes", "a rate limit of 9", 9, 0],
  ["1 minute", "a rate limit of 8", 8, 1],
  ["1 minute", "a rate limit of 5", 5, 1],
  ["2 minutes", "a rate limit of 4", 4, 2],
  ["8 minutes", "a rate limit of 1", 1, 8],
  ["unknown", "no rate limit", null, null],
])("the estimated time for nine requests is %s with %s", async (_time, _limit, rateLimit, minutes) => {
  const { run } = await makeDatedRun(listed);
  const selection = { allowed: [orders], withoutScope: [], areNamed: true };
  expect(await estimateSync(run, selection, rateLimit)).toMatchObject({ requests: 9, minutes });
});

test("a sync's plan skips a resource to which access is denied, unless the user named the resource", async () => {
  const { run } = await makeDatedRun(listed);
  const estimate = async (areNamed: boolean, error: Error) => {
    const get = async (path: string, query = {}) => {
      if (path === roster.path) throw error;
      return await run.api.get(path, query);
    };
    const api = { get, stats: run.api.stats } as ApiClient;
    const withoutScope = [
      { resource: content, why: "the key lacks a scope", hint: "create a key", wasReadBefore: false },
    ];
    return await estimateSync({ ...run, api }, { allowed: [roster, orders], withoutScope, areNamed }, null);
  };
  const denied = new Forbidden("The plan does not include /roster.");
  expect(await estimate(false, denied)).toMatchObject({
    resources: [{ resource: "orders" }],
    skipped: [
      { resource: "content", why: "the key lacks a scope" },
      { resource: "roster", why: denied.message },
    ],
    requests: 9,
  });
  await expect(estimate(true, denied)).rejects.toBe(denied);
  const broken = new TypeError("broken");
  await expect(estimate(false, broken)).rejects.toBe(broken);
});
