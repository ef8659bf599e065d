import nock from "nock";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ApiSettings } from "../../src/api/client.js";
import { parseScopes } from "../../src/api/request-errors.js";
import type { Fetch } from "../../src/deps.js";
import { key, rejection, testApi } from "./support.js";

const origin = "https://api.brand.test";
const baseUrl = `${origin}/api/brand/v1`;
const me = (scopes: unknown) => ({
  success: true,
  data: { brand: { id: "b", name: "B" }, key: { id: "k", scopes, expires_at: "2027-01-01T00:00:00Z" } },
});
/** The API documentation does not describe error bodies, so any of the following bodies could contain the key. */
const bodies = [`{"error":{"message":"bad key ${key}"}}`, `<html>${key}</html>`, "", `plain ${key}`];

/** nock intercepts Node's `fetch`, but not the undici package that the program uses. */
const fetchMocked: Fetch = (url, options) => fetch(url, { ...options, redirect: "manual" });
const open = (settings: Partial<ApiSettings> = {}) =>
  testApi(baseUrl, { settings, deps: { fetch: fetchMocked } });

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
  nock.enableNetConnect();
});

it.each([
  [400, "/orders", "BadRequest", 7, /rejected the parameters for \/orders/],
  [401, "/orders", "Unauthorized", 4, /malformed, unknown, expired or revoked/],
  [402, "/orders", "PaymentRequired", 5, /plan does not include \/orders/],
  [
    404,
    "/orders",
    "NotFound",
    7,
    /^Nothing found at https:.*\/v1\/orders \(404\): the base URL looks wrong\.$/,
  ],
  [404, "/opportunities/0b7c9f7e", "NotFound", 7, /found nothing at \/opportunities\/0b7c9f7e/],
  [404, "/surveys/autumn/results", "NotFound", 7, /found nothing at \/surveys\/autumn\/results/],
  [404, "/content/upload/a/download", "NotFound", 7, /found nothing at \/content\/upload\/a\/download/],
  [410, "/orders", "NotFound", 7, /no longer provides/],
  [410, "/surveys/autumn/results", "NotFound", 7, /no longer provides/],
  [405, "/orders", "UnexpectedResponse", 7, /undocumented status: 405/],
  [204, "/orders", "UnexpectedResponse", 7, /undocumented status: 204/],
  [300, "/orders", "UnexpectedResponse", 7, /redirected/],
  [302, "/orders", "UnexpectedResponse", 7, /redirected/],
  [399, "/orders", "UnexpectedResponse", 7, /redirected/],
  [304, "/orders", "UnexpectedResponse", 7, /undocumented status: 304/],
])(
  "HTTP %i for %s is not retried, and the %s error does not quote the response body",
  async (status, path, name, exitCode, message) => {
    for (const body of [204, 304].includes(status) ? [""] : bodies) {
      const scope = nock(origin)
        .get(`/api/brand/v1${path}`)
        .reply(status, body, { location: "https://evil.test/" });
      const api = open({ maxWaitMs: 60_000 });
      const error = await rejection(api.get(path));
      expect(error).toMatchObject({ name, exitCode, status });
      expect(error.message).toMatch(message);
      expect(`${error.hint}`).not.toContain("--max-wait");
      if (status === 401) expect(error.hint).toBe("create a new key");
      expect(`${error.message}${error.hint}${error.stack}${String(error.cause)}`).not.toContain(key);
      expect(api.stats).toMatchObject({ requests: 1, retries: 0 });
      expect(scope.isDone()).toBe(true);
    }
  },
);

const scope = "analytics:read";

it.each([
  [
    "the API key lacks the scope",
    "names the required scope",
    200,
    ["roster:read"],
    "Forbidden",
    "resource",
    /^The key lacks the scope analytics:read/,
  ],
  [
    "the API key has the scope",
    "lists the key's scopes",
    200,
    ["analytics:read"],
    "Forbidden",
    "resource",
    /the key's scopes: analytics:read/,
  ],
  [
    "/me returns scopes and invalid values",
    "lists only the scopes",
    200,
    ["analytics:read", 7, null],
    "Forbidden",
    "resource",
    /the key's scopes: analytics:read\.$/,
  ],
  [
    "/me also returns a 403",
    "names the IP allowlist",
    403,
    [],
    "Forbidden",
    "command",
    /IP address is not on the key's allowlist/,
  ],
  [
    "/me returns scopes that are not a list",
    "states only that the API denied access",
    200,
    "analytics:read",
    "Forbidden",
    "resource",
    /^The API denied access to \/orders \(403\)\.$/,
  ],
  [
    "/me returns a 500",
    "states only that the API denied access",
    500,
    [],
    "Forbidden",
    "resource",
    /^The API denied access to \/orders \(403\)\.$/,
  ],
  [
    "/me returns a 401",
    "states that the API rejected the API key",
    401,
    [],
    "Unauthorized",
    undefined,
    /^The API rejected the key/,
  ],
])(
  "if a request returns a 403 and %s, the error %s",
  async (_case, _result, status, scopes, name, failureScope, message) => {
    nock(origin)
      .get("/api/brand/v1/orders")
      .reply(403, bodies[0])
      .get("/api/brand/v1/me")
      .reply(status, me(scopes));
    const error = await rejection(open().get("/orders", {}, scope));
    expect(error).toMatchObject({ name, message: expect.stringMatching(message) });
    if (failureScope !== undefined) expect(error).toMatchObject({ failureScope, exitCode: 5, status: 403 });
  },
);

