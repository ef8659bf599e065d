import { onTestFinished } from "vitest";
import { systemClock } from "../../src/deps.js";
import { type Sandbox, type SandboxOptions, startSandbox } from "./old-sandbox/index.js";
import type { ProgramOptions } from "./program.js";

/** The documented API on loopback, without a rate limit unless one is asked for; closed when the test is over. */
export async function sandboxForTest(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ rateLimit: null, orders: 300, ...options }, { clock: systemClock });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** The environment of someone who uses this sandbox, with its key of every scope or another. */
export function envFor(sandbox: Sandbox, key: string = sandbox.key): NonNullable<ProgramOptions["env"]> {
  return { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: key, BRANDAPI_RATE_LIMIT: "none" };
}
