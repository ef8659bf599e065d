import { get, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Fault, type Sandbox, startSandbox } from "../../src/sandbox/index.js";
import { ask, askAll, handClock, sandboxOf } from "./support.js";

/** A raw request: what arrived before the end, and whether the end was a clean one. */
function raw(sandbox: Sandbox, stopAfter = Number.POSITIVE_INFINITY) {
  return new Promise<{
    status: number | undefined;
    headers: IncomingMessage["headers"];
    body: Buffer;
    clean: boolean;
  }>((resolve) => {
    const request = get(
      `${sandbox.baseUrl}/orders`,
      { headers: { authorization: `Bearer ${sandbox.key}` }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const done = () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            body: Buffer.concat(chunks),
            clean: response.complete,
          });
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > stopAfter) request.destroy();
        });
        response.on("error", () => {});
        response.on("close", done);
      },
    );
    request.on("error", () =>
      resolve({ status: undefined, headers: {}, body: Buffer.alloc(0), clean: false }),
    );
  });
}

async function faulty(fault: Fault): Promise<Sandbox> {
  const sandbox = await sandboxOf();
  sandbox.intercept = () => fault;
  return sandbox;
}

describe("faults on purpose", () => {
  test("an intercept sees path, query and count, may change data in the middle of a list, and may do nothing", async () => {
    const sandbox = await sandboxOf();
    const seen: unknown[] = [];
    sandbox.intercept = ({ path, query, count }) => {
      seen.push([path, query.get("page"), count]);
      if (count === 2) sandbox.events.newOrder(sandbox.now());
    };
    const walked = await askAll(sandbox, "/orders");
    expect(seen.slice(0, 2)).toEqual([
      ["/orders", "1", 1],
      ["/orders", "2", 2],
    ]);
    // One was inserted in front while the list was being read: the last of page 1 came again.
    expect(walked[100]).toEqual(walked[99]);
    expect(sandbox.log.map(({ status, key, method }) => `${method} ${status} ${key}`)).toEqual(
      seen.map(() => "GET 200 all"),
    );
    sandbox.intercept = undefined;
    expect((await ask(sandbox, "/orders?per_page=100")).json.pagination.total_items).toBe(401);
  });

  test("an intercept that throws answers 500 and says so", async () => {
    const sandbox = await sandboxOf();
    sandbox.intercept = () => {
      throw new Error("oh");
    };
    const { status, text } = await ask(sandbox, "/me");
    expect([status, text.includes("oh")]).toEqual([500, true]);
  });

  test("answers can be replaced: a status, HTML, raw bytes, a changed envelope, broken or deep JSON", async () => {
    const teapot = await ask(
      await faulty({ kind: "status", status: 503, headers: { "retry-after": "2" }, body: "busy" }),
      "/me",
    );
    expect([teapot.status, teapot.headers.get("retry-after"), teapot.text]).toEqual([503, "2", "busy"]);
    const portal = await ask(await faulty({ kind: "html" }), "/me");
    expect([
      portal.status,
      portal.headers.get("content-type"),
      portal.text.startsWith("<!doctype html>"),
    ]).toEqual([200, "text/html", true]);
    expect((await raw(await faulty({ kind: "raw", body: Buffer.from([0xff, 0xfe]) }))).body).toEqual(
      Buffer.from([0xff, 0xfe]),
    );
    const changed = await ask(
      await faulty({ kind: "envelope", change: (envelope) => ({ ...envelope, success: false }) }),
      "/me",
    );
    expect([changed.status, changed.json.success, typeof changed.json.data]).toEqual([200, false, "object"]);
    const cut = await raw(await faulty({ kind: "truncated", bytes: 40 }));
    expect([cut.status, cut.body.length, cut.clean]).toEqual([200, 40, true]);
    const deep = await ask(await faulty({ kind: "deep", depth: 500 }), "/me");
    expect(deep.text).toContain("[".repeat(500));
  });

  test("connections can be cut, before the answer and in its body, and lengths can lie", async () => {
    expect((await raw(await faulty({ kind: "reset", when: "before" }))).status).toBeUndefined();
    const inBody = await raw(await faulty({ kind: "reset", when: "body" }));
    expect([inBody.status, inBody.clean, inBody.body.length > 1000]).toEqual([200, false, true]);
    const long = await raw(await faulty({ kind: "wrong-length", by: 10 }));
    expect([long.clean, Number(long.headers["content-length"]) - long.body.length]).toEqual([false, 10]);
    const short = await raw(await faulty({ kind: "wrong-length", by: -10 }));
    // Bytes after the stated end are no answer to anything: the client gives up on the connection.
    expect(short.clean).toBe(false);
  });

  test("bodies can be huge, endless, or small and explosive", async () => {
    const huge = await raw(await faulty({ kind: "huge", bytes: 3_000_000 }));
    expect([huge.clean, huge.body.length >= 3_000_000]).toEqual([true, true]);
    const endless = await raw(await faulty({ kind: "huge", bytes: Number.POSITIVE_INFINITY }), 5_000_000);
    expect([endless.clean, endless.body.length > 5_000_000]).toEqual([false, true]);
    const bomb = await raw(await faulty({ kind: "gzip-bomb", bytes: 20_000_000 }));
    expect([bomb.headers["content-encoding"], bomb.body.length < 200_000]).toEqual(["gzip", true]);
    expect(gunzipSync(bomb.body).length).toBeGreaterThan(20_000_000);
  });

  test("a stalled answer does not keep the sandbox from closing", async () => {
    for (const when of ["before", "body"] as const) {
      const sandbox = await startSandbox({ rateLimit: null }, { clock: handClock() });
      sandbox.intercept = () => ({ kind: "stall", when });
      const waiting = raw(sandbox);
      while (sandbox.log.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await sandbox.close();
      expect((await waiting).clean).toBe(false);
    }
  });

  test("latency and a delay go through the clock", async () => {
    const slept: number[] = [];
    const clock = { ...handClock(), sleep: async (ms: number) => void slept.push(ms) };
    const sandbox = await sandboxOf({ latencyMs: 40 }, clock);
    await ask(sandbox, "/me");
    sandbox.intercept = () => ({ kind: "delay", ms: 5 });
    expect((await ask(sandbox, "/me")).status).toBe(200);
    expect(slept).toEqual([40, 45]);
  });

  test("after close, nobody answers, and a taken port is an error", async () => {
    const sandbox = await sandboxOf();
    const port = Number(new URL(sandbox.baseUrl).port);
    await expect(sandboxOf({ port })).rejects.toThrow(/EADDRINUSE/);
    await sandbox.close();
    await expect(fetch(`${sandbox.baseUrl}/me`)).rejects.toThrow();
    const again = await sandboxOf({ port });
    expect((await ask(again, "/me")).status).toBe(200);
  });

  test("a key can be revoked, renewed or lose its plan while running", async () => {
    const sandbox = await sandboxOf();
    sandbox.setKey("all", { plan: false });
    expect((await ask(sandbox, "/orders")).status).toBe(402);
    sandbox.setKey("all", { revoked: true });
    expect((await ask(sandbox, "/orders")).status).toBe(401);
    sandbox.setKey("expired", { expiresAt: sandbox.now() + 1e6 });
    expect((await ask(sandbox, "/orders", { key: sandbox.keys.expired.secret })).status).toBe(200);
  });
});