it.each([
  ["/me", "all requests", "command"],
  ["/orders", "at least this request", "resource"],
])(
  "an HTML 403 response from %s is attributed to a firewall or proxy that blocks %s",
  async (path, _, failureScope) => {
    const type = { "content-type": "text/HTML" };
    nock(origin).get(`/api/brand/v1${path}`).reply(403, "<h1>Blocked</h1>", type);
    if (path !== "/me") nock(origin).get("/api/brand/v1/me").reply(200, me([]));
    const error = await rejection(open().get(path, {}, scope));
    expect(error).toMatchObject({
      exitCode: 5,
      failureScope,
      message: expect.stringContaining("rejected with a web page (403)"),
    });
    expect(error.message).not.toContain("allowlist");
  },
);

it.each([[[]], [{}], [{ key: null }], [{ key: { scopes: null } }]])(
  "an API key's scopes are unknown if the data from /me is %j",
  (data) => {
    expect(parseScopes(data)).toBeNull();
  },
);

it("the error for a 403 lists at most 20 of the API key's scopes, or `none` if the key has no scopes", async () => {
  const scopes = Array.from({ length: 21 }, (_, n) => `s${n}`);
  for (const [given, listed] of [
    [scopes, scopes.slice(0, 20).join(", ")],
    [[], "none"],
  ] as const) {
    nock(origin).get("/api/brand/v1/orders").reply(403).get("/api/brand/v1/me").reply(200, me(given));
    const error = await rejection(open().get("/orders"));
    expect(error.message).toBe(`The API denied access to /orders (403); the key's scopes: ${listed}.`);
    expect(error.hint).toContain("the required scope");
  }
});

it.each([
  ["without a Location names no target", undefined, /^set `--base-url` to the final address$/],
  ["to the invalid URL https://[ names no target", "https://[", /^set `--base-url` to the final address$/],
  [
    "to a URL that contains the API key names only the URL's origin",
    `https://other.test/x?key=${key}`,
    /^the target is on https:\/\/other\.test;/,
  ],
  ["to the path /v2 names only the API's origin", "/v2", /^the target is on https:\/\/api\.brand\.test;/],
])("the hint for a redirect %s", async (_, location, hint) => {
  nock(origin)
    .get("/api/brand/v1/orders")
    .reply(301, "", location === undefined ? {} : { location });
  const error = await rejection(open().get("/orders"));
  expect(error.hint).toMatch(hint);
  expect(error.hint).not.toContain(key);
});

it("if /me returns a 403, the client does not request /me again", async () => {
  nock(origin).get("/api/brand/v1/me").reply(403);
  expect(await rejection(open().get("/me"))).toMatchObject({ failureScope: "command" });
});

it("the client requests /me only once if several requests return a 403", async () => {
  nock(origin).get("/api/brand/v1/orders").times(3).reply(403).get("/api/brand/v1/me").reply(200, me([]));
  const api = open();
  await Promise.all([1, 2, 3].map(() => rejection(api.get("/orders", {}, scope))));
  expect(api.stats.requests).toBe(4);
});

it("if /me fails after a 403, the client requests /me again after the next 403", async () => {
  nock(origin)
    .get("/api/brand/v1/orders")
    .times(2)
    .reply(403)
    .get("/api/brand/v1/me")
    .reply(404)
    .get("/api/brand/v1/me")
    .reply(200, me([]));
  const api = open();
  expect((await rejection(api.get("/orders", {}, scope))).message).toContain("denied access");
  expect((await rejection(api.get("/orders", {}, scope))).message).toContain("lacks the scope");
});

it("if a run is aborted while the client requests /me after a 403, the request fails with the abort reason", async () => {
  const stop = new AbortController();
  nock(origin).get("/api/brand/v1/orders").reply(403).get("/api/brand/v1/me").delay(1_000).reply(200, me([]));
  const onSend = () => api.stats.requests === 2 && stop.abort(new Error("stop now"));
  const api = testApi(baseUrl, { deps: { fetch: fetchMocked, signal: stop.signal }, events: { onSend } });
  expect((await rejection(api.get("/orders"))).message).toBe("stop now");
});

it.each([
  ["/../../../evil", "is outside the base URL"],
  ["/../v2/orders", "is outside the base URL"],
  ["/content/../../..\\evil", "is outside the base URL"],
  [`/../../../evil/${baseUrl}/`, "is outside the base URL even though it contains that URL"],
  ["/orders?page=1", "contains a query"],
  ["/orders#x", "contains a fragment"],
])("the client sends no request for the path %s, because it %s", async (path) => {
  const api = open();
  expect((await rejection(api.get(path))).name).toBe("UnexpectedResponse");
  expect(api.stats.requests).toBe(0);
});

it.each(["//evil.test/x", "https://evil.test/"])(
  "the client sends the API key only to the base URL's host, even if the path is %s",
  async (path) => {
    const scope = nock(origin)
      .get(`/api/brand/v1/${path.replace(/^\//, "")}`)
      .reply(404);
    await rejection(open().get(path));
    expect(scope.isDone()).toBe(true);
  },
);
