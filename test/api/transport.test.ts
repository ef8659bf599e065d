import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it, onTestFinished, vi } from "vitest";
import { classifyError } from "../../src/api/request-failure.js";
import { createFetch } from "../../src/api/transport.js";
import { freePort, rejection, sendJson, serve, serveBytes } from "./support.js";

/** A proxy that notes what it is asked and lets nothing through. */
async function serveProxy(status = 502) {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  return { asked, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

it("plain http never goes through a proxy, whatever the environment says: the key would leak to it", async () => {
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
  expect(proxy.asked).toEqual([]);
});

it("https goes through HTTPS_PROXY, except to the hosts in NO_PROXY", async () => {
  const proxy = await serveProxy();
  await expect(createFetch({ HTTPS_PROXY: proxy.url })("https://api.test/me")).rejects.toThrow();
  expect(proxy.asked).toEqual(["CONNECT api.test:443"]);
  const direct = createFetch({ HTTPS_PROXY: proxy.url, NO_PROXY: "other.test,127.0.0.1" });
  await expect(direct(`https://127.0.0.1:${await freePort()}/me`)).rejects.toThrow();
  expect(proxy.asked).toHaveLength(1);
});

it.each([
  [407, "permanent", /the proxy on the way to api.test answered 407/],
  [502, "network", /proxy .* answered 502/],
])("a proxy that answers %i is named as the cause", async (status, kind, reason) => {
  const proxy = await serveProxy(status);
  const error = await rejection(createFetch({ HTTPS_PROXY: proxy.url })("https://api.test/me"));
  expect(classifyError(error, "api.test")).toMatchObject({ kind, reason: expect.stringMatching(reason) });
});

it.each(["user:password@", "socks5://127.0.0.1:1"])(
  "a proxy such as %s is the person's to mend, where it is needed",
  async (value) => {
    const server = await serve((_request, response) => sendJson(response, "{}"));
    const fetch = createFetch({ HTTPS_PROXY: value });
    expect((await fetch(`${server.baseUrl}/me`)).status).toBe(200);
    const error = await rejection(fetch("https://api.test/me"));
    expect(error).toMatchObject({ name: "ConfigurationError", exitCode: 3 });
    expect(error.message).toBe("HTTPS_PROXY is not the address of an http proxy.");
  },
);

it.each([
  ["gzip", gzipSync],
  ["X-GZIP", gzipSync],
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
  ["aws-chunked", (text: string) => text],
])("a body is decompressed: %s", async (coding, pack) => {
  const server = await serve((_request, response) =>
    response.writeHead(200, { "content-encoding": coding }).end(pack("text")),
  );
  const { body } = await createFetch({})(server.baseUrl);
  expect(await text(body ?? Readable.from([]))).toBe("text");
  expect(server.requests[0]?.headers["accept-encoding"]).toBe("gzip");
});

it.each([
  ["as it is", "x-coding: none", "reset"],
  ["compressed", "content-encoding: gzip", "reset"],
  ["compressed by br", "content-encoding: br", "reset"],
  ["as it is", "x-coding: none", "aborted"],
  ["compressed", "content-encoding: gzip", "aborted"],
])("an answer %s (%s) that nobody reads may break off: %s", async (_, coding, end) => {
  const server = await serveBytes((socket) => {
    socket.write(`HTTP/1.1 503 No\r\n${coding}\r\nx: 1\r\nx: 2\r\ncontent-length: 9\r\n\r\nx`);
    if (end === "reset") setTimeout(() => socket.resetAndDestroy(), 20);
  });
  const stop = new AbortController();
  const { status, headers } = await createFetch({})(server.baseUrl, { signal: stop.signal });
  expect([status, headers.get("x"), headers.get("y")]).toEqual([503, "1, 2", null]);
  if (end === "aborted") stop.abort(new Error("not wanted"));
  // An error that nobody hears would fail the test.
  await sleep(60);
});

it("undici is loaded with the transport only: `--help` must not pay for it", async () => {
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
