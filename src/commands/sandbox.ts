import { Command } from "commander";
import { ConfigurationError, Stopped, UsageError } from "../errors.js";
import { sandboxChoices } from "../sandbox/choices.js";
import { printJson } from "../ui/data.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed, parseRateLimit } from "./flags.js";
import { examples, notes } from "./help.js";
import { parseCount } from "./values.js";

interface SandboxFlags extends GlobalOptions {
  port?: number;
  seed?: number;
  orders?: number;
  rateLimit?: number | "none";
  latency?: number;
  live?: boolean;
}

const defaultOrders = 5_000;

export function sandbox(context: Context): Command {
  return new Command("sandbox")
    .summary("Serve the whole documented API on this machine, with made-up data")
    .description(
      "Enforces every rule of the API's document. Prints a base URL and a key, and serves until Ctrl-C.",
    )
    .addOption(parsed("--port <n>", "the port; 0: any free one (default: 0)", parsePort))
    .addOption(
      parsed("--seed <n>", "the same data for the same number on the same day (UTC; default: 1)", parseCount),
    )
    .addOption(parsed("--orders <n>", "how many orders (default: 5000)", parseCount))
    .addOption(
      parsed("--rate-limit <n>", "requests a minute for a key, or `none` (default: 60)", parseRateLimit),
    )
    .addOption(parsed("--latency <ms>", "wait this long before each answer (default: 0)", parseCount))
    .option("--live", "let time pass: an order a second, late refunds, cancellations")
    .addHelpText(
      "after",
      notes("Where the document says nothing, or leaves a choice, this sandbox chose", sandboxChoices),
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi sandbox --port 4010", "try anything against it, in another terminal"],
        ["brandapi sandbox --orders 1000000 --rate-limit none --json", "a big one, for scripts"],
      ),
    )
    .action((_, command: Command) => runSandbox(command.optsWithGlobals(), context));
}

async function runSandbox(options: SandboxFlags, context: Context): Promise<void> {
  const { deps } = context;
  const { startSandbox } = await import("../sandbox/index.js");
  const box = await startSandbox(
    {
      port: options.port ?? 0,
      seed: options.seed ?? 1,
      orders: options.orders ?? defaultOrders,
      rateLimit: options.rateLimit === "none" ? null : (options.rateLimit ?? 60),
      latencyMs: options.latency ?? 0,
      live: options.live ?? false,
      wholeDays: true,
      pace: paceFor(options.orders ?? defaultOrders),
    },
    deps,
  ).catch((error: unknown) => {
    throw isTaken(error) ? portTaken(options.port ?? 0) : error;
  });
  const { baseUrl, key, keys } = box;
  if (options.json) printJson(deps.stdout, { baseUrl, key });
  else {
    const others = Object.values(keys).map(({ secret, name, note }) => `  ${secret}  ${name}: ${note}`);
    deps.stdout.write(
      `${[`The sandbox listens. In another terminal:`, "", `export BRANDAPI_BASE_URL=${baseUrl}`, `export BRANDAPI_KEY=${key}`, `brandapi whoami`, "", "Every key:", ...others].join("\n")}\n`,
    );
  }
  await new Promise<void>((resolve) => {
    if (deps.signal.aborted) resolve();
    deps.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await box.close();
  // A sandbox is meant to be ended: that is no error.
  if (deps.signal.reason instanceof Stopped) context.exitCode = deps.signal.reason.exitCode;
}

/** How much faster than in life things happen with `--live`, so that somebody who watches sees an order a second. */
function paceFor(orders: number): number {
  const perDay = ((4 / 3) * Math.max(orders, 1)) / 730;
  return Math.max(1, 86_400 / perDay);
}

function parsePort(text: string): number {
  const port = parseCount(text);
  if (port <= 65_535) return port;
  throw new UsageError(`Not a port: \`${text}\`.`, { hint: "ports end at 65535; 0 is any free one" });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

function portTaken(port: number): ConfigurationError {
  return new ConfigurationError(`Port ${port} is taken by another program.`, {
    hint: "leave `--port` out to get any free one",
  });
}
