import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it, onTestFinished, vi } from "vitest";
import { classifyError } from "../../src/api/request-errors.js";
import { createFetch } from "../../src/api/transport.js";
import type { Env } from "../../src/deps.js";
import { freePort, rejection, sendJson, serve, serveBytes } from "./support.js";

async function serveProxy(status = 502) {
  const received: string[] = [];
  const proxy = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    received.push(`CONNECT ${request.url}`);
    socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  return { received, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

it("http requests are sent without the configured proxy, because the proxy could read the API key", async () => {
  const proxy = await serveProxy();
  const server = await serve((_request, response) => sendJson(response, "{}"));
  for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]) {
    process.env[name] = proxy.url;
    onTestFinished(() => {
      delete process.env[name];
    });
  }
  const fetch = createFetch({ HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url });
  expect((await fetch(`${server.baseUrl}/me`)).status).toBe(200);
  expect(proxy.received).toEqual([]);
});

it("https requests honor HTTPS_PROXY and NO_PROXY unless the lowercase variables are set", async () => {
  const proxy = await serveProxy();
  const host = `127.0.0.1:${await freePort()}`;
  const isProxied = async (env: Env) => {
    const before = proxy.received.length;
    const error = await rejection(createFetch(env)(`https://${host}/me`));
    expect(error.name).not.toBe("ConfigurationError");
    return proxy.received.length > before;
  };
  expect(await isProxied({ HTTPS_PROXY: proxy.url })).toBe(true);
  expect(proxy.received).toEqual([`CONNECT ${host}`]);
  expect(await isProxied({ HTTPS_PROXY: proxy.url.slice("http://".length) })).toBe(true);
  expect(await isProxied({ https_proxy: proxy.url, HTTPS_PROXY: "http://127.0.0.1:1" })).toBe(true);
  expect(await isProxied({ https_proxy: "", HTTPS_PROXY: proxy.url })).toBe(false);
  expect(await isProxied({ HTTPS_PROXY: proxy.url, NO_PROXY: "other.test,127.0.0.1" })).toBe(false);
  expect(await isProxied({ HTTPS_PROXY: proxy.url, no_proxy: "127.0.0.1", NO_PROXY: "other.test" })).toBe(
    false,
  );
  expect(await isProxied({ HTTPS_PROXY: proxy.url, no_proxy: "", NO_PROXY: "127.0.0.1" })).toBe(true);
});

it.each([
  [407, "permanent", /the proxy refused the connection to api.test \(HTTP 407\)/],
  [502, "network", /proxy .* \(HTTP 502\)/],
])(
  "the error for an API request names the proxy as the cause if the proxy returns HTTP %i",
  async (status, kind, reason) => {
    const proxy = await serveProxy(status);
    const error = await rejection(createFetch({ HTTPS_PROXY: proxy.url })("https://api.test/me"));
    expect(classifyError(error, "api.test")).toMatchObject({ kind, reason: expect.stringMatching(reason) });
  },
);

it("the error for an API request names the proxy as the cause if the proxy closes the connection", async () => {
  const proxy = createServer().on("connect", (_request, socket) => socket.destroy());
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const error = await rejection(createFetch({ HTTPS_PROXY: url })("https://api.test/me"));
  expect(classifyError(error, "api.test")).toMatchObject({
    kind: "network",
    reason: expect.stringMatching(
      /^the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) closed the connection to api\.test$/,
    ),
    cannotConnect: true,
  });
});

it.each([
  [
    "at localhost",
    "http://localhost:",
    /^cannot connect to the proxy localhost:\d+ \(HTTPS_PROXY\): connection refused$/,
  ],
  [
    "with a password",
    "http://user:secret@127.0.0.1:",
    /^cannot connect to the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\)/,
  ],
])(
  "if a proxy %s is not running, the error names the proxy and the variable HTTPS_PROXY",
  async (_, url, reason) => {
    const error = await rejection(
      createFetch({ HTTPS_PROXY: url + (await freePort()) })("https://api.test/me"),
    );
    expect(classifyError(error, "api.test")).toMatchObject({
      kind: "network",
      reason: expect.stringMatching(reason),
      cannotConnect: true,
    });
  },
);

