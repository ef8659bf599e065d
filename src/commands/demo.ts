import { join } from "node:path";
import { Writable } from "node:stream";
import { Command } from "commander";
import type { Deps } from "../deps.js";
import { Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { dayMs } from "../lib/times.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed } from "./flags.js";
import { examples } from "./help.js";
import { parseOrders } from "./sandbox.js";

interface DemoFlags extends GlobalOptions {
  out?: string;
  orders?: number;
  seed?: number;
  challenge?: boolean;
}

/** How long the first sync lies back: refunds and late attributions need time to happen. */
const pauseMs = 21 * dayMs;

/** What is exported, and into which file of the demo's folder. */
const exported = [
  ["orders", "orders.csv"],
  ["orders", "orders.ndjson"],
  ["roster", "roster.csv"],
  ["changes", "changes.csv"],
] as const;
const page = "report.html";

/** Runs that what three weeks have changed may take. */
const mostNights = 10;

export function define(context: Context): Command {
  return new Command("demo")
    .description(
      "Starts a sandbox on this machine, syncs everything, lets three weeks pass, syncs again, shows what changed, " +
        "proves the mirror, exports it and makes its report. Needs no network and no configuration; can be run again.",
    )
    .option("-o, --out <dir>", "where the mirror and the exports go (default: brandapi-demo)")
    .addOption(parsed("--orders <n>", "how many orders the sandbox has (default: 5000)", parseOrders))
    .addOption(
      parsed("--seed <n>", "the same data for the same number on the same day (UTC; default: 1)", parseCount),
    )
    .option("--challenge", "seven records change in silence: what a plain script finds, and what a sync does")
    .addHelpText(
      "after",
      examples(
        ["brandapi demo", "see it work"],
        ["brandapi demo --challenge", "see what a sync finds, and what it says that it cannot"],
        ["brandapi demo --out /tmp/demo --orders 100000", "with more data, elsewhere"],
      ),
    )
    .action(async (_, command: Command) => {
      const options: DemoFlags = command.optsWithGlobals();
      if (!options.challenge) return await runDemo(options, context);
      const { runChallenge } = await import("./challenge.js");
      await runChallenge(options, context);
    });
}

async function runDemo(options: DemoFlags, { deps, tell, brandapi }: Context): Promise<void> {
  const { openFolder } = await import("./demonstration-folder.js");
  const { createApi, createBrand, naturalPace, passTime, serve } = await import("../sandbox/index.js");
  const files = [...exported.map(([, file]) => file), page];
  const folder = openFolder(options.out ?? "brandapi-demo", files, deps);
  const started = deps.clock.monotonic();
  const { seed = 1, orders = 5_000 } = options;
  const begun = Math.floor((deps.clock.now() - pauseMs) / dayMs) * dayMs;
  const brand = createBrand({ seed, orders, now: begun });
  let ageMs = pauseMs;
  const api = createApi({ brands: [brand], now: () => deps.clock.now() - ageMs });
  let requests = 0;
  const served = await serve(api, 0, () => {
    requests += 1;
  });
  const env = {
    ...deps.env,
    BRANDAPI_BASE_URL: served.baseUrl,
    BRANDAPI_KEY: brand.keys[0]?.secret ?? "",
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: folder.mirror,
    BRANDAPI_PROFILE: "demo",
    BRANDAPI_CONFIG_DIR: folder.path,
  };
  const shown = options.quiet ? { ...deps, stdout: nowhere() } : deps;
  const then: Deps = { ...shown, env, clock: { ...deps.clock, now: () => deps.clock.now() - pauseMs } };
  const now: Deps = { ...shown, env };
  const say = (text: string) => void shown.stdout.write(`${text}\n`);
  /** Runs a command as if it was typed, and shows it; a file's name may be shown as the person's folder has it. */
  const show = async (at: Deps, argv: readonly string[], file?: string) => {
    const words = argv.map((word) => (/\s/.test(word) ? `"${word}"` : word));
    say(`\n$ brandapi ${[...words, ...(file ? ["-o", join(folder.shown, file)] : [])].join(" ")}`);
    await brandapi([...argv, ...(file ? ["-o", join(folder.path, file)] : []), ...common(options)], at);
  };
  try {
    say(`A sandbox serves the brand API on this machine: ${served.baseUrl}`);
    say(`\nThree weeks ago: the first sync reads everything.`);
    await show(then, ["sync"]);
    passTime(brand, begun, begun + pauseMs, naturalPace(orders));
    ageMs = 0;
    say(`\nThree weeks later: new orders, and old ones that were refunded, cancelled or attributed late.`);
    for (let night = 1; ; night += 1)
      try {
        await show(now, ["sync"]);
        break;
      } catch (error) {
        // With very many orders, three weeks of changes are more than one run reads again: the next goes on.
        if (!(error instanceof Incomplete) || night === mostNights) throw error;
        tell(error);
      }
    await show(now, ["changes", "orders", "--limit", "8"]);
    await show(now, ["verify", "orders"]);
    const sql =
      "SELECT month, currency, refunded_orders, refunded_amount FROM refunds_by_month WHERE refunded_orders > 0 ORDER BY 1 DESC LIMIT 4";
    await show(now, ["query", sql]);
    for (const [table, file] of exported) await show(now, ["export", table], file);
    await show(now, ["status"]);
    await show(now, ["report", ...(deps.stdout.isTTY && !options.quiet ? ["--open"] : [])], page);
    const seconds = ((deps.clock.monotonic() - started) / 1_000).toFixed(1);
    say(
      `\nDone in ${seconds} s, with ${counted(requests, "request")}. The mirror is an SQLite file, the exports lie beside it:`,
    );
    say(`  ${folder.shown}`);
    say("Your own brand: `brandapi login`, then `brandapi sync`.");
    say(`The page to look at, and to mail: ${join(folder.shown, page)}`);
  } finally {
    await served.close();
  }
}

/** Where tables go that nobody wants to see. */
function nowhere(): Deps["stdout"] {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** The flags about output hold for each command that is shown. */
function common({ color, progress, verbose, quiet }: GlobalOptions): string[] {
  return [
    ...(color === false ? ["--no-color"] : []),
    ...(progress === false ? ["--no-progress"] : []),
    ...(verbose ? ["--verbose"] : []),
    ...(quiet ? ["--quiet"] : []),
  ];
}
