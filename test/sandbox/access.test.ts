import { describe, expect, test } from "vitest";
import { ask, day, endpointsOf, noon, sandboxOf } from "./support.js";

describe("who may read what", () => {
  test("every endpoint answers the key of all scopes with the envelope, and HEAD without a body", async () => {
    const sandbox = await sandboxOf();
    for (const { path, paginated } of await endpointsOf(sandbox)) {
      const got = await ask(sandbox, path);
      expect([path, got.status]).toEqual([path, 200]);
      expect(got.headers.get("content-type")).toBe("application/json; charset=utf-8");
      const keys = ["success", "data", ...(paginated ? ["pagination"] : []), "_timing"];
      expect([path, Object.keys(got.json)]).toEqual([path, keys]);
      expect(got.json.success).toBe(true);
      expect(Number.isInteger(got.json._timing.duration_ms)).toBe(true);
      const head = await ask(sandbox, path, { method: "HEAD" });
      expect([path, head.status, head.text]).toEqual([path, 200, ""]);
      expect(Number(head.headers.get("content-length"))).toBeGreaterThan(20);
      expect(got.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("a key with one scope reads the endpoints of that scope and /me, and gets 403 from the others", async () => {
    const sandbox = await sandboxOf();
    const names = [
      "analytics",
      "opportunities",
      "content",
      "roster",
      "recommendations",
      "gifts",
      "codes",
      "surveys",
    ];
    const endpoints = await endpointsOf(sandbox);
    for (const name of names) {
      const key = sandbox.keys[`only-${name}`]?.secret ?? "";
      for (const { path, scope } of endpoints) {
        const { status } = await ask(sandbox, path, { key });
        expect([name, path, status]).toEqual([name, path, scope === name || scope === "" ? 200 : 403]);
      }
    }
    const none = sandbox.keys["only-me"]?.secret ?? "";
    expect((await ask(sandbox, "/me", { key: none })).json.data.key.scopes).toEqual([]);
  });

  test("a plan without Analytics is 402 on exactly the three endpoints of that feature", async () => {
    const sandbox = await sandboxOf();
    for (const { path, plan } of await endpointsOf(sandbox)) {
      const { status } = await ask(sandbox, path, { key: sandbox.keys["no-plan"].secret });
      expect([path, status]).toEqual([path, plan ? 402 : 200]);
    }
  });

  test("a missing, malformed, unknown, expired or revoked key is 401 with WWW-Authenticate", async () => {
    const sandbox = await sandboxOf();
    const cases: [string, Record<string, string>][] = [
      ["missing", {}],
      ["empty", { authorization: "Bearer " }],
      ["no scheme", { authorization: sandbox.key }],
      ["basic", { authorization: `Basic ${sandbox.key}` }],
      ["two words", { authorization: `Bearer ${sandbox.key} x` }],
      ["unknown", { authorization: `Bearer ${sandbox.key}x` }],
      ["expired", { authorization: `Bearer ${sandbox.keys.expired.secret}` }],
      ["revoked", { authorization: `Bearer ${sandbox.keys.revoked.secret}` }],
    ];
    for (const [name, headers] of cases) {
      for (const path of ["/me", "/orders"]) {
        const { status, headers: got } = await ask(sandbox, path, { key: null, headers });
        expect([name, path, status, got.get("www-authenticate")]).toEqual([name, path, 401, "Bearer"]);
      }
    }
  });

  test("a key from outside its allowlist is 403, even on /me", async () => {
    const sandbox = await sandboxOf();
    expect((await ask(sandbox, "/me", { key: sandbox.keys["ip-blocked"].secret })).status).toBe(403);
  });

  test("a key in the URL or in x-api-key is 400, with and without a good Authorization header", async () => {
    const sandbox = await sandboxOf();
    for (const key of [null, sandbox.key]) {
      for (const path of [
        "/me?api_key=abc",
        "/me?key=1",
        `/me?x=${sandbox.key}`,
        `/orders?access_token=${sandbox.key}`,
      ]) {
        expect([path, (await ask(sandbox, path, { key })).status]).toEqual([path, 400]);
      }
      expect((await ask(sandbox, "/me", { key, headers: { "x-api-key": sandbox.key } })).status).toBe(400);
    }
  });

  test("unknown paths are 404, the retired feeds 410 without a key, other methods 405 with Allow", async () => {
    const sandbox = await sandboxOf();
    const origin = new URL(sandbox.baseUrl).origin;
    for (const path of [
      "",
      "/",
      "/Orders",
      "/orders/",
      "/orders/1",
      "/opportunities/",
      "/content/upload/x",
      "/me/x",
    ]) {
      expect([path, (await ask(sandbox, path)).status]).toEqual([path, 404]);
      expect([path, (await ask(sandbox, path, { key: null })).status]).toEqual([path, 404]);
    }
    for (const path of ["/", "/api/brand", "/api/brand/v2/orders", "/orders", "//", "/api/brand/v1x/me"]) {
      expect([path, (await fetch(origin + path)).status]).toEqual([path, 404]);
    }
    for (const path of [
      "/api/public/brands/17/recommendations",
      "/api/brands/example.com/recommendations?page=x",
    ]) {
      const gone = await fetch(origin + path);
      expect([path, gone.status, gone.headers.get("access-control-allow-origin")]).toEqual([path, 410, null]);
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { status, headers } = await ask(sandbox, "/orders", { method });
      expect([method, status, headers.get("allow")]).toEqual([method, 405, "GET, HEAD"]);
    }
  });

  test("checks come in one order: misplaced key, key, address, scope, plan, parameters, id", async () => {
    const sandbox = await sandboxOf();
    const { keys } = sandbox;
    const xApiKey = { "x-api-key": "a" };
    const cases: [string, number, Parameters<typeof ask>[2]][] = [
      ["/orders?bad=1", 400, { key: null, headers: xApiKey }],
      ["/orders?bad=1", 401, { key: null }],
      ["/orders?bad=1", 403, { key: keys["ip-blocked"].secret }],
      ["/orders?bad=1", 403, { key: keys["only-roster"]?.secret ?? "" }],
      ["/orders?bad=1", 402, { key: keys["no-plan"].secret }],
      ["/orders?bad=1", 400, {}],
      ["/opportunities/nope?bad=1", 400, {}],
      ["/opportunities/nope", 404, {}],
      ["/opportunities/nope", 403, { key: keys["only-roster"]?.secret ?? "" }],
    ];
    for (const [path, status, options] of cases) {
      expect([path, status, (await ask(sandbox, path, options)).status]).toEqual([path, status, status]);
    }
  });

  test("opportunities and downloads of unknown ids, other sources and other brands are 404", async () => {
    const sandbox = await sandboxOf();
    const [file] = (await ask(sandbox, "/content?source=upload")).json.data;
    const id = "00000000-0000-4000-8000-000000000000";
    const paths = [
      `/opportunities/${id}`,
      `/content/upload/${id}/download`,
      `/content/upload/nope/download`,
      `/content/deliverable/${file.id}/download`,
      `/content/message/${file.id}/download`,
      `/surveys/${id}/results`,
    ];
    for (const path of paths) expect([path, (await ask(sandbox, path)).status]).toEqual([path, 404]);
    const other = { key: sandbox.keys["other-brand"].secret };
    expect((await ask(sandbox, `/content/upload/${file.id}/download`, other)).status).toBe(404);
    expect((await ask(sandbox, `/content/upload/${file.id.toUpperCase()}/download`)).status).toBe(200);
  });

  test("/me names the brand and the key, which expires in 3 days where its name says so", async () => {
    const sandbox = await sandboxOf();
    const { data } = (await ask(sandbox, "/me", { key: sandbox.keys.expiring.secret })).json;
    expect(Object.keys(data)).toEqual(["brand", "key"]);
    expect(Object.keys(data.brand)).toEqual(["id", "name"]);
    expect(Object.keys(data.key)).toEqual(["id", "scopes", "expires_at"]);
    expect(Math.abs(Date.parse(data.key.expires_at) - noon - 3 * day)).toBeLessThan(1000);
    expect(JSON.stringify(data)).not.toContain(sandbox.keys.expiring.secret);
    const other = (await ask(sandbox, "/me", { key: sandbox.keys["other-brand"].secret })).json.data;
    expect(other.brand.id).not.toBe(data.brand.id);
    sandbox.advance(3 * day + 1000);
    expect((await ask(sandbox, "/me", { key: sandbox.keys.expiring.secret })).status).toBe(401);
    expect((await ask(sandbox, "/me")).status).toBe(200);
  });

  test("the other brand has its own orders, hosts, campaigns and files", async () => {
    const sandbox = await sandboxOf();
    for (const path of ["/orders", "/roster", "/opportunities", "/content", "/gifts"]) {
      const ours = (await ask(sandbox, path)).text.match(/"(?:id|relationship_id)":"[^"]+"/g);
      const theirs = (await ask(sandbox, path, { key: sandbox.keys["other-brand"].secret })).text;
      for (const id of ours ?? []) if (!id.includes("prod_")) expect(theirs).not.toContain(id);
    }
  });

  test.each(["nested", "flat", "problem", "text", "html", "empty"] as const)(
    "errors can have a %s body",
    async (errorBody) => {
      const sandbox = await sandboxOf({ errorBody });
      const { status, headers, text, json } = await ask(sandbox, "/orders?page=0");
      expect(status).toBe(400);
      const type = headers.get("content-type");
      if (errorBody === "nested") expect(json.error.message).toContain("page");
      if (errorBody === "flat") expect(json.message).toContain("page");
      if (errorBody === "problem")
        expect([type, json.status]).toEqual(["application/problem+json; charset=utf-8", 400]);
      if (errorBody === "text")
        expect([type, text.includes("page")]).toEqual(["text/plain; charset=utf-8", true]);
      if (errorBody === "html") expect(text).toMatch(/^<!doctype html>/);
      if (errorBody === "empty") expect([type, text]).toEqual([null, ""]);
    },
  );
});
