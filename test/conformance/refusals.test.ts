import { expect, test } from "vitest";
import { resources } from "../../src/resources/index.js";
import { brandForTest } from "../scenarios/brand.js";
import { expectFaithful } from "./compare.js";

const scopes = [...new Set(resources.map(({ scope }) => scope))];
const errorBodies = ["nested", "flat", "problem", "text", "html", "empty"] as const;

test.each(scopes)(
  "a key with %s only reads what it may, and the rest is listed as skipped",
  async (scope) => {
    const brand = await brandForTest({ orders: 20 });
    brand.key = brand.sandbox.keys[`only-${scope.slice(0, scope.indexOf(":"))}`]?.secret ?? "";
    const { code, err, requests } = await brand.run("sync");
    expect(code).toBe(0);
    for (const resource of resources) {
      if (resource.scope === scope) await expectFaithful(brand, resource);
      else expect(err).toContain(`${resource.name}: skipped: the key lacks the scope ${resource.scope}`);
    }
    // Nothing is asked for that the key is known not to have.
    expect(requests.filter(({ status }) => status === 403)).toEqual([]);
  },
);

test.each(errorBodies)(
  "a resource named without its scope is exit 5 and names the scope, whatever the error body (%s)",
  async (errorBody) => {
    const brand = await brandForTest({ orders: 20, errorBody });
    brand.key = brand.sandbox.keys["only-content"]?.secret ?? "";
    const { code, err } = await brand.run("sync roster");
    expect(code).toBe(5);
    expect(err).toContain("The key lacks the scope roster:read, which /roster needs (403)");
  },
);

test("a plan without Analytics: its resources are skipped with the reason, the others are read", async () => {
  const brand = await brandForTest({ orders: 20 });
  brand.key = brand.sandbox.keys["no-plan"].secret;
  const { code, err } = await brand.run("sync");
  expect(code).toBe(0);
  for (const resource of resources) {
    if (resource.plan === null) await expectFaithful(brand, resource);
    else expect(brand.lastRun(resource.name)).toMatchObject({ outcome: "skipped" });
  }
  expect(err).toContain("The brand's plan does not include /orders");
});

test.each(resources.filter(({ plan }) => plan !== null))(
  "$name, named under a plan without Analytics, is exit 5",
  async ({ name }) => {
    const brand = await brandForTest({ orders: 20 });
    brand.key = brand.sandbox.keys["no-plan"].secret;
    const { code, err } = await brand.run(`sync ${name}`);
    expect(code).toBe(5);
    expect(err).toContain("(402)");
    expect(err).toContain("hint: check the brand's plan");
  },
);

test("from an address that the key does not allow nothing is read: exit 5, and the hint is the allowlist", async () => {
  const brand = await brandForTest({ orders: 20 });
  brand.key = brand.sandbox.keys["ip-blocked"].secret;
  const { code, err, requests } = await brand.run("sync");
  expect(code).toBe(5);
  expect(err).toContain("its address is not on the key's IP allowlist");
  expect(requests.length).toBeLessThan(4);
});

test.each(["expired", "revoked"] as const)(
  "a key that is %s is exit 4 before anything is written",
  async (name) => {
    const brand = await brandForTest({ orders: 20 });
    brand.key = brand.sandbox.keys[name].secret;
    const { code, err, requests } = await brand.run("sync");
    expect(code).toBe(4);
    expect(err).toContain("The API rejected the key (401)");
    expect(err).toContain("`brandapi login`");
    expect(requests).toHaveLength(1);
  },
);
