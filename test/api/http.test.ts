import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { ApiEvents } from "../../src/api/client.js";
import {
  classifyError,
  createFailureError,
  createRetryAfterError,
  type RequestFailure,
} from "../../src/api/request-errors.js";
import type { Deps } from "../../src/deps.js";
import { FakeClock, freePort, key, rejection, sendJson, serve, serveBytes, testApi } from "./support.js";

const good = '{"success":true,"data":[]}';
const head = (more: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${more}\r\n`;

/** Creates a client with a `--max-wait` of one minute and a fake clock, so that waits take no real time. */
function retryingClient(baseUrl: string, deps: Partial<Deps> = {}, events: ApiEvents = {}) {
  const clock = new FakeClock();
  const api = testApi(baseUrl, { settings: { maxWaitMs: 60_000 }, deps: { clock, ...deps }, events });
  return { api, clock };
}

it.each([
  ["the connection is reset before the response", (socket: Socket) => socket.resetAndDestroy()],
  [
    "the connection is reset in the middle of the body",
    (socket: Socket) =>
      socket.write(`${head("content-length: 26\r\n")}{"succ`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      ),
  ],
  [
    "the connection is closed in the middle of the body",
    (socket: Socket) => socket.end(`${head("content-length: 26\r\n")}{"succ`),
  ],
  [
    "the connection is closed in the middle of a chunked body",
    (socket: Socket) => socket.end(`${head("transfer-encoding: chunked\r\n")}6\r\n{"succ\r\n`),
  ],
  ["the response is not HTTP", (socket: Socket) => socket.end("220 mail.test ESMTP\r\n")],
  ["the connection stalls before the response", (_socket: Socket, timeOut: () => void) => timeOut()],
  [
    "the connection stalls in the middle of the body",
    (socket: Socket, timeOut: () => void) =>
      socket.write(`${head("content-length: 26\r\n")}{"succ`, () => setTimeout(timeOut, 20)),
  ],
])("a request is retried if %s", async (_name, fail) => {
  let timeOut = () => {};
  const timers: number[] = [];
  let cancelled = 0;
  const setTimer = (ms: number, call: () => void) => {
    timers.push(ms);
    timeOut = call;
    return () => {
      cancelled += 1;
    };
  };
  const server = await serveBytes((socket, count) => {
    if (count === 1) fail(socket, timeOut);
    else socket.end(`${head(`content-length: ${good.length}\r\nconnection: close\r\n`)}${good}`);
  });
  const retries: object[] = [];
  const { api } = retryingClient(server.baseUrl, { setTimer }, { onRetry: (retry) => retries.push(retry) });
  expect((await api.get("/orders")).data).toEqual([]);
  expect(api.stats).toMatchObject({ requests: 2, retries: 1 });
  expect(retries).toEqual([{ path: "/orders", reason: expect.any(String), waitMs: 250, attempt: 1 }]);
  // The time between the attempts counts toward the second attempt's timeout.
  expect([timers, cancelled]).toEqual([[60_000, 59_750], 2]);
});

it("a request's log contains the start and end of each attempt, with the attempt's status and duration", async () => {
  const clock = new FakeClock();
  const events: object[] = [];
  const server = await serve((_request, response, count) => {
    clock.pass(700);
    if (count === 1) response.destroy();
    else sendJson(response, good, count === 2 ? 503 : 200);
  });
  const settings = { maxWaitMs: 60_000 };
  const log = {
    onSend: (event: object) => events.push(event),
    onAttemptEnd: (event: object) => events.push(event),
  };
  await testApi(server.baseUrl, { settings, deps: { clock }, events: log }).get("/orders");
  const host = `127.0.0.1:${server.port}`;
  expect(events).toEqual([0, 503, 200].flatMap((status) => [{ host }, { path: "/orders", status, ms: 700 }]));
});

