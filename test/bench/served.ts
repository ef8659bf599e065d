import { systemClock } from "../../src/deps.js";
import { createSandboxApi } from "../../src/sandbox/api.js";
import { type Brand, createBrand } from "../../src/sandbox/brand.js";
import { serveSandbox } from "../../src/sandbox/server.js";

export interface ServedBrand {
  brand: Brand;
  baseUrl: string;
  key: string;
  statuses: number[];
  close(): Promise<void>;
}

export async function serveBrand({
  orders,
  seed = 1,
  rateLimit = null,
  latencyMs = 0,
}: {
  orders: number;
  seed?: number;
  rateLimit?: number | null;
  latencyMs?: number;
}): Promise<ServedBrand> {
  const { now, monotonic } = systemClock;
  const brand = createBrand({ seed, orders, now: now() });
  const api = createSandboxApi({ brands: [brand], now, monotonic, rateLimit });
  const statuses: number[] = [];
  const { handle } = api;
  api.handle = (request) => {
    const response = handle(request);
    statuses.push(response.status);
    return response;
  };
  const served = await serveSandbox(api, 0, () => (latencyMs > 0 ? systemClock.sleep(latencyMs) : undefined));
  return { brand, key: brand.keys[0]?.secret ?? "", statuses, ...served };
}
