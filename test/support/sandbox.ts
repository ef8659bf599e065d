import { onTestFinished } from "vitest";
import { systemClock } from "../../src/deps.js";
import { createSandboxApi } from "../../src/sandbox/api.js";
import type { ApiKey } from "../../src/sandbox/brand.js";
import { createBrand } from "../../src/sandbox/data/brand-data.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import type { ProgramOptions } from "./program.js";

/** The API on loopback, for processes and for what types at a terminal. */
export interface Sandbox {
  baseUrl: string;
  key: string;
  /** Returns a key by its name; `other-brand` is one of another brand. */
  secretOf(name: string): string;
  requests(): number;
  now(): number;
  /** Lets time pass in which nothing happens. */
  advance(ms: number): void;
  setKey(name: string, change: Partial<ApiKey>): void;
}

export interface SandboxOptions {
  orders?: number;
  latencyMs?: number;
  /** Milliseconds since 1970 at its start. Default: the system's. */
  now?: number;
}

/** Serves a believable brand until the test is over. */
export async function sandboxForTest(options: SandboxOptions = {}): Promise<Sandbox> {
  const started = systemClock.monotonic();
  let begun = options.now ?? systemClock.now();
  const now = () => Math.floor(begun + systemClock.monotonic() - started);
  const brand = createBrand({ seed: 1, orders: options.orders ?? 300, now: begun });
  const other = createBrand({ seed: 2, orders: 50, now: begun, name: "Basalt Cycling" });
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
      const key = name === "other-brand" ? other.keys[0] : brand.keys.find((one) => one.name === name);
      if (!key) throw new RangeError(`There is no key ${name}.`);
      return key.secret;
    },
    requests: () => count,
    now,
    advance(ms) {
      begun += ms;
    },
    setKey(name, change) {
      brand.keys = brand.keys.map((key) => (key.name === name ? { ...key, ...change } : key));
    },
  };
}

/** The environment of a person who uses this sandbox. */
export function envFor({ baseUrl, key }: Sandbox): NonNullable<ProgramOptions["env"]> {
  return { BRANDAPI_BASE_URL: baseUrl, BRANDAPI_KEY: key, BRANDAPI_RATE_LIMIT: "none" };
}
