import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ApiEvents } from "../../src/api/client.js";
import { faultOf } from "../../src/api/faults.js";
import { FakeClock, freePort, key, rejection, sendJson, serve, serveBytes, testApi } from "./support.js";

const good = '{"success":true,"data":[]}';
const head = (more: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${more}\r\n`;
/** Time-outs that a test can wait for. */
const limits = { connectMs: 1_000, headersMs: 1_000, bodyMs: 1_000 };

/** A client whose waits take no time, which is patient for a minute. */
function patient(baseUrl: string, given: { maxWaitMs?: number; events?: ApiEvents } = {}) {
  const clock = new FakeClock();
  const settings = { maxWaitMs: given.maxWaitMs ?? 60_000 };
  const api = testApi(baseUrl, {
    settings,
    deps: { clock },
    limits,
    ...(given.events && { events: given.events }),
  });
  return { api, clock };
}

describe("a broken connection is tried again until it works", () => {
  it.each([
    ["reset before the answer", (socket: import("node:net").Socket) => socket.resetAndDestroy()],
    ["closed before the answer", (socket: import("node:net").Socket) => socket.end()],
    [
      "reset in the body",
      (socket: import("node:net").Socket) =>
        socket.write(`${head("content-length: 26\r\n")}{"succ`, () =>
          setTimeout(() => socket.resetAndDestroy(), 20),
        ),
    ],
    [
      "cut short in the body",
      (socket: import("node:net").Socket) => socket.end(`${head("content-length: 26\r\n")}{"succ`),
    ],
    [
      "cut short in a chunked body",
      (socket: import("node:net").Socket) =>
        socket.end(`${head("transfer-encoding: chunked\r\n")}6\r\n{"succ\r\n`),
    ],
    ["not HTTP at all", (socket: import("node:net").Socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    ["stalled before the answer", () => {}],
    [
      "stalled in the body",
      (socket: import("node:net").Socket) => socket.write(`${head("content-length: 26\r\n")}{"succ`),
    ],
  ])("%s", async (_name, fail) => {
    const server = await serveBytes((socket, count) => {
      if (count === 1) fail(socket);
      else socket.end(`${head(`content-length: ${good.length}\r\nconnection: close\r\n`)}${good}`);
    });
    const reasons: string[] = [];
    const { api } = patient(server.baseUrl, { events: { onRetry: (each) => reasons.push(each.reason) } });
    expect((await api.get("/orders")).data).toEqual([]);
    expect(api.stats).toMatchObject({ requests: 2, retries: 1 });
    expect(reasons).toHaveLength(1);
  });
});

