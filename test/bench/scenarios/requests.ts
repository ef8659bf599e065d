import { join } from "node:path";
import { systemClock } from "../../../src/deps.js";
import { type Sandbox, startSandbox } from "../../support/old-sandbox/index.js";
import { type Bench, runBrandapi, type Scenario } from "../bench.js";
import type { Line } from "../table.js";

/** Requests sent, against the least that could bring the same records. */
export const requests: Scenario = {
  name: "requests",
  about: "Requests, against the least possible",
  async run(bench) {
    const sandbox = await startSandbox({ orders: 100_000, rateLimit: null }, { clock: systemClock });
    try {
      const least = {
        orders: pages(sandbox.count("orders")),
        all:
          (["roster", "recommendations", "content", "opportunities", "analytics-hosts"] as const).reduce(
            (sum, set) => sum + pages(sandbox.count(set)),
            0,
          ) + sandbox.count("opportunities"),
      };
      const lines: Line[] = [];
      const add = async (what: string, args: readonly string[], possible: number) =>
        lines.push(lineOf(what, await count(bench, sandbox, args), possible));
      await add("first sync of 100,000 orders", ["sync", "orders"], least.orders);
      const inWindow = await windowPages(sandbox);
      await add("nightly sync of the orders", ["sync", "orders"], inWindow);
      await add("full sync of the orders", ["sync", "orders", "--full"], least.orders);
      await add(
        "first sync of all else, without the undocumented and the months",
        ["sync", "roster", "recommendations", "content", "opportunities", "analytics-hosts"],
        least.all,
      );
      lines.push({
        what: "nightly sync of everything",
        note: `${await count(bench, sandbox, ["sync"])} requests`,
      });
      return lines;
    } finally {
      await sandbox.close();
    }
  },
};

function pages(records: number): number {
  return Math.max(1, Math.ceil(records / 100));
}

async function windowPages(sandbox: Sandbox): Promise<number> {
  const from = new Date(sandbox.now() - 30 * 86_400_000).toISOString();
  const answer = await fetch(`${sandbox.baseUrl}/orders?per_page=1&start_date=${from}`, {
    headers: { authorization: `Bearer ${sandbox.key}` },
  });
  const { pagination } = (await answer.json()) as { pagination: { total_items: number } };
  return pages(pagination.total_items);
}

async function count(bench: Bench, sandbox: Sandbox, args: readonly string[]): Promise<number> {
  const before = sandbox.log.length;
  await runBrandapi(bench, [...args, "--quiet", "--db", join(bench.folder, "mirror.sqlite")], {
    BRANDAPI_BASE_URL: sandbox.baseUrl,
    BRANDAPI_KEY: sandbox.key,
    BRANDAPI_RATE_LIMIT: "none",
  });
  return sandbox.log.length - before;
}

function lineOf(what: string, sent: number, least: number): Line {
  const beyond = sent - Math.ceil(least * 1.02);
  return {
    what,
    ratio: sent / least,
    to: "least possible",
    goal: "1.02 + a constant",
    note: `${sent} requests for ${least}; ${Math.max(0, beyond)} beyond 1.02`,
  };
}
