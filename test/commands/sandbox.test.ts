import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { scanCommandLine } from "../../src/cli/command-line.js";
import type { Clock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { runCommandLine } from "../../src/main.js";
import { until } from "../support/process.js";
import { testDeps } from "../support/program.js";

interface Order {
  id: string;
}

/** Starts `brandapi sandbox`, and stops it with SIGINT when `stop` is called or the test ends. */
async function startSandbox(flags: string, clock: Partial<Clock>, pastOrders = 30) {
  const signals = new AbortController();
  const deps = testDeps({ clock, signal: signals.signal });
  const argv = ["sandbox", "--orders", String(pastOrders), ...flags.split(" ").filter(Boolean)];
  const ended = runCommandLine(scanCommandLine(argv), deps);
  const stop = async () => {
    signals.abort(new Stopped("SIGINT"));
    return await ended;
  };
  onTestFinished(async () => void (await stop()));
  await until(() => deps.stdout.text.endsWith("\n"));
  const out = deps.stdout.text;
  const [, baseUrl = ""] = /(http:[^\s"]+)/.exec(out) ?? [];
  const keys = out.match(/brk_sandbox_\w+/g) ?? [];
  const get = async (path: string, key = keys[0]) => {
    const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
    const json = (await response.json()) as { data: unknown; pagination?: { total_items: number } };
    return { headers: response.headers, data: json.data, total: json.pagination?.total_items ?? 0 };
  };
  const orders = async () => (await get("/orders?per_page=100")).data as Order[];
  return { out, keys, get, orders, stop };
}

async function readOrdersAt(time: string): Promise<Order[]> {
  const { orders, stop } = await startSandbox("--json", { now: () => Date.parse(time) });
  const result = await orders();
  expect(await stop()).toBe(130);
  await expect(orders()).rejects.toThrow();
  return result;
}

test("sandbox returns the same orders for the same seed after a restart on the same day", async () => {
  const morning = await readOrdersAt("2026-11-21T06:17:05Z");
  expect(morning).toHaveLength(30);
  expect(await readOrdersAt("2026-11-21T21:17:05Z")).toEqual(morning);
  expect(await readOrdersAt("2026-11-22T06:17:05Z")).not.toEqual(morning);
});

const now = () => Date.parse("2026-11-21T12:00:00Z");

test("sandbox prints several keys, and the last key belongs to a different brand", async () => {
  const { out, keys, get } = await startSandbox("", { now });
  expect(out).toContain(`export BRANDAPI_KEY=${keys[0]}\n`);
  expect(out).toContain("  all: all scopes\n");
  expect((await get("/me")).data).toMatchObject({ brand: { name: "Fjell & Fern" } });
  const last = keys.at(-1);
  expect((await get("/me", last)).data).toMatchObject({ brand: { name: "Basalt Cycling" } });
  const [own, other] = [await get("/orders?per_page=100"), await get("/orders?per_page=100", last)];
  expect(other.data).not.toEqual(own.data);
});

test.each([
  ["without options", "limits each key to 60 requests per minute", "", "60"],
  ["with --rate-limit 7", "limits each key to 7 requests per minute", "--rate-limit 7", "7"],
  ["with --rate-limit none", "does not limit the request rate", "--rate-limit none", null],
])("sandbox %s %s", async (_, _limit, flag, limit) => {
  const { get } = await startSandbox(`--json ${flag}`, { now });
  expect((await get("/me")).headers.get("x-ratelimit-limit")).toBe(limit);
});

test("sandbox sends each response after the delay given by --latency", async () => {
  const events: unknown[] = [];
  const { get } = await startSandbox("--json --latency 5000", {
    now,
    async sleep(ms) {
      await sleep(30);
      events.push(ms);
    },
  });
  await get("/me");
  events.push("response");
  expect(events).toEqual([5_000, "response"]);
});

test.each([0, 30])(
  "sandbox --live, started with %i past orders, adds about 60 orders in one minute and 40 files in ten minutes",
  async (pastOrders) => {
    let time = now();
    const { get, orders } = await startSandbox("--json --live", { now: () => time }, pastOrders);
    expect(await orders()).toHaveLength(pastOrders);
    const files = (await get("/content")).total;
    time += 60_000;
    const after = await orders();
    expect(after.length - pastOrders).toBeGreaterThan(40);
    expect(after.length - pastOrders).toBeLessThan(70);
    expect(await orders()).toEqual(after);
    time += 540_000;
    const added = (await get("/content")).total - files;
    expect(added).toBeGreaterThan(20);
    expect(added).toBeLessThan(60);
  },
);

test("sandbox without --live returns the same orders at any time", async () => {
  let time = now();
  const { orders } = await startSandbox("--json", { now: () => time });
  const before = await orders();
  time += 60_000;
  expect(await orders()).toEqual(before);
});