it("the error for an unreachable host in NO_PROXY names the host, not the proxy", async () => {
  const direct = createFetch({ HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" });
  const error = await rejection(direct(`https://127.0.0.1:${await freePort()}/me`));
  expect(classifyError(error, "api.test")).toMatchObject({
    reason: expect.stringMatching(/api\.test.*connection refused/),
  });
});

it.each(["user:password@", "socks5://127.0.0.1:1"])(
  "https requests fail if HTTPS_PROXY is the invalid URL %s, but http requests succeed",
  async (value) => {
    const server = await serve((_request, response) => sendJson(response, "{}"));
    const fetch = createFetch({ HTTPS_PROXY: value });
    expect((await fetch(`${server.baseUrl}/me`)).status).toBe(200);
    const error = await rejection(fetch("https://api.test/me"));
    expect(error).toMatchObject({ name: "ConfigurationError", exitCode: 3 });
    expect(error.message).toContain("HTTPS_PROXY is not the URL");
  },
);

it("if the TLS handshake fails after a proxy has accepted the connection, the error names the API's host", async () => {
  const proxy = createServer().on("connect", (_request, socket) => {
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    socket.once("data", () => socket.end("220 mail.test ESMTP\r\n"));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const error = await rejection(createFetch({ HTTPS_PROXY: url })("https://api.test/me"));
  expect(classifyError(error, "api.test")).toMatchObject({
    kind: "permanent",
    reason: "the TLS handshake with api.test failed",
  });
});

it.each(["http:", "https:"])("HTTPS_PROXY accepts a URL that starts with %s", async (protocol) => {
  const fetch = createFetch({ HTTPS_PROXY: `${protocol}//127.0.0.1:${await freePort()}` });
  const error = await rejection(fetch("https://api.test/me"));
  expect(classifyError(error, "api.test")).toMatchObject({ kind: "network" });
});

it.each([
  ["gzip", "decompressed", gzipSync],
  ["X-GZIP", "decompressed", gzipSync],
  ["deflate", "decompressed", deflateSync],
  ["BR", "decompressed", brotliCompressSync],
  ["gzip", "decompressed even if its checksum is missing", (text: string) => gzipSync(text).subarray(0, -8)],
  ["aws-chunked", "not changed", (text: string) => text],
])("a response body with Content-Encoding: %s is %s", async (coding, _, pack) => {
  const server = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": coding }).end(pack("text")),
  );
  const { body } = await createFetch({})(server.baseUrl);
  expect(await text(body ?? Readable.from([]))).toBe("text");
  expect(server.requests[0]?.headers).toMatchObject({ "accept-encoding": "gzip", "user-agent": "brandapi" });
});

it.each([
  ["reset", "an uncompressed", "x-coding: none"],
  ["reset", "a gzip-compressed", "content-encoding: gzip"],
  ["reset", "a brotli-compressed", "content-encoding: br"],
  ["aborted", "an uncompressed", "x-coding: none"],
  ["aborted", "a gzip-compressed", "content-encoding: gzip"],
])("no unhandled error occurs if a request is %s before %s response body is read", async (end, _, coding) => {
  const server = await serveBytes((socket) => {
    socket.write(`HTTP/1.1 503 No\r\n${coding}\r\nx: 1\r\nx:  2 \t \r\ncontent-length: 9\r\n\r\nx`);
    if (end === "reset") setTimeout(() => socket.resetAndDestroy(), 20);
  });
  const stop = new AbortController();
  const { status, headers } = await createFetch({})(server.baseUrl, { signal: stop.signal });
  expect([status, headers.get("x"), headers.get("y")]).toEqual([503, "1, 2", null]);
  if (end === "aborted") stop.abort(new Error("not needed"));
  // Waits for a possible unhandled error, which would make Vitest fail the test.
  await sleep(60);
});

it("the program waits at most 10 seconds for a connection, and 60 seconds for a response or for the next part of its body", async () => {
  const options: object[] = [];
  vi.resetModules();
  vi.doMock("undici", async (original) => {
    const undici = await original<typeof import("undici")>();
    class EnvHttpProxyAgent extends undici.EnvHttpProxyAgent {
      constructor(given: object) {
        super(given);
        options.push(given);
      }
    }
    return { ...undici, EnvHttpProxyAgent };
  });
  onTestFinished(() => void vi.doUnmock("undici"));
  (await import("../../src/api/transport.js")).createFetch({});
  expect(options).toMatchObject([
    { connect: { timeout: 10_000 }, headersTimeout: 60_000, bodyTimeout: 60_000 },
  ]);
});

it("the undici package is loaded only by the module that sends requests, so that `--help` starts fast", async () => {
  let loaded = false;
  vi.resetModules();
  vi.doMock("undici", async (original) => {
    loaded = true;
    return original();
  });
  onTestFinished(() => void vi.doUnmock("undici"));
  await import("../../src/main.js");
  await import("../../src/api/client.js");
  expect(loaded).toBe(false);
  await import("../../src/api/transport.js");
  expect(loaded).toBe(true);
});
