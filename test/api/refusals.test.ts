import nock from "nock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { key, rejection, testApi } from "./support.js";

const origin = "https://api.brand.test";
const baseUrl = `${origin}/api/brand/v1`;
const me = (scopes: string[]) => ({
  success: true,
  data: { brand: { id: "b", name: "B" }, key: { id: "k", scopes, expires_at: "2027-01-01T00:00:00Z" } },
});
/** Bodies that a refusal may carry: no shape is documented, and any may echo the key. */
const bodies = [`{"error":{"message":"bad key ${key}"}}`, `<html>${key}</html>`, "", `plain ${key}`];

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
  nock.enableNetConnect();
});

describe("a refused request", () => {
  it.each([
    [400, "/orders", "RequestRefused", 7, /refused the parameters of \/orders/],
    [401, "/orders", "KeyRejected", 4, /malformed, unknown, expired or revoked/],
    [402, "/orders", "PlanLacksData", 5, /plan does not include \/orders/],
    [
      404,
      "/orders",
      "NotFound",
      7,
      /Nothing is at https:\/\/api\.brand\.test\/api\/brand\/v1\/orders .*base URL looks wrong/,
    ],
    [
      404,
      "/opportunities/0b7c9f7e-1111-4222-8333-444455556666",
      "NotFound",
      7,
      /has no \/opportunities\/0b7c/,
    ],
    [410, "/orders", "NotFound", 7, /retired/],
    [405, "/orders", "UnexpectedAnswer", 7, /undocumented status: 405/],
    [204, "/orders", "UnexpectedAnswer", 7, /undocumented status: 204/],
    [302, "/orders", "UnexpectedAnswer", 7, /redirected/],
    [304, "/orders", "UnexpectedAnswer", 7, /undocumented status: 304/],
    [501, "/orders", "ApiUnavailable", 6, /^The API cannot do this: it answered 501 to \/orders\.$/],
    [505, "/orders", "ApiUnavailable", 6, /^The API cannot do this: it answered 505 to \/orders\.$/],
    [407, "/orders", "ApiUnavailable", 6, /proxy asks for a password/],
  ])(
    "with %i for %s is a %3$s, asked once, and never shows what the body says",
    async (status, path, name, exitCode, message) => {
      for (const body of [204, 304].includes(status) ? [""] : bodies) {
        const scope = nock(origin)
          .get(`/api/brand/v1${path}`)
          .reply(status, body, { location: "https://evil.test/" });
        const api = testApi(baseUrl, { settings: { maxWaitMs: 60_000 } });
        const error = await rejection(api.get(path));
        expect(error).toMatchObject({ name, exitCode, status });
        expect(error.message).toMatch(message);
        // Asking for longer does not change a refusal.
        expect(`${error.hint}`).not.toContain("--max-wait");
        expect(`${error.message}${error.hint}${error.stack}${String(error.cause)}`).not.toContain(key);
        expect(api.stats).toMatchObject({ requests: 1, retries: 0 });
        expect(scope.isDone()).toBe(true);
      }
    },
  );

  it("with 410 is known as retired, with 404 not", async () => {
    nock(origin).get("/api/brand/v1/orders").reply(410).get("/api/brand/v1/orders").reply(404);
    const api = testApi(baseUrl);
    expect(await rejection(api.get("/orders"))).toMatchObject({ retired: true });
    expect(await rejection(api.get("/orders"))).toMatchObject({ retired: false });
  });

  it("with 401 names the command that mends it", async () => {
    nock(origin).get("/api/brand/v1/me").reply(401, "", { "www-authenticate": "Bearer" });
    expect((await rejection(testApi(baseUrl).get("/me"))).hint).toContain("`brandapi login`");
  });
});

describe("a 403", () => {
  const forbid = () => nock(origin).get("/api/brand/v1/orders").reply(403, bodies[0]);
  const options = { scope: "analytics:read" };

  it("for a missing scope names the scope", async () => {
    forbid()
      .get("/api/brand/v1/me")
      .reply(200, me(["roster:read"]));
    const error = await rejection(testApi(baseUrl).get("/orders", {}, options));
    expect(error).toMatchObject({ name: "AccessForbidden", exitCode: 5, status: 403, reason: "scope" });
    expect(error.message).toBe("The key lacks the scope analytics:read, which /orders needs (403).");
    expect(error.hint).toContain("brandapi login");
  });

  it("from an address off the allowlist is told apart: /me is refused too", async () => {
    forbid().get("/api/brand/v1/me").reply(403);
    const error = await rejection(testApi(baseUrl).get("/orders", {}, options));
    expect(error).toMatchObject({ name: "AccessForbidden", reason: "address" });
    expect(error.message).toContain("IP allowlist");
  });

  it("of /me itself means the address, without asking twice", async () => {
    nock(origin).get("/api/brand/v1/me").reply(403);
    expect(await rejection(testApi(baseUrl).get("/me"))).toMatchObject({ reason: "address" });
  });

  it("although the key has the scope says so, and guesses nothing", async () => {
    forbid()
      .get("/api/brand/v1/me")
      .reply(200, me(["analytics:read"]));
    const error = await rejection(testApi(baseUrl).get("/orders", {}, options));
    expect(error).toMatchObject({ reason: "unknown" });
    expect(error.message).toContain("the key's scopes: analytics:read");
  });

  it("with a /me that fails otherwise stays a 403", async () => {
    forbid().get("/api/brand/v1/me").reply(500);
    expect(await rejection(testApi(baseUrl).get("/orders", {}, options))).toMatchObject({
      name: "AccessForbidden",
      reason: "unknown",
    });
  });

  it("with a /me that rejects the key is a rejected key", async () => {
    forbid().get("/api/brand/v1/me").reply(401);
    expect(await rejection(testApi(baseUrl).get("/orders", {}, options))).toMatchObject({
      name: "KeyRejected",
    });
  });

  it("asks /me once for all refusals of a client", async () => {
    nock(origin).get("/api/brand/v1/orders").times(3).reply(403).get("/api/brand/v1/me").reply(200, me([]));
    const api = testApi(baseUrl);
    const all = await Promise.all([1, 2, 3].map(() => rejection(api.get("/orders", {}, options))));
    expect(all.map((each) => each.name)).toEqual(Array(3).fill("AccessForbidden"));
    expect(api.stats.requests).toBe(4);
  });
});

describe("what is never sent", () => {
  it.each(["/../../../evil", "/../v2/orders", "/orders?page=1", "/orders#x", "/content/../../..\\evil"])(
    "a path such as %s, which leads outside the base URL or brings its own query",
    async (path) => {
      const api = testApi(baseUrl);
      expect((await rejection(api.get(path))).name).toBe("UnexpectedAnswer");
      expect(api.stats.requests).toBe(0);
    },
  );

  it.each(["//evil.test/x", "https://evil.test/"])(
    "the key to another host, with a path such as %s",
    async (path) => {
      const scope = nock(origin)
        .get(`/api/brand/v1/${path.replace(/^\//, "")}`)
        .reply(404);
      await rejection(testApi(baseUrl).get(path));
      expect(scope.isDone()).toBe(true);
    },
  );

  it.each(["", "two words", "line\nbreak", "bk_\u00e9"])("a key such as %j, and it is not shown", (bad) => {
    expect(() => testApi(baseUrl, { settings: { key: bad } })).toThrow(
      /key holds characters that no key has/,
    );
  });
});
