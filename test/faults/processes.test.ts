import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { spawnBrandapi, until } from "../support/process.js";
import { hour, noon, ordersBefore } from "../support/records.js";

/**
 * Serves a brand over real sockets.
 * @param until a promise that delays all responses after the first `responses`; by default, never resolves
 */
async function serveBrand(responses: number, until: Promise<void> = new Promise(() => {})) {
  const brand = makeBrand({ orders: ordersBefore(Date.now() - hour, 1_200, hour), now: Date.now() });
  const env = await brand.served((requests) => (requests > responses ? until : undefined));
  const start = (...argv: string[]) => spawnBrandapi(argv, { env, home: brand.home });
  return { brand, start };
}

test("a sync stops gracefully on SIGTERM, and the next sync resumes it", async () => {
  const { brand, start } = await serveBrand(8);
  const running = start("sync", "orders");
  await until(() => brand.servedCount() > 8);
  running.child.kill("SIGTERM");
  const ended = await running.ended;
  expect([ended.code, ended.signal], ended.err).toEqual([143, null]);
  expect(ended.err).toContain("everything read so far is kept");
  const stored = brand.mirrored().length;
  expect(stored).toBeGreaterThan(0);
  const next = await syncNext(brand);
  expect([next.code, brand.mirrored().length], next.err).toEqual([0, 1_200]);
  expect(next.requests.length, "the second sync starts over").toBeLessThan(
    12 - Math.floor(stored / 100) + 12,
  );
});

/** Syncs the orders in this process, with the test's clock set to the current time. */
async function syncNext(brand: TestBrand) {
  brand.pass(Date.now() - brand.now());
  return await brand.run("sync orders");
}

test("an interrupted sync --dry-run does not report that data was kept", async () => {
  const { brand, start } = await serveBrand(1);
  const running = start("sync", "--dry-run");
  await until(() => brand.servedCount() > 1);
  running.child.kill("SIGINT");
  const ended = await running.ended;
  expect([ended.code, ended.err]).toEqual([130, "brandapi: Stopped.\n  hint: run the same command again\n"]);
});

test("kill -9 leaves an intact mirror and no stale lock, and the next sync completes the mirror", async () => {
  const { brand, start } = await serveBrand(10);
  const running = start("sync", "orders");
  await until(() => brand.servedCount() > 10);
  running.child.kill("SIGKILL");
  await running.ended;
  expect((await brand.run("status")).code).toBe(0);
  expect(brand.sql("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  const next = await syncNext(brand);
  expect([next.code, brand.mirrored().length], next.err).toEqual([0, 1_200]);
});

test("during a sync, a second sync exits with code 9, sync --wait waits, and an export runs immediately", async () => {
  let finishFirst = () => {};
  const areOthersStarted = new Promise<void>((resolve) => {
    finishFirst = resolve;
  });
  const { brand, start } = await serveBrand(8, areOthersStarted);
  const first = start("sync", "orders");
  await until(() => brand.servedCount() > 8);
  const second = await start("sync", "orders").ended;
  expect(second.code).toBe(9);
  expect(second.err).toMatch(/hint: .*--wait/);
  const waiting = start("sync", "roster", "--wait");
  expect((await start("export", "orders", "--csv").ended).code).toBe(0);
  finishFirst();
  expect((await first.ended).code).toBe(0);
  expect((await waiting.ended).code).toBe(0);
});

test("sync exits with code 6 if nothing is listening at the base URL, or if the server does not use HTTP", async () => {
  const other = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" ? address?.port : 0;
  const brand = makeBrand({ now: noon });
  for (const where of [1, port]) {
    const env = { ...brand.env, BRANDAPI_BASE_URL: `http://127.0.0.1:${where}/api/brand/v1` };
    const { code, err } = await spawnBrandapi(["sync", "orders", "--max-wait", "0s"], {
      env,
      home: brand.home,
    }).ended;
    expect(code, err).toBe(6);
    expect(err).toMatch(/cannot be reached|unavailable/);
  }
  expect(existsSync(brand.db) && brand.mirrored().length > 0).toBe(false);
});