describe("an API that stays away", () => {
  it("is given up after the patience, with the last reason in words", async () => {
    const server = await serve((_request, response) => sendJson(response, "x", 503));
    const { api, clock } = patient(server.baseUrl);
    const error = await rejection(api.get("/orders"));
    expect(error).toMatchObject({ name: "ApiUnavailable", exitCode: 6, status: 503 });
    expect(error.message).toMatch(
      /^The API is unavailable: it answered 503, briefly unavailable \(tried \d+ times in 60 s\)\.$/,
    );
    expect(error.hint).toContain("--max-wait");
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(60_000, 0);
  });

  it("is given up at once without patience", async () => {
    const server = await serve((_request, response) => sendJson(response, "x", 503));
    const { api } = patient(server.baseUrl, { maxWaitMs: 0 });
    expect((await rejection(api.get("/orders"))).message).toContain("(tried once in ");
    expect(api.stats.requests).toBe(1);
  });

  it("is named by host and port when nothing listens there", async () => {
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}/api/brand/v1`;
    const error = await rejection(patient(baseUrl, { maxWaitMs: 1_000 }).api.get("/me"));
    expect(error.message).toContain(`could not connect to 127.0.0.1:${port}: connection refused`);
    expect(error.exitCode).toBe(6);
  });

  it("is given up at once on a port that fetch refuses to use", async () => {
    const { api } = patient("http://127.0.0.1:9/api/brand/v1");
    const error = await rejection(api.get("/me"));
    expect(error.message).toContain("could not connect to 127.0.0.1:9: the port is not one for HTTP");
    expect(api.stats.requests).toBe(1);
  });

  it("is waited for as long as other requests of the client succeed", async () => {
    const clock = new FakeClock();
    let failures = 0;
    const fetch = async (url: string | URL) => {
      if (String(url).endsWith("/good")) return new Response(good);
      await api.get("/good");
      failures += 1;
      return failures > 20 ? new Response(good) : new Response("", { status: 502 });
    };
    const api = testApi("https://api.test/api/brand/v1", {
      settings: { maxWaitMs: 10_000 },
      deps: { clock, fetch },
    });
    await api.get("/bad");
    expect(failures).toBe(21);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(100_000);
  });
});

describe("a 429", () => {
  it.each([
    [{ "retry-after": "20" }, 20_125],
    [{ "retry-after": "60" }, 60_000],
  ])("with %j is waited out: first for %i ms", async (headers, expected) => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count > 1 ? 200 : 429, headers),
    );
    const { api, clock } = patient(server.baseUrl);
    await api.get("/orders");
    expect(clock.slept[0]).toBe(expected);
    expect(server.requests.length).toBe(2);
  });

  it.each([
    [429, "61", "61 s"],
    [429, "120", "2 minutes"],
    [503, "120", "2 minutes"],
    [429, "86400", "24 hours"],
  ])(
    "a %i with a Retry-After of %s, longer than the patience, is given up at once",
    async (status, wait, said) => {
      const server = await serve((_request, response) =>
        sendJson(response, "", status, { "retry-after": wait }),
      );
      const { api, clock } = patient(server.baseUrl);
      const error = await rejection(api.get("/orders"));
      expect(error).toMatchObject({ name: "ApiUnavailable", exitCode: 6, status });
      expect(error.message).toContain(
        `, and asks to wait ${said}, longer than is left of \`--max-wait\` (tried once`,
      );
      expect(clock.slept).toEqual([]);
      expect(server.requests.length).toBe(1);
    },
  );

  it("with a Retry-After is given up when what is left of the patience is shorter", async () => {
    const server = await serve((_request, response) => sendJson(response, "", 429, { "retry-after": "25" }));
    const { api, clock } = patient(server.baseUrl);
    const error = await rejection(api.get("/orders"));
    expect(error.message).toMatch(/asks to wait 25 s, .* \(tried 3 times in 50 s\)/);
    expect(clock.slept).toEqual([25_125, 25_125]);
  });

  it("holds the other requests of the client too", async () => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count > 1 ? 200 : 429, { "retry-after": "30" }),
    );
    let other: Promise<unknown> = Promise.resolve();
    const waits: object[] = [];
    const onRetry = () => {
      other = api.get("/roster");
    };
    const { api, clock } = patient(server.baseUrl, {
      events: { onRetry, onWait: (wait) => waits.push(wait) },
    });
    const start = clock.mono;
    await api.get("/orders");
    await other;
    expect(waits[0]).toEqual({ ms: 30_125, reason: "server" });
    // Two waits at once: that minute is counted once (the fake clock lets them pass one after the other).
    expect(api.stats.waitedMs).toBe(clock.mono - start);
  });
});

describe("a 200 that is not JSON", () => {
  it.each([
    [
      "a captive portal's page",
      Buffer.from("<!doctype html><title>Log in</title>"),
      {},
      /a web page, not JSON/,
    ],
    ["cut JSON", Buffer.from('{"success":true,"data":[{"id'), {}, /cut short or damaged/],
    ["nothing", Buffer.from(""), {}, /body is empty/],
    ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), {}, /not UTF-8/],
    [
      "a damaged gzip",
      Buffer.from("this is not gzip"),
      { "content-encoding": "gzip" },
      /compressed body is damaged/,
    ],
  ])("such as %s is asked for five times in all, then refused", async (_name, body, headers, message) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-length": body.length, ...headers });
      response.end(body);
    });
    const { api } = patient(server.baseUrl);
    const error = await rejection(api.get("/orders"));
    expect(error).toMatchObject({ name: "UnexpectedAnswer", exitCode: 7 });
    expect(error.message).toMatch(message);
    expect(server.requests.length).toBe(5);
  });

  it("is fine when the next one is", async () => {
    const server = await serve((_request, response, count) =>
      sendJson(response, count < 4 ? "<html>" : good),
    );
    expect((await patient(server.baseUrl).api.get("/orders")).data).toEqual([]);
  });
});

