import { join } from "node:path";
import { type Bench, runBrandapi, type Scenario } from "../bench.js";
import { type ServedBrand, serveBrand } from "../served.js";
import type { Line } from "../table.js";

export const requests: Scenario = {
  name: "requests",
  about: "Requests, compared with the minimum",
  async run(bench) {
    const sandbox = await serveBrand({ orders: 100_000 });
    try {
      const { brand } = sandbox;
      const lists = ["roster", "recommendations", "content", "opportunities"] as const;
      const least = {
        orders: pages(brand.orders.length),
        // The ranking has a row for each host and a row for orders without a host.
        all:
          lists.reduce((sum, list) => sum + pages(brand[list].length), pages(brand.people.length + 1)) +
          brand.opportunities.length,
      };
      const line = async (what: string, args: readonly string[], possible: () => number) =>
        lineOf(what, await count(bench, sandbox, args), possible());
      return [
        await line("first sync of 100,000 orders", ["sync", "orders"], () => least.orders),
        await line("nightly sync of orders", ["sync", "orders"], () => windowPages(sandbox)),
        await line("full sync of orders", ["sync", "orders", "--full"], () => least.orders),
        await line(
          "first sync of the other resources, except gifts, codes, surveys and clicks",
          ["sync", "roster", "recommendations", "content", "opportunities", "analytics-hosts"],
          () => least.all,
        ),
        { what: "nightly sync of everything", note: `${await count(bench, sandbox, ["sync"])} requests` },
      ];
    } finally {
      await sandbox.close();
    }
  },
};

function pages(records: number): number {
  return Math.max(1, Math.ceil(records / 100));
}

function windowPages({ brand }: ServedBrand): number {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
  return pages(brand.orders.filter(({ order_date }) => order_date >= from).length);
}

async function count(bench: Bench, sandbox: ServedBrand, args: readonly string[]): Promise<number> {
  const before = sandbox.statuses.length;
  await runBrandapi(bench, [...args, "--quiet", "--db", join(bench.folder, "mirror.sqlite")], {
    BRANDAPI_BASE_URL: sandbox.baseUrl,
    BRANDAPI_KEY: sandbox.key,
    BRANDAPI_RATE_LIMIT: "none",
  });
  return sandbox.statuses.length - before;
}

function lineOf(what: string, sent: number, least: number): Line {
  const beyond = sent - Math.ceil(least * 1.02);
  return {
    what,
    ratio: sent / least,
    to: "least possible",
    goal: "1.02 + a constant",
    note: `${sent} requests (minimum: ${least}), ${Math.max(0, beyond)} over the limit of 1.02 times the minimum`,
  };
}
