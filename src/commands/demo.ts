import { join, parse } from "node:path";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import type { Context } from "../cli/context.js";
import { reportError } from "../cli/error-output.js";
import { ordersOption, refuseJson, seedOption } from "../cli/flags.js";
import type { GlobalOptions } from "../config/settings.js";
import { runChallenge } from "../demo/challenge.js";
import { type DemoOptions, startDemo } from "../demo/demonstration.js";
import { Incomplete } from "../errors.js";
import { naturalPace, simulateActivity } from "../sandbox/live.js";
import { dayMs } from "../util/times.js";

/** How long the first sync lies back: refunds and late attributions need time to happen. */
const pauseMs = 21 * dayMs;

/** The exports, each named for its table. */
const exported = ["orders.csv", "orders.ndjson", "roster.csv", "changes.csv"];

/** Runs that the changes of three weeks may take. */
const mostNights = 10;

const refunds =
  "SELECT month, currency, refunded_orders, refunded_amount FROM refunds_by_month " +
  "WHERE refunded_orders > 0 ORDER BY 1 DESC LIMIT 4";

export const about =
  "Starts a local sandbox, syncs it, lets three weeks pass, syncs again, shows the changes, verifies the mirror, " +
  "exports it and generates its report. Needs no network and no configuration. Can be run again.";

export const examples = {
  "brandapi demo": "run the demo",
  "brandapi demo --challenge": "see which unannounced changes a sync finds",
  "brandapi demo --out /tmp/demo --orders 100000": "use more data and another folder",
};

export function define(command: Command): void {
  command
    .option("-o, --out <dir>", "folder for the mirror and the exports (default: brandapi-demo)")
    .addOption(ordersOption())
    .addOption(seedOption())
    .option("--challenge", "make seven unannounced changes, and compare a plain script with a sync");
}

export async function run(options: DemoOptions, context: Context): Promise<void> {
  refuseJson("demo", options);
  if (options.challenge) return await runChallenge(options, context);
  const { argv, deps, brandapi } = context;
  const { seed = 1, orders = 5_000, out = "brandapi-demo", quiet } = options;
  const { clock } = deps;
  const started = clock.monotonic();
  const begun = Math.floor((clock.now() - pauseMs) / dayMs) * dayMs;
  let ageMs = pauseMs;
  const stdout = quiet ? new PassThrough().resume() : deps.stdout;
  const there = { ...deps, stdout, clock: { ...clock, now: () => clock.now() - ageMs } };
  const page = join(out, "report.html");
  const { at, baseUrl, brand, close } = await startDemo(out, { seed, orders, now: begun }, there);
  const say = (text: string) => void stdout.write(`${text}\n`);
  /** Runs a command as if it was typed, and shows it. */
  const show = async (...words: readonly string[]) => {
    say(`\n$ brandapi ${words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ")}`);
    await brandapi([...words, ...displayFlags(options)], at);
  };
  try {
    say(`A sandbox serves the brand API on this machine: ${baseUrl}`);
    say("\nThree weeks ago: the first sync reads everything.");
    await show("sync");
    simulateActivity(brand, begun, begun + pauseMs, naturalPace(orders));
    ageMs = 0;
    say("\nThree weeks later: new orders, and old ones that were refunded, cancelled or attributed late.");
    for (let night = 1; ; night += 1)
      try {
        await show("sync");
        break;
      } catch (error) {
        // With very many orders, one run does not read all changes again: the next goes on.
        if (!(error instanceof Incomplete) || night === mostNights) throw error;
        reportError(error, argv, deps);
      }
    await show("changes", "orders", "--limit", "8");
    await show("verify", "orders");
    await show("query", refunds);
    for (const file of exported) await show("export", parse(file).name, "-o", join(out, file));
    await show("status");
    await show("report", ...(deps.stdout.isTTY && !quiet ? ["--open"] : []), "-o", page);
  } finally {
    await close();
  }
  say(`\nDone in ${((clock.monotonic() - started) / 1_000).toFixed(1)} s.`);
  say(`The mirror is an SQLite file, the exports lie beside it: ${out}`);
  say("Your own brand: `brandapi login`, then `brandapi sync`.");
  say(`The page to look at, and to mail: ${page}`);
}

/** Returns the flags about output, for each command that is shown. */
function displayFlags({ color, progress, verbose, quiet }: GlobalOptions): string[] {
  const flags = { "--no-color": !color, "--no-progress": !progress, "--verbose": verbose, "--quiet": quiet };
  return Object.entries(flags).flatMap(([flag, isGiven]) => (isGiven ? flag : []));
}
