import { join } from "node:path";
import { runBrandapi, type Scenario } from "../bench.js";
import { serveBrand } from "../served.js";
import type { Line } from "../table.js";

/** Reads 30, 90 and 300 pages in real time, with a limit of 60 requests per minute. */
export const rateLimit: Scenario = {
  name: "rate-limit",
  about: "Under the API's limit of 60 requests a minute",
  slow: true,
  async run(bench) {
    return await Promise.all(
      [30, 90, 300].map(async (pages): Promise<Line> => {
        const sandbox = await serveBrand({ orders: pages * 100, rateLimit: 60, seed: pages });
        try {
          const one = await runBrandapi(
            bench,
            ["sync", "orders", "--quiet", "--db", join(bench.folder, `${pages}.sqlite`)],
            { BRANDAPI_BASE_URL: sandbox.baseUrl, BRANDAPI_KEY: sandbox.key, HOME: bench.folder },
          );
          const sent = sandbox.statuses.length;
          // The first 60 requests are sent immediately, and each additional batch of 60 takes one more minute.
          const least = Math.floor((sent - 1) / 60) * 60_000;
          bench.say(`${pages} pages: ${(one.wallMs / 1_000).toFixed(1)} s`);
          return {
            what: `${pages} pages`,
            ...(least > 0
              ? {
                  ratio: one.wallMs / least,
                  to: "the shortest time that the rate limit allows",
                  goal: "1.05",
                }
              : {}),
            measured: one,
            note: `${sent} requests, ${sandbox.statuses.filter((status) => status === 429).length} refused; best ${least / 1_000} s`,
          };
        } finally {
          await sandbox.close();
        }
      }),
    );
  },
};
