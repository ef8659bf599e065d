import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createFetch } from "../../src/api/transport.js";
import { makeHome } from "../support/home.js";
import type { Fault } from "../support/old-sandbox/index.js";
import { expectSeen, jumpingClock, meetFault, runAt, sharedSandbox } from "./matrix.js";

const faults: [name: string, fault: Fault, says: RegExp, code?: number][] = [
  [
    "the connection is reset before the answer",
    { kind: "reset", when: "before" },
    /unavailable: .*closed|reset|broke off/,
  ],
  [
    "the connection is reset in the middle of the body",
    { kind: "reset", when: "body" },
    /closed|reset|broke off|cut short/,
  ],
  [
    "the body is shorter than its length says",
    { kind: "wrong-length", by: 40 },
    /closed|cut short|broke off/,
  ],
  ["the body is cut, with a length that agrees", { kind: "truncated" }, /cut short or damaged/, 7],
  [
    "the body is longer than its length says",
    { kind: "wrong-length", by: -40 },
    /cut short or damaged|closed|unreadable/,
    7,
  ],
  ["a captive portal answers in the API's place", { kind: "html" }, /web page, not JSON/, 7],
  ["a proxy answers 502", { kind: "status", status: 502 }, /502, bad gateway/],
  [
    "a proxy answers 504 with HTML",
    { kind: "status", status: 504, body: "<h1>504</h1>" },
    /504, gateway time-out/,
  ],
  ["a proxy answers 408", { kind: "status", status: 408 }, /408, request time-out/],
  ["the API answers 500", { kind: "status", status: 500 }, /500, a fault of the server/],
  ["the API answers 503", { kind: "status", status: 503 }, /503, briefly unavailable/],
];

test.each(faults)("%s, on the second page, once: the sync goes on and is complete", async (_, fault) => {
  const result = await meetFault(
    (count) => (count === 2 ? fault : undefined),
    { code: 0 },
    {
      command: "sync orders",
      clock: jumpingClock().clock,
    },
  );
  expect(result.err).toMatch(/1 retries|1 retry/);
});

test.each(faults)(
  "%s, always: it is said what happened, and what came before is kept",
  async (_, fault, says, code = 6) => {
    await meetFault((count) => (count >= 3 ? fault : undefined), { code, says });
  },
);

test.each([
  ["no answer comes", { kind: "stall", when: "before" }, /no answer came in time/],
  ["the body stalls half-way", { kind: "stall", when: "body" }, /the answer stalled/],
] as const)("%s: it is given up, not waited for for ever", async (_, fault, says) => {
  const fetch = createFetch({}, { connectMs: 500, headersMs: 500, bodyMs: 500 });
  await meetFault((count) => (count === 3 ? fault : undefined), { code: 6, says }, { fetch });
});

test("nobody listens at the address: connection refused, in words", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const result = await runAt(sandbox, home, "sync orders --max-wait 0s", {
    env: { BRANDAPI_BASE_URL: `http://127.0.0.1:${port}/api/brand/v1` },
  });
  expectSeen(result, { code: 6, says: /connection refused[\s\S]*hint: check the network/ }, [sandbox.key]);
});

test("a server that takes the connection and says nothing in HTTP", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end("SSH-2.0-OpenSSH_9.6\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const sandbox = await sharedSandbox();
  const home = makeHome();
  const result = await runAt(sandbox, home, "whoami --max-wait 0s", {
    env: { BRANDAPI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/brand/v1` },
  });
  expectSeen(result, { code: 6, says: /broke off|closed|not HTTP/ }, [sandbox.key]);
});

test("https where plain http is spoken", async () => {
  const sandbox = await sharedSandbox();
  const result = await runAt(sandbox, makeHome(), "whoami --max-wait 0s", {
    env: { BRANDAPI_BASE_URL: sandbox.baseUrl.replace("http:", "https:") },
  });
  expectSeen(result, { code: 6, says: /TLS/ }, [sandbox.key]);
});

/** What `fetch` throws, for what loopback cannot do. */
function failing(code: string, message = code) {
  return async () => {
    throw new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });
  };
}

test.each([
  ["the name is unknown", "ENOTFOUND", /name is unknown \(DNS\)/],
  ["the name server is away", "EAI_AGAIN", /could not be looked up \(DNS\)/],
  ["the laptop has no network", "ENETUNREACH", /network cannot be reached/],
  ["the host is down", "EHOSTUNREACH", /host cannot be reached/],
  ["the connection takes too long", "UND_ERR_CONNECT_TIMEOUT", /timed out while connecting/],
  ["a firewall swallows the connection", "ETIMEDOUT", /timed out/],
  ["the certificate is self-signed", "DEPTH_ZERO_SELF_SIGNED_CERT", /certificate[\s\S]*NODE_EXTRA_CA_CERTS/],
  ["the certificate has expired", "CERT_HAS_EXPIRED", /certificate/],
  ["the certificate is another host's", "ERR_TLS_CERT_ALTNAME_INVALID", /certificate/],
  ["the company's own certificate authority is unknown", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /certificate/],
  ["too many files are open for a connection", "EMFILE", /too many open files/],
])("%s: exit 6, in words", async (_, code, says) => {
  const sandbox = await sharedSandbox();
  const result = await runAt(sandbox, makeHome(), "sync orders --max-wait 0s", { fetch: failing(code) });
  expectSeen(result, { code: 6, says }, [sandbox.key]);
});

test("an error that quotes the key does not reach the person, not even with --verbose", async () => {
  const sandbox = await sharedSandbox();
  const fetch = failing("ECONNRESET", `could not send "authorization: Bearer ${sandbox.key}"`);
  const result = await runAt(sandbox, makeHome(), "whoami --max-wait 0s --verbose", { fetch });
  expect(result.code).toBe(6);
  expect(result.out + result.err).not.toContain(sandbox.key);
});

test("the network is away for four minutes: the sync waits, and is complete", async () => {
  const { clock, state } = jumpingClock();
  let from: number | undefined;
  await meetFault(
    (count) => {
      if (count === 2) from = state.waited;
      return from !== undefined && state.waited - from < 240_000
        ? { kind: "reset", when: "before" }
        : undefined;
    },
    { code: 0 },
    { command: "sync orders", clock },
  );
});

test("the network is away for longer than --max-wait: exit 6, and the next run goes on", async () => {
  const { clock } = jumpingClock();
  await meetFault(
    (count) => (count > 2 ? { kind: "reset", when: "before" } : undefined),
    { code: 6, says: /tried \d+ times in \d/ },
    { command: "sync orders --max-wait 2m", clock },
  );
});
