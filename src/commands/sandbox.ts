import { once } from "node:events";
import type { Command } from "commander";
import { createCountParser, parseCount, parsedOption } from "../cli/flags.js";
import { ordersOption, seedOption } from "../cli/sandbox-flags.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context } from "../deps.js";
import { type ExitCode, exitCodes, Stopped } from "../errors.js";
import { naturalPace, simulateActivity } from "../sandbox/activity.js";
import { createSandboxApi, undocumentedChoices } from "../sandbox/api.js";
import { createBrand } from "../sandbox/brand.js";
import { serveSandbox } from "../sandbox/server.js";
import { printJson } from "../util/terminal.js";
import { dayMs } from "../util/timestamps.js";

interface SandboxFlags extends GlobalFlags {
  port?: number;
  seed?: number;
  orders?: number;
  latency?: number;
  live?: boolean;
}

export const about =
  "Prints a base URL and a key, and serves requests until you press Ctrl-C. Enforces every rule in the API documentation. " +
  "`--rate-limit` sets the number of requests per minute for each key (default: 60; `none` for no limit).\n\n" +
  `Where the API documentation is ambiguous, the sandbox behaves as follows:\n${undocumentedChoices.map((choice) => `- ${choice}`).join("\n")}`;

export const examples = {
  "brandapi sandbox --port 4010": "serve on a fixed port, so that other terminals can use it",
  "brandapi sandbox --orders 100000 --rate-limit none --json":
    "serve a large data set with no rate limit, and print JSON for scripts",
};

export function define(command: Command): void {
  command
    .addOption(
      parsedOption(
        "--port <n>",
        "port to listen on; 0 for any free port (default: 0)",
        createCountParser(65_535),
      ),
    )
    .addOption(ordersOption())
    .addOption(seedOption())
    .addOption(
      parsedOption("--latency <ms>", "delay before each response, in milliseconds (default: 0)", parseCount),
    )
    .option("--live", "let time pass: one new order per second, with late refunds and cancellations");
}

export async function run(flags: SandboxFlags, { deps }: Context): Promise<ExitCode> {
  const { seed = 1, orders = 5_000, port = 0, latency = 0, live, rateLimit = 60 } = flags;
  const { clock, signal, stdout } = deps;
  let lastRequestAt = clock.now();
  // The generated data ends at midnight, so that a sandbox restarted on the same day serves the same records.
  const generated = { seed, orders, now: Math.floor(lastRequestAt / dayMs) * dayMs };
  const brand = createBrand(generated);
  const otherBrand = createBrand({ ...generated, seed: seed + 7_919, orders: 150, name: "Basalt Cycling" });
  const api = createSandboxApi({
    brands: [brand, otherBrand],
    now: clock.now,
    monotonic: clock.monotonic,
    rateLimit: rateLimit === "none" ? null : rateLimit,
  });
  // Choose the speed that results in one new order per second. The fewer orders the brand has, the higher this speed
  // is. Below 5,000 orders, do not increase it further, because it would cause thousands of other events per second.
  const speed = 3_600 / naturalPace(Math.max(orders, 5_000)).ordersPerHour;
  const pace = { ordersPerHour: 3_600, speed };
  const { baseUrl, close } = await serveSandbox(api, port, async () => {
    if (latency > 0) await clock.sleep(latency, signal);
    if (live) simulateActivity(brand, lastRequestAt, clock.now(), pace);
    lastRequestAt = clock.now();
  });
  const key = brand.keys[0]?.secret ?? "";
  const otherKey = otherBrand.keys[0]?.secret;
  const lines = [
    "The sandbox is running. In another terminal, run:",
    "",
    `export BRANDAPI_BASE_URL=${baseUrl}`,
    `export BRANDAPI_KEY=${key}`,
    "brandapi whoami",
    "",
    "All keys:",
    ...brand.keys.map(({ secret, name, note }) => `  ${secret}  ${name}: ${note}`),
    `  ${otherKey}  other-brand: all scopes, a different brand`,
  ];
  if (flags.json) printJson(stdout, { baseUrl, key });
  else stdout.write(`${lines.join("\n")}\n`);
  try {
    return await deps.runGracefully(async () => {
      if (!signal.aborted) await once(signal, "abort");
      return exitCodes.done;
    });
  } catch (error) {
    // Ctrl-C is the normal way to stop the sandbox, so no error is printed.
    if (error instanceof Stopped) return error.exitCode;
    throw error;
  } finally {
    await close();
  }
}
