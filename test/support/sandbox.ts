import { onTestFinished } from "vitest";
import { systemClock } from "../../src/deps.js";
import { createSandboxApi } from "../../src/sandbox/api.js";
import type { ApiKey } from "../../src/sandbox/brand.js";
import { createBrand } from "../../src/sandbox/data/brand-data.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import type { ProgramOptions } from "./program.js";

/** A sandbox API on loopback, for tests that start processes. */
export interface Sandbox {
  baseUrl: string;
  key: string;
  /** Returns the API key with this name. `other-brand` is the name of another brand's key. */
  secretOf(name: string): string;
  requests(): number;
  now(): number;
  /** Advances the clock. */
  advance(ms: number): void;
  setKey(name: string, change: Partial<ApiKey>): void;
}

export interface SandboxOptions {
  orders?: number;
  latencyMs?: number;
  /** The start time in milliseconds since 1970; by default, the system's time. */
  now?: number;
}

/** Serves a generated brand until the test ends. */
export async function sandboxForTest(options: SandboxOptions = {}): Promise<Sandbox> {
  const started = systemClock.monotonic();
  let start = options.now ?? systemClock.now();
  const now = () => Math.floor(start + systemClock.monotonic() - started);
  const brand = createBrand({ seed: 1, orders: options.orders ?? 300, now: start });
  const other = createBrand({ seed: 2, orders: 50, now: start, name: "Basalt Cycling" });
  let count = 0;
  const served = await serveSandbox(createSandboxApi({ brands: [brand, other], now }), 0, () => {
    count += 1;
    return options.latencyMs ? systemClock.sleep(options.latencyMs) : undefined;
  });
  onTestFinished(() => served.close());
  return {
    baseUrl: served.baseUrl,
    key: brand.keys[0]?.secret ?? "",
    secretOf(name) {
      const key = name === "other-brand" ? other.keys[0] : brand.keys.find((each) => each.name === name);
      if (!key) throw new RangeError(`Unknown key: ${name}`);
      return key.secret;
    },
    requests: () => count,
    now,
    advance(ms) {
      start += ms;
    },
    setKey(name, change) {
      brand.keys = brand.keys.map((key) => (key.name === name ? { ...key, ...change } : key));
    },
  };
}

/** Returns the environment for a program that uses this sandbox. */
export function envFor({ baseUrl, key }: Sandbox): NonNullable<ProgramOptions["env"]> {
  return { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_RATE_LIMIT: "none" };
}