it("a 429 delays the run's other requests, but a 503 does not", async () => {
  for (const [status, expected] of [
    [429, [{ ms: 20_125, reason: "server" }]],
    [503, []],
  ] as const) {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count > 1 ? 200 : status, { "retry-after": "20" }),
    );
    const waits: object[] = [];
    let other: Promise<unknown> | undefined;
    const { api } = retryingClient(
      server.baseUrl,
      {},
      {
        onRetry: () => (other = api.get("/roster")),
        onWait: (wait) => waits.push(wait),
      },
    );
    await api.get("/orders");
    await other;
    expect(waits).toEqual(expected);
  }
});

it.each([200, 404])(
  "a response with status %i ends an outage, so the next failed request is retried for the full --max-wait",
  async (status) => {
    const server = await serve((_request, response, count) =>
      sendJson(response, good, count % 2 ? 503 : status, { "retry-after": "40" }),
    );
    const { api } = retryingClient(server.baseUrl);
    for (let each = 0; each < 2; each += 1) await api.get("/orders").catch(() => {});
    expect(server.requests.length).toBe(4);
  },
);

it("a request is retried ten times even if each error response has a 1 MiB body", async () => {
  const server = await serve((_request, response, count) =>
    response
      .writeHead(count > 10 ? 200 : 503, { "retry-after": "1" })
      .end(count > 10 ? good : "x".repeat(2 ** 20)),
  );
  await retryingClient(server.baseUrl).api.get("/orders");
  expect(server.requests.length).toBe(11);
});

it("when --max-wait expires, a request fails with the error from the last attempt", async () => {
  const server = await serve((_request, response) => sendJson(response, "x", 503));
  const { api, clock } = retryingClient(server.baseUrl);
  const error = await rejection(api.get("/orders"));
  expect(error).toMatchObject({ name: "ApiUnavailable", exitCode: 6, status: 503 });
  expect(error.message).toMatch(
    /^The API is unavailable: HTTP 503 Service Unavailable \(tried \d+ times in 60s\)\.$/,
  );
  expect(error.failureScope).toBe("resource");
  expect(error.hint).toContain("--max-wait");
  expect(clock.waitedMs).toBeCloseTo(60_000, 0);
});

it("the error for a refused connection names the host and port", async () => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}/api/brand/v1`;
  const error = await rejection(retryingClient(baseUrl).api.get("/me"));
  expect(error.message).toContain(`cannot connect to 127.0.0.1:${port}: connection refused`);
  expect(error).toMatchObject({ exitCode: 6, failureScope: "outage", cause: { code: "ECONNREFUSED" } });
});

it.each([
  ["20", 20_125],
  ["60", 60_000],
])("a retry waits for the %s seconds given in the Retry-After header", async (seconds, expected) => {
  const server = await serve((_request, response, count) =>
    sendJson(response, good, count > 1 ? 200 : 429, { "retry-after": seconds }),
  );
  const { api, clock } = retryingClient(server.baseUrl);
  await api.get("/orders");
  expect(clock.slept[0]).toBe(expected);
  expect(server.requests.length).toBe(2);
});

it("a retry that has to wait almost as long as --max-wait is sent even if timers fire too early", async () => {
  const server = await serve((_request, response, count) =>
    sendJson(response, good, count > 1 ? 200 : 429, { "retry-after": "59.9" }),
  );
  const clock = new FakeClock();
  clock.sleep = async (ms) => clock.pass(Math.max(1, ms - 5));
  const random = () => {
    clock.pass(2);
    return 0.5;
  };
  expect((await retryingClient(server.baseUrl, { clock, random }).api.get("/orders")).data).toEqual([]);
});

it.each([
  [429, "25", "25s", 3],
  [429, "61", "61s", 1],
  [503, "120", "2m", 1],
])(
  "a request fails after HTTP %i if its Retry-After of %s seconds exceeds the remaining --max-wait",
  async (status, wait, formatted, attempts) => {
    const tried = attempts === 1 ? "once in 0s" : `${attempts} times in 50s`;
    const server = await serve((_request, response) =>
      sendJson(response, "", status, { "retry-after": wait }),
    );
    const error = await rejection(retryingClient(server.baseUrl).api.get("/orders"));
    expect(error).toMatchObject({ name: "ApiUnavailable", exitCode: 6, status });
    expect(error.message).toContain(
      `; it asked brandapi to wait ${formatted}, which is longer than the remaining \`--max-wait\` (tried ${tried}).`,
    );
    expect(server.requests.length).toBe(attempts);
  },
);

