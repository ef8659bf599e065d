import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import nock from "nock";
import { expect, it, onTestFinished, vi } from "vitest";
import { faultOf } from "../../src/api/faults.js";
import { createFetch } from "../../src/api/transport.js";
import { freePort, rejection, sendJson, serve } from "./support.js";

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
  expect(faultOf(error, "api.test")).toMatchObject({ kind, reason: expect.stringMatching(reason) });
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

it("nock still intercepts", async () => {
  nock("https://api.test").get("/me").reply(200, { mocked: true });
  expect(await (await createFetch({})("https://api.test/me")).json()).toEqual({ mocked: true });
});

it("undici is not loaded before the first request: `--help` must not pay for it", async () => {
  let loaded = false;
  vi.resetModules();
  vi.doMock("undici", async (original) => {
    loaded = true;
    return original();
  });
  onTestFinished(() => void vi.doUnmock("undici"));
  const fresh = await import("../../src/api/transport.js");
  await import("../../src/api/index.js");
  const fetch = fresh.createFetch({});
  expect(loaded).toBe(false);
  nock("https://api.test").get("/me").reply(200);
  await fetch("https://api.test/me");
  expect(loaded).toBe(true);
});
