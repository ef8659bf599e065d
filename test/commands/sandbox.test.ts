import { expect, test } from "vitest";
import { scanCommandLine } from "../../src/cli/flags.js";
import { Stopped } from "../../src/errors.js";
import { runCommandLine } from "../../src/main.js";
import { until } from "../support/process.js";
import { testDeps } from "../support/program.js";

/** Starts `brandapi sandbox` at the given time, requests its orders, and stops it with SIGINT. */
async function readSandboxOrders(time: string): Promise<unknown[]> {
  const stop = new AbortController();
  const deps = testDeps({ clock: { now: () => Date.parse(time) }, signal: stop.signal });
  const exitCode = runCommandLine(scanCommandLine(["sandbox", "--orders", "30", "--json"]), deps);
  await until(() => deps.stdout.text.endsWith("\n"));
  const { baseUrl, key } = JSON.parse(deps.stdout.text) as { baseUrl: string; key: string };
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${baseUrl}/orders?per_page=100`, { headers });
  const { data } = (await response.json()) as { data: unknown[] };
  stop.abort(new Stopped("SIGINT"));
  expect(await exitCode).toBe(130);
  return data;
}

test("sandbox returns the same orders for the same seed after a restart on the same day", async () => {
  const morning = await readSandboxOrders("2026-11-21T06:17:05Z");
  expect(morning).toHaveLength(30);
  expect(await readSandboxOrders("2026-11-21T21:17:05Z")).toEqual(morning);
  expect(await readSandboxOrders("2026-11-22T06:17:05Z")).not.toEqual(morning);
});