it.each([
  ["a login page", Buffer.from("<title>Log in</title>"), {}, /a web page, not JSON/],
  ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), {}, /not UTF-8/],
  ["damaged gzip data", Buffer.from("no gzip"), { "content-encoding": "gzip" }, /compressed body is damaged/],
])(
  "a response with %s as its body is rejected after five attempts",
  async (_name, body, headers, message) => {
    const server = await serve((_request, response) => response.writeHead(200, headers).end(body));
    const error = await rejection(retryingClient(server.baseUrl).api.get("/orders"));
    expect(error).toMatchObject({ name: "UnexpectedResponse", exitCode: 7 });
    expect(error.message).toMatch(message);
    expect(server.requests.length).toBe(5);
  },
);

it.each(["099 Odd", "000 Odd"])(
  "a response that starts with the invalid status '%s' is rejected",
  async (status) => {
    const server = await serveBytes((socket) =>
      socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\n{}`),
    );
    const error = await rejection(retryingClient(server.baseUrl).api.get("/orders"));
    expect(error).toMatchObject({ name: "UnexpectedResponse", exitCode: 7 });
    expect(error.message).toContain("/orders cannot be read: it is not valid HTTP");
  },
);

it("a response with a status above 599 is rejected without a retry", async () => {
  const server = await serveBytes((socket) => socket.end("HTTP/1.1 600 Odd\r\ncontent-length: 2\r\n\r\n{}"));
  const { api } = retryingClient(server.baseUrl);
  expect(await rejection(api.get("/orders"))).toMatchObject({ name: "UnexpectedResponse", exitCode: 7 });
  expect(api.stats.requests).toBe(1);
});

const gzipped = (text: string | Buffer) => (_request: unknown, response: ServerResponse) =>
  response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
const endless = (_request: unknown, response: ServerResponse) => {
  const more = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
  };
  response.on("drain", more);
  more();
};

it("the client accepts a byte order mark at the start of a compressed body", async () => {
  const server = await serve(gzipped(`\ufeff${good}`));
  expect((await retryingClient(server.baseUrl).api.get("/orders")).data).toEqual([]);
});

it.each([
  ["is a decompression bomb", gzipped(Buffer.alloc(40 * 2 ** 20, " "))],
  ["never ends", endless],
])("a response body that %s is rejected at 16 MiB without a retry", async (_name, respond) => {
  const server = await serve(respond);
  const error = await rejection(retryingClient(server.baseUrl).api.get("/orders"));
  expect(error).toMatchObject({ name: "UnsafeResponse", exitCode: 7 });
  expect(error.message).toContain("/orders was rejected: it is larger than 16 MiB");
  expect(server.requests.length).toBe(1);
});

it("the client does not follow redirects, so that the API key is never sent to a different server", async () => {
  const other = await serve((_request, response) => sendJson(response, good));
  const server = await serve((_request, response) =>
    sendJson(response, "", 307, { location: `${other.baseUrl}/orders` }),
  );
  const error = await rejection(retryingClient(server.baseUrl).api.get("/orders"));
  expect(error).toMatchObject({ name: "UnexpectedResponse", status: 307 });
  expect([other.requests.length, server.requests.length]).toEqual([0, 1]);
});

const settings = { maxWaitMs: 60_000 };

it("an abort signal makes the current request fail with the signal's reason", async () => {
  const stop = new AbortController();
  const server = await serve(() => stop.abort(new Error("stop now")));
  const api = testApi(server.baseUrl, { settings, deps: { signal: stop.signal } });
  expect((await rejection(api.get("/orders"))).message).toBe("stop now");
  expect(server.requests.length).toBe(1);
});

it("an abort signal ends the wait before a retry", async () => {
  const stop = new AbortController();
  const server = await serve((_request, response) => sendJson(response, "", 429, { "retry-after": "50" }));
  const events = { onRetry: () => setImmediate(() => stop.abort(new Error("stop now"))) };
  const api = testApi(server.baseUrl, { settings, deps: { signal: stop.signal }, events });
  expect((await rejection(api.get("/orders"))).message).toBe("stop now");
});

const coded = (code: string, cause?: Error) => Object.assign(new Error("x", { cause }), { code });

const kinds = {
  "a network error, so the request is retried": "network",
  "a damaged response body": "invalid-body",
  "permanent, so the request is not retried": "permanent",
};

it.each<[code: string, meaning: keyof typeof kinds, reason: RegExp]>([
  ["ECONNREFUSED", "a network error, so the request is retried", /^cannot connect to h: connection refused$/],
  [
    "EHOSTUNREACH",
    "a network error, so the request is retried",
    /^cannot connect to h: no route to the host$/,
  ],
  [
    "ENETUNREACH",
    "a network error, so the request is retried",
    /^cannot connect to h: the network is unreachable$/,
  ],
  [
    "ENOTFOUND",
    "a network error, so the request is retried",
    /^cannot connect to h: host name not found \(DNS\)$/,
  ],
  ["EAI_AGAIN", "a network error, so the request is retried", /^cannot connect to h: the DNS lookup failed$/],
  [
    "UND_ERR_CONNECT_TIMEOUT",
    "a network error, so the request is retried",
    /^cannot connect to h: timed out while connecting$/,
  ],
  ["ECONNRESET", "a network error, so the request is retried", /^h: the connection was reset$/],
  ["EPIPE", "a network error, so the request is retried", /^h: the connection was closed$/],
  ["ETIMEDOUT", "a network error, so the request is retried", /^h: timed out$/],
  [
    "UND_ERR_HEADERS_TIMEOUT",
    "a network error, so the request is retried",
    /^h: timed out while waiting for the response$/,
  ],
  ["UND_ERR_BODY_TIMEOUT", "a network error, so the request is retried", /^h: the response stalled$/],
  [
    "UND_ERR_SOCKET",
    "a network error, so the request is retried",
    /^h: the connection was closed before the response was complete$/,
  ],
  [
    "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
    "a network error, so the request is retried",
    /^h: the response was truncated$/,
  ],
  ["ERR_SOCKET_CLOSED", "a network error, so the request is retried", /^h: the connection was lost$/],
  [
    "ERR_STREAM_PREMATURE_CLOSE",
    "a network error, so the request is retried",
    /^h: the connection was lost$/,
  ],
  ["ERR_TLS_HANDSHAKE_TIMEOUT", "a network error, so the request is retried", /^h: the connection was lost$/],
  ["Z_DATA_ERROR", "a damaged response body", /compressed body is damaged/],
  ["ERR__ERROR_FORMAT_PADDING_1", "a damaged response body", /compressed body is damaged/],
  ["ERR_BROTLI_DECODER_ERROR_UNREACHABLE", "a damaged response body", /compressed body is damaged/],
  [
    "CERT_HAS_EXPIRED",
    "permanent, so the request is not retried",
    /certificate of h is not trusted \(CERT_HAS_EXPIRED\)/,
  ],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "permanent, so the request is not retried", /certificate/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "permanent, so the request is not retried", /certificate/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "permanent, so the request is not retried", /certificate/],
  ["INVALID_CA", "permanent, so the request is not retried", /certificate/],
  ["INVALID_PURPOSE", "permanent, so the request is not retried", /certificate/],
  ["PATH_LENGTH_EXCEEDED", "permanent, so the request is not retried", /certificate/],
  ["HOSTNAME_MISMATCH", "permanent, so the request is not retried", /certificate/],
  ["UNSPECIFIED", "permanent, so the request is not retried", /certificate/],
  ["EPROTO", "permanent, so the request is not retried", /TLS handshake with h failed/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "permanent, so the request is not retried", /TLS handshake with h failed/],
  ["ERR_OSSL_EVP_UNSUPPORTED", "permanent, so the request is not retried", /TLS handshake with h failed/],
])("the error code %s is treated as %s", (code, meaning, reason) => {
  const failure = classifyError(coded(code), "h");
  expect(failure?.kind).toBe(kinds[meaning]);
  expect(failure?.reason).toMatch(reason);
  const cannotConnect = failure?.kind === "network" && failure.cannotConnect === true;
  expect(cannotConnect).toBe(failure?.reason.startsWith("cannot connect"));
  if (code.includes("CERT"))
    expect(failure).toMatchObject({ hint: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
});

it("if the causes of an error have different codes, the error is classified by the innermost code that is a string", () => {
  const numeric = Object.assign(new Error("z"), { code: 20 });
  const reset = Object.assign(coded("ECONNRESET"), { cause: numeric });
  const error = coded("UND_ERR_SOCKET", new Error("y", { cause: reset }));
  expect(classifyError(error, "h")).toMatchObject({ kind: "network", reason: "h: the connection was reset" });
});

const fault = { kind: "unavailable", status: 503, reason: "" } as const;

it.each<[string, string, RequestFailure, boolean]>([
  ["an untrusted certificate", "all requests", { kind: "permanent", reason: "", hint: "" }, false],
  ["a refused connection", "all requests", { kind: "network", reason: "", cannotConnect: true }, false],
  ["a lost connection", "only one request", { kind: "network", reason: "" }, false],
  ["a 503 from one endpoint", "only one request", { ...fault, retryAfterMs: null }, false],
  ["a 503 from several endpoints", "all requests", { ...fault, retryAfterMs: null }, true],
  ["a long Retry-After from one endpoint", "only one request", { ...fault, retryAfterMs: 9e6 }, false],
  ["a long Retry-After from several endpoints", "all requests", { ...fault, retryAfterMs: 9e6 }, true],
])(
  "if a request fails because of %s, the error is reported as one that affects %s",
  (_, affected, failure, severalEndpointsFailed) => {
    const error = createFailureError(failure, "/orders", 0, {
      attempts: 2,
      elapsedMs: 0,
      failureScope: severalEndpointsFailed ? "outage" : "resource",
    });
    const failureScope = affected === "all requests" ? "outage" : "resource";
    expect(error).toMatchObject({ exitCode: 6, failureScope });
  },
);

it.each([
  [
    "2 minutes",
    "waiting until the delay ends, or using `--max-wait 30m`",
    120_000,
    /^try again after 2026-10-20 12:02 UTC, .*`--max-wait 30m`$/,
  ],
  [
    "30 minutes",
    "waiting until the delay ends, or using `--max-wait 31m`",
    30 * 60_000,
    /12:30 UTC, .*`--max-wait 31m`$/,
  ],
  [
    "61 minutes and 1 second",
    "waiting until the delay ends, or using `--max-wait 63m`",
    61 * 60_000 + 1_000,
    /13:01 UTC, .*`--max-wait 63m`$/,
  ],
  [
    "1 day",
    "waiting until the delay ends, or using `--max-wait 1441m`",
    86_400_000,
    /^try again after 2026-10-21 12:00 UTC, .*`--max-wait 1441m`$/,
  ],
  ["more than 1 day", "only trying again later", 86_400_001, /^try again later$/],
])("if the API requests a delay of %s, the hint suggests %s", (_delay, _suggestion, ms, hint) => {
  expect(createRetryAfterError(ms, Date.parse("2026-10-20T12:00:00Z")).hint).toMatch(hint);
});

it("an error caused by a bug in the program is not reported as a failed request", () => {
  expect(classifyError(new TypeError("x is not a function"), "h")).toBeNull();
  expect(classifyError("text", "h")).toBeNull();
  for (const code of ["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "ERR_INVALID_URL"])
    expect(classifyError(coded(code), "h")).toBeNull();
});

it("an error whose message contains the API key is not attached as the cause of the reported error", async () => {
  const fetch = () => Promise.reject(Object.assign(new Error(`header ${key}`), { code: "ECONNRESET" }));
  const api = testApi("https://api.test/api/brand/v1", { deps: { fetch } });
  const error = await rejection(api.get("/orders"));
  expect(error.name).toBe("ApiUnavailable");
  expect(error.cause).toBeUndefined();
});