describe("a body", () => {
  it("may begin with a byte order mark, and be compressed", async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync(`\ufeff${good}`));
    });
    expect((await patient(server.baseUrl).api.get("/orders")).json).toBe("[]");
  });

  it.each([
    [
      "a compressed bomb",
      (response: import("node:http").ServerResponse) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end(gzipSync(Buffer.alloc(40 * 1024 * 1024, " ")));
      },
    ],
    [
      "without end",
      (response: import("node:http").ServerResponse) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
        };
        response.on("drain", more);
        more();
      },
    ],
  ])("that is %s is refused at 32 MiB, once", async (_name, answer) => {
    const server = await serve((_request, response) => answer(response));
    const { api } = patient(server.baseUrl);
    const error = await rejection(api.get("/orders"));
    expect(error).toMatchObject({ name: "AnswerRefused", exitCode: 7 });
    expect(error.message).toBe("The API's answer to /orders is larger than 32 MiB: it is refused.");
    expect(server.requests.length).toBe(1);
  });

  it("can be given a smaller limit", async () => {
    const server = await serve((_request, response) => sendJson(response, good));
    const error = await rejection(patient(server.baseUrl).api.get("/orders", {}, { maxBytes: 10 }));
    expect(error.message).toContain("larger than 10 bytes");
  });

  it("that drips for longer than five minutes is cut off", async () => {
    const clock = new FakeClock();
    const server = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => {
        clock.pass(100_000);
        response.write(" ");
      }, 10);
      response.on("close", () => clearInterval(timer));
    });
    const error = await rejection(testApi(server.baseUrl, { deps: { clock } }).get("/orders"));
    expect(error.message).toContain("the answer took too long");
  });

  it("nested too deep is refused before it is parsed", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const server = await serve((_request, response) => sendJson(response, `{"success":true,"data":${deep}}`));
    expect((await rejection(patient(server.baseUrl).api.get("/orders"))).message).toContain(
      "nested more than 100 levels",
    );
  });
});

it("a redirect is not followed: the key goes nowhere else", async () => {
  const evil = await serve((_request, response) => sendJson(response, good));
  const server = await serve((_request, response) => {
    response.writeHead(307, { location: `${evil.baseUrl}/orders` });
    response.end();
  });
  const error = await rejection(patient(server.baseUrl).api.get("/orders"));
  expect(error).toMatchObject({ name: "UnexpectedAnswer", status: 307 });
  expect(evil.requests.length).toBe(0);
  expect(server.requests.length).toBe(1);
});

describe("an abort", () => {
  it.each(["of the program", "of the request"])(
    "%s ends a request under way with its reason",
    async (whose) => {
      const stop = new AbortController();
      const server = await serve(() => stop.abort(new Error("stop now")));
      const program = whose === "of the program";
      const api = testApi(server.baseUrl, {
        settings: { maxWaitMs: 60_000 },
        deps: program ? { signal: stop.signal } : {},
      });
      const error = await rejection(api.get("/orders", {}, program ? {} : { signal: stop.signal }));
      expect(error.message).toBe("stop now");
      expect(server.requests.length).toBe(1);
    },
  );

  it("ends a wait between two tries", async () => {
    const stop = new AbortController();
    const server = await serve((_request, response) => sendJson(response, "", 429, { "retry-after": "50" }));
    const events = { onRetry: () => setImmediate(() => stop.abort(new Error("stop now"))) };
    const api = testApi(server.baseUrl, {
      settings: { maxWaitMs: 60_000 },
      deps: { signal: stop.signal },
      events,
    });
    expect((await rejection(api.get("/orders"))).message).toBe("stop now");
  });

  it("that came before means nothing is sent", async () => {
    const server = await serve((_request, response) => sendJson(response, good));
    const signal = AbortSignal.abort(new Error("stop now"));
    expect((await rejection(testApi(server.baseUrl).get("/orders", {}, { signal }))).message).toBe(
      "stop now",
    );
    expect(server.requests.length).toBe(0);
  });
});

describe("an exception of fetch", () => {
  const wrapped = (code: string) =>
    new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });

  it.each([
    ["ENOTFOUND", "network", /could not connect to h: the name is unknown/],
    ["EAI_AGAIN", "network", /could not be looked up/],
    ["UND_ERR_CONNECT_TIMEOUT", "network", /could not connect to h: timed out while connecting/],
    ["UND_ERR_BODY_TIMEOUT", "network", /h: the answer stalled/],
    ["CERT_HAS_EXPIRED", "permanent", /certificate of h cannot be trusted \(CERT_HAS_EXPIRED\)/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "permanent", /certificate/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "permanent", /certificate/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "permanent", /certificate/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "permanent", /does not speak TLS/],
  ])("with %s is a %s fault", (code, kind, reason) => {
    const fault = faultOf(wrapped(code), "h");
    expect(fault?.kind).toBe(kind);
    expect(fault?.reason).toMatch(reason);
    if (code.includes("CERT"))
      expect(fault).toMatchObject({ hint: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
  });

  it("that is a defect of the program is not taken for the network's", () => {
    expect(faultOf(new TypeError("x is not a function"), "h")).toBeNull();
    expect(faultOf("text", "h")).toBeNull();
  });

  it("that quotes the key does not go into the error", async () => {
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: new Error(`header ${key}`) }));
    const api = testApi("https://api.test/api/brand/v1", { deps: { fetch } });
    const error = await rejection(api.get("/orders"));
    expect(error.name).toBe("ApiUnavailable");
    expect(error.cause).toBeUndefined();
  });
});
