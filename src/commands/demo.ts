import { join, parse } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { reportError } from "../cli/error-output.js";
import { ordersOption, seedOption } from "../cli/sandbox-flags.js";
import type { GlobalFlags } from "../config/settings.js";
import { runChallenge } from "../demo/challenge.js";
import { type DemoFlags, startDemo } from "../demo/start-demo.js";
import type { Context } from "../deps.js";
import { Incomplete } from "../errors.js";
import { naturalPace, simulateActivity } from "../sandbox/activity.js";
import { quoteShellWord } from "../util/format-text.js";
import { dayMs } from "../util/timestamps.js";

/** The simulated time between the two syncs. It is long enough for refunds and late attributions to occur. */
const pauseMs = 21 * dayMs;

/** The files that the demo exports, named after their tables. A file name can be followed by flags for `export`. */
const exports = [["orders.csv"], ["orders.ndjson"], ["roster.csv", "--excel"], ["changes.csv"]] as const;

const introduction = `brandapi copies a brand's orders, roster, content and surveys from the Brand Data API to one SQLite file. You get:
- tables to query with SQL, to export to a spreadsheet, and to share as a report
- a history of refunds, cancellations and other changes, which the API does not provide
- a check of your orders against the API's own counts and daily totals

This demo shows each of them with a fictional brand, in less than a minute, without a key.`;

/** The maximum number of syncs after the simulated pause. */
const maxRuns = 10;

const refundsSql =
  "SELECT month, currency, refunded_orders, refunded_amount FROM refunds_by_month " +
  "WHERE refunded_orders > 0 ORDER BY 1 DESC LIMIT 4";

export const about =
  "Syncs a brand from a local sandbox, lets three weeks pass, syncs again, and shows the changes. " +
  "Then verifies the mirror, exports it and generates a report. Requires no network access or configuration, and can be run repeatedly.";

export const examples = {
  "brandapi demo": "run the demo",
  "brandapi demo --challenge": "see which unannounced changes a sync finds",
  "brandapi demo --out /tmp/demo --orders 100000": "run the demo with more data, in a different folder",
};

export function define(command: Command): void {
  command
    .option("-o, --out <dir>", "folder for the mirror and the exports (default: brandapi-demo)")
    .addOption(ordersOption())
    .addOption(seedOption())
    .option(
      "--challenge",
      "make seven unannounced changes, and compare what a typical script and a sync find",
    );
}

export async function run(flags: DemoFlags, context: Context): Promise<void> {
  const demo = flags.challenge ? runChallenge : runDemo;
  await context.deps.runGracefully(() => demo(flags, context));
}

async function runDemo(flags: DemoFlags, context: Context): Promise<void> {
  const { commandLine, deps, runCommand } = context;
  const { seed = 1, orders = 5_000, out = "brandapi-demo", quiet } = flags;
  const { clock } = deps;
  const startedAt = clock.monotonic();
  const firstSyncAt = Math.floor((clock.now() - pauseMs) / dayMs) * dayMs;
  let clockOffsetMs = pauseMs;
  const stdout = quiet ? new PassThrough().resume() : deps.stdout;
  const demoDeps = { ...deps, stdout, clock: { ...clock, now: () => clock.now() - clockOffsetMs } };
  const reportFile = join(out, "report.html");
  const { baseUrl, brand, close, sandboxDeps } = await startDemo(
    out,
    { seed, orders, now: firstSyncAt },
    demoDeps,
  );
  const print = (text: string) => void stdout.write(`${text}\n`);
  /** Prints a command line as if a user had typed it, and then runs it. */
  const show = async (...words: readonly string[]) => {
    print(`\n$ brandapi ${words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ")}`);
    await runCommand([...words, ...displayFlags(flags)], sandboxDeps);
  };
  try {
    print(introduction);
    print(`\nA sandbox serves the API on this machine: ${baseUrl}`);
    print("\nThree weeks ago: the first sync reads everything.");
    await show("sync");
    simulateActivity(brand, firstSyncAt, firstSyncAt + pauseMs, naturalPace(orders));
    clockOffsetMs = 0;
    print("\nToday: there are new orders, and old ones were refunded, cancelled or attributed late.");
    print("The second sync reads only the data that may have changed.");
    for (let runs = 1; ; runs += 1)
      try {
        await show("sync");
        break;
      } catch (error) {
        // If the demo has a very large number of orders, one sync cannot read all changes, so more syncs follow.
        if (!(error instanceof Incomplete) || runs === maxRuns) throw error;
        reportError(error, commandLine, deps);
      }
    print("\nThe changes to orders that the sync found:");
    await show("changes", "orders", "--limit", "8");
    print("\nThe same number of orders here and in the API, with equal daily totals:");
    await show("verify", "orders");
    print("\nA question in SQL: how much was refunded, by month of the order?");
    await show("query", refundsSql);
    print("\nFiles for spreadsheets and other programs:");
    for (const [file, ...exportFlags] of exports)
      await show("export", parse(file).name, "-o", join(out, file), ...exportFlags);
    print("\nHow complete and up to date the mirror is:");
    await show("status");
    print("\nA sales report to share:");
    await show("report", ...(deps.stdout.isTTY && !quiet ? ["--open"] : []), "-o", reportFile);
  } finally {
    await close();
  }
  print(
    `\nDone in ${((clock.monotonic() - startedAt) / 1_000).toFixed(1)} s. Everything is in the folder ${out}:`,
  );
  const mirrorPath = join(out, "demo.sqlite");
  print(`- the mirror: ${mirrorPath}`);
  print(`- the report: ${reportFile}`);
  print(`- the exports: ${exports.map(([file]) => file).join(", ")}`);
  print(`To explore the mirror: \`brandapi tables --db ${quoteShellWord(mirrorPath)}\`.`);
  print("For your own brand: `brandapi login`, then `brandapi sync`.");
}

function displayFlags({ color, progress, verbose, quiet }: GlobalFlags): string[] {
  const flags = { "--no-color": !color, "--no-progress": !progress, "--verbose": verbose, "--quiet": quiet };
  return Object.entries(flags).flatMap(([flag, isGiven]) => (isGiven ? flag : []));
}
