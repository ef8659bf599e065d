import { expect, test } from "vitest";
import { resources } from "../../src/resources/registry.js";
import { scopes } from "../../src/sandbox/keys.js";
import { makeBrand } from "../support/brand.js";
import { day, noon } from "../support/records.js";

test.each(scopes)(
  "a sync with an API key limited to the %s scope reads that scope's resources and lists the others as skipped",
  async (scope) => {
    const brand = makeBrand({ history: 20, listLimit: 5 });
    brand.setKey({ scopes: [scope] });
    const { code, err, requests } = await brand.run("sync");
    expect(code).toBe(0);
    for (const resource of resources)
      if (resource.scope === scope) expect(brand.lastRun(resource.name)).toMatchObject({ outcome: "done" });
      else expect(err).toContain(`${resource.name}: skipped: the key lacks the scope ${resource.scope}`);
    expect(requests.filter(({ status }) => status === 403)).toEqual([]);
  },
);

const bodies = {
  "a JSON object": '{"success":false,"error":{"code":"missing_scope","message":"This key lacks it."}}',
  "a JSON string": '{"error":"forbidden"}',
  "an RFC 9457 problem": '{"type":"about:blank","title":"Forbidden","status":403}',
  "plain text": "403 Forbidden\n",
  "a web page": "<h1>403</h1>",
  empty: "",
};

test.each(Object.entries(bodies))(
  "a sync of a resource that the API key cannot access exits with code 5 if the error body is %s",
  async (_, body) => {
    const brand = makeBrand({ history: 20, listLimit: 5 });
    brand.before = ({ path }) => (path === "/roster" ? { status: 403, body } : undefined);
    brand.setKey({ scopes: ["content:read"] });
    const { code, err } = await brand.run("sync roster");
    expect(code).toBe(5);
    expect(err).toContain("The key lacks the scope roster:read, which /roster requires (403)");
  },
);

const ofAnalytics = ["orders", "analytics-clicks", "analytics-hosts"];

test("a sync skips the Analytics resources if the plan lacks them, prints the reason, and reads all other resources", async () => {
  const brand = makeBrand({ history: 20, listLimit: 5 });
  brand.setKey({ hasAnalyticsPlan: false });
  const { code, err } = await brand.run("sync");
  expect(code).toBe(0);
  for (const { name } of resources)
    expect([name, brand.lastRun(name).outcome]).toEqual([
      name,
      ofAnalytics.includes(name) ? "skipped" : "done",
    ]);
  expect(err).toContain("The brand's plan does not include /orders");
});

test.each(ofAnalytics)("`sync %s` fails with exit code 5 if the plan lacks Analytics", async (name) => {
  const brand = makeBrand();
  brand.setKey({ hasAnalyticsPlan: false });
  const { code, err } = await brand.run(`sync ${name}`);
  expect(code).toBe(5);
  expect(err).toContain("(402)");
  expect(err).toContain("hint: check the brand's plan");
});

test.each([
  [5, "is not allowed from this IP address", { allowlist: ["203.0.113.7"] }, "allowlist"],
  [4, "has expired", { expiresAt: noon - day }, "(401)"],
  [4, "is revoked", { revoked: true }, "(401)"],
] as const)(
  "a sync sends only one request and exits with code %i if the API key %s",
  async (expected, _, change, words) => {
    const brand = makeBrand({ history: 5, listLimit: 5 });
    brand.setKey(change);
    const { code, err, requests } = await brand.run("sync");
    expect([code, requests.length]).toEqual([expected, 1]);
    expect(err).toContain(words);
    expect(err).not.toContain(brand.key);
  },
);
