import { expect, test } from "vitest";
import { createSandboxApi } from "../../src/sandbox/api.js";
import { createBrand } from "../../src/sandbox/brand.js";
import { scopes } from "../../src/sandbox/keys.js";
import { day, noon } from "../support/records.js";
import { ask, history, paths } from "./support.js";

const secret = history.keys[0]?.secret ?? "";

test("every sandbox endpoint returns `success` and `data` for a key with all scopes", () => {
  for (const [path] of paths) {
    const { status, headers, text } = ask(path);
    expect([path, status]).toEqual([path, 200]);
    const { success, data, _timing, ...rest } = JSON.parse(text);
    expect([success, typeof data, Number.isInteger(_timing.duration_ms)]).toEqual([true, "object", true]);
    expect(["", "pagination"]).toContain(Object.keys(rest).join());
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers.date).toBe("Sat, 21 Nov 2026 12:00:00 GMT");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("the sandbox returns the same status for a HEAD request as for a GET request", () => {
  const request = { method: "HEAD", headers: { authorization: `Bearer ${secret}` } };
  expect(ask("/orders", { request }).status).toBe(200);
  expect(ask("/orders?foo=1", { request }).status).toBe(400);
});

test("a key with one scope can read /me and that scope's endpoints, but gets 403 from all other endpoints", () => {
  const names = history.keys.map(({ name }) => name).filter((name) => name.startsWith("only-"));
  expect(names).toHaveLength(scopes.length + 1);
  for (const key of names)
    for (const [path, scope] of paths)
      expect([key, path, ask(path, { key }).status]).toEqual([
        key,
        path,
        scope === null || key === `only-${scope.split(":")[0]}` ? 200 : 403,
      ]);
});

test("only the Analytics endpoints respond with 402 if the plan does not include Analytics", () => {
  const refused = paths
    .filter(([path]) => ask(path, { key: "no-plan" }).status === 402)
    .map(([path]) => path);
  expect(refused).toEqual(["/analytics/clicks", "/analytics/hosts", "/orders"]);
});

test("a request with a missing, malformed, unknown, expired or revoked key gets 401 with WWW-Authenticate", () => {
  const headers = ["", secret, `Basic ${secret}`, `Bearer ${secret} x`, "Bearer", "Bearer brk_sandbox_other"];
  const replies = [
    ask("/me", { key: null }),
    ask("/me", { key: "expired" }),
    ask("/me", { key: "revoked" }),
    ...headers.map((authorization) => ask("/me", { request: { headers: { authorization } } })),
  ];
  for (const { status, headers } of replies)
    expect([status, headers["www-authenticate"]]).toEqual([401, "Bearer"]);
});

test("the sandbox accepts extra spaces and a lower-case `bearer` in the Authorization header", () => {
  const headers = { authorization: `bearer  ${secret} ` };
  expect(ask("/me", { request: { headers } }).status).toBe(200);
});

test("the sandbox rejects an API key from the exact millisecond at which the key expires", () => {
  const expiresAt = history.keys[0]?.expiresAt ?? 0;
  expect(ask("/me", { now: expiresAt - 1 }).status).toBe(200);
  expect(ask("/me", { now: expiresAt }).status).toBe(401);
  expect(ask("/me", { key: "expiring", now: noon + 3 * day - 1 }).status).toBe(200);
  expect(ask("/me", { key: "expiring", now: noon + 3 * day }).status).toBe(401);
  expect(ask("/me").one).toEqual({
    brand: { id: history.id, name: "Fjell & Fern" },
    key: {
      id: history.keys[0]?.id,
      scopes: history.keys[0]?.scopes,
      expires_at: new Date(expiresAt).toISOString(),
    },
  });
});

test("a key used from an address outside its IP allowlist gets 403, even on /me", () => {
  expect(ask("/me", { key: "ip-blocked" }).status).toBe(403);
  const request = { headers: { authorization: `Bearer ${history.keys[4]?.secret}` }, address: "203.0.113.7" };
  expect(ask("/me", { request }).status).toBe(200);
});

test("a key in the URL or in x-api-key gets 400 even if the Authorization header is valid", () => {
  const headers = { authorization: `Bearer ${secret}`, "x-api-key": secret };
  expect(ask("/me", { request: { headers } }).status).toBe(400);
  expect(ask("/me", { request: { headers: { "x-api-key": "any" } } }).status).toBe(400);
  const names = ["api_key", "apikey", "api-key", "key", "access_token", "Token", "AUTHORIZATION"];
  for (const query of [...names.map((name) => `${name}=1`), `page=${secret}`])
    for (const key of ["all", null])
      expect([query, ask(`/orders?${query}`, { key }).status]).toEqual([query, 400]);
});

test("requests for unknown paths get 404, requests for retired feeds get 410 even without a key, and unsupported methods get 405", () => {
  for (const path of ["/", "/order", "/orders/", "/orders/1", "/Orders", "/api/orders", "/api/brand/v2/me"])
    expect([path, ask(path).status]).toEqual([path, 404]);
  for (const feed of ["/api/public/brands/7/recommendations", "/api/brands/shop.example/recommendations"])
    expect(ask(feed, { key: null }).status).toBe(410);
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const headers = { authorization: `Bearer ${secret}` };
    expect(ask("/orders", { request: { method, headers } })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
  }
});

test("the sandbox checks requests in this order: path, method, misplaced key, key, address, scope, plan, parameters, ID", () => {
  const post = { request: { method: "POST", headers: {} } };
  const statuses = [
    ask("/api/brands/shop.example/recommendations?key=1", post).status,
    ask("/none?key=1", post).status,
    ask("/orders?key=1", post).status,
    ask("/orders?key=1&foo=1", { key: null }).status,
    ask("/orders?foo=1", { key: "revoked" }).status,
    ask("/orders?foo=1", { key: "ip-blocked" }).status,
    ask("/orders?foo=1", { key: "only-roster" }).status,
    ask("/orders?foo=1", { key: "no-plan" }).status,
    ask("/opportunities/none?foo=1").status,
    ask("/opportunities/none").status,
  ];
  expect(statuses).toEqual([410, 404, 405, 400, 401, 403, 403, 402, 400, 404]);
});

test("requests for unknown IDs or another brand's IDs get 404, and IDs in paths are case-insensitive", () => {
  const other = createBrand({ seed: 2, orders: 3, now: noon });
  const [file, campaign] = [history.content[0], other.opportunities[0]];
  const wrong = file?.source === "upload" ? "deliverable" : "upload";
  for (const path of [
    `/opportunities/${campaign?.id}`,
    other.content[0]?.download_path ?? "",
    `/content/${wrong}/${file?.id}/download`,
    `/content/message/${file?.id}/download`,
    "/surveys/none/results",
  ])
    expect([path, ask(path).status]).toEqual([path, 404]);
  const [upperCampaign, upperFile] = [history.opportunities[0]?.id.toUpperCase(), file?.id.toUpperCase()];
  expect(ask(`/opportunities/${upperCampaign}`).one).toEqual(history.opportunities[0]);
  expect(ask(`/content/${file?.source}/${upperFile}/download`).status).toBe(200);
  const api = createSandboxApi({ brands: [history, other], now: () => noon });
  const headers = { authorization: `Bearer ${other.keys[0]?.secret}` };
  const request = { method: "GET", url: "/api/brand/v1/orders", address: "127.0.0.1", headers };
  expect(JSON.parse(api.handle(request).body).data).toEqual(other.orders);
});

test("the sandbox's error responses contain a code, a message and the status", () => {
  expect(JSON.parse(ask("/orders?per_page=101").text)).toEqual({
    success: false,
    error: {
      code: "invalid_parameter",
      message: expect.stringContaining("per_page"),
      status: 400,
    },
  });
});

test("sandbox brands with different seeds have different IDs", () => {
  const ids = [1, 2, 3].map((seed) => createBrand({ seed, orders: 0, now: noon }).id);
  expect(new Set(ids).size).toBe(3);
});
