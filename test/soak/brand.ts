import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBrandEvents } from "../../src/sandbox/activity.js";
import { createSandboxApi } from "../../src/sandbox/api.js";
import { type Brand, createBrand } from "../../src/sandbox/brand.js";
import type { Order } from "../../src/sandbox/orders-endpoint.js";
import { serveSandbox } from "../../src/sandbox/server.js";

/** A brand that is served on loopback and changes between runs. All versions of all orders are kept. */
export interface SoakBrand {
  env: Record<string, string>;
  folder: string;
  data: Brand;
  /** True if the API has ever sent this version of an order. */
  wasSent(key: string, json: string): boolean;
  served(): number;
  /** Applies a few random events. */
  live(): void;
  close(): Promise<void>;
}

/** Returns a generator of pseudo-random numbers in [0, 1) that depend only on the seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function openBrand({ orders, seed }: { orders: number; seed: number }): Promise<SoakBrand> {
  const folder = mkdtempSync(join(tmpdir(), "brandapi-soak-"));
  const random = createRandom(seed);
  const data = createBrand({ seed, orders, now: Date.now() });
  const api = createSandboxApi({ brands: [data], now: Date.now, rateLimit: null });
  let requests = 0;
  const served = await serveSandbox(api, 0, () => {
    requests += 1;
  });
  const events = createBrandEvents(data, Date.now);
  const sent = new Map<string, Set<string>>();
  const remember = (order: Order) => {
    const forms = sent.get(order.id) ?? new Set();
    sent.set(order.id, forms.add(JSON.stringify(order)));
  };
  data.orders.forEach(remember);
  const anyOrder = () => data.orders[Math.floor(random() * data.orders.length)] as Order;
  return {
    folder,
    data,
    env: {
      BRANDAPI_BASE_URL: served.baseUrl,
      BRANDAPI_KEY: data.keys[0]?.secret ?? "",
      BRANDAPI_RATE_LIMIT: "none",
      BRANDAPI_CONFIG_DIR: folder,
      HOME: folder,
      XDG_STATE_HOME: folder,
    },
    served: () => requests,
    wasSent: (key, json) => sent.get(key)?.has(json) ?? false,
    live() {
      events.refund(anyOrder().id, 1);
      events.cancel(anyOrder().id);
      events.withdraw(anyOrder().id);
      events.attributeLate(Date.now() - Math.floor(random() * 700) * 86_400_000);
      events.order();
      data.orders.forEach(remember);
    },
    async close() {
      await served.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
