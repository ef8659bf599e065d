import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createSandboxApi } from "../../src/sandbox/api.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import { noon } from "../support/records.js";
import { history } from "./support.js";

const headers = { authorization: `Bearer ${history.keys[0]?.secret}` };

async function serve(beforeResponse?: () => Promise<void> | void, port = 0) {
  const api = createSandboxApi({ brands: [history], now: () => noon });
  const { baseUrl, close } = await serveSandbox(api, port, beforeResponse);
  onTestFinished(close);
  return { api, baseUrl, close };
}

test("the sandbox's API and file host listen on different loopback ports, and signed URLs point to the file host", async () => {
  const { api, baseUrl } = await serve();
  const file = history.content.find(({ file_size_bytes }) => file_size_bytes !== null);
  const response = await fetch(baseUrl + file?.download_path, { headers });
  expect(response.headers.get("keep-alive")).toBe("timeout=90");
  const { data } = (await response.json()) as { data: { url: string } };
  expect(new URL(data.url).origin).toBe(api.filesUrl);
  expect(new URL(baseUrl)).toMatchObject({ hostname: "127.0.0.1", pathname: "/api/brand/v1" });
  expect(api.filesUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(new URL(baseUrl).origin).not.toBe(api.filesUrl);
  expect((await (await fetch(data.url)).arrayBuffer()).byteLength).toBe(file?.file_size_bytes);
});

test("the sandbox responds to a HEAD request with the headers of a GET request, but no body", async () => {
  const { baseUrl } = await serve();
  const [get, head] = await Promise.all(
    ["GET", "HEAD"].map((method) => fetch(`${baseUrl}/me`, { method, headers })),
  );
  const body = await get?.text();
  expect([head?.headers.get("content-length"), await head?.text()]).toEqual([String(body?.length), ""]);
  const blocked = history.keys[4]?.secret;
  const rejected = await fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${blocked}` } });
  expect(rejected.status).toBe(403);
});

test("the sandbox waits for a callback before each response, and sends no response if the callback fails", async () => {
  const calls: string[] = [];
  const { baseUrl } = await serve(async () => {
    calls.push("called");
    await new Promise((resolve) => setTimeout(resolve, 20));
    calls.push("finished");
    if (calls.length > 2) throw new Error("stopped");
  });
  expect((await fetch(`${baseUrl}/me`, { headers })).status).toBe(200);
  expect(calls).toEqual(["called", "finished"]);
  await expect(fetch(`${baseUrl}/me`, { headers })).rejects.toThrow();
});

test("closing the sandbox stops the API and the file host, even if clients keep connections open", async () => {
  const { api, baseUrl, close } = await serve();
  const requestBoth = () => Promise.allSettled([fetch(`${baseUrl}/me`), fetch(`${api.filesUrl}/files`)]);
  expect((await requestBoth()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  await close();
  expect((await requestBoth()).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("starting the sandbox on a port that is in use fails", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  await expect(serve(undefined, (other.address() as AddressInfo).port)).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
});
