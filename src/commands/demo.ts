import { join } from "node:path";
import { Writable } from "node:stream";
import type { Deps } from "../deps.js";
import { exitCodes, Incomplete } from "../errors.js";
import { counted } from "../lib/counted.js";
import { dayMs } from "../lib/times.js";
import { changes } from "./changes.js";
import { type CommandSpec, defineCommand, type GlobalOptions } from "./command.js";
import { exportTable } from "./export.js";
import { query } from "./query.js";
import { report } from "./report.js";
import { status } from "./status.js";
import { sync } from "./sync.js";
import { parseCount } from "./values.js";
import { verify } from "./verify.js";

interface DemoFlags {
  out?: string;
  orders?: number;
  seed?: number;
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

export const demo = defineCommand<DemoFlags>({
  name: "demo",
  summary: "Show the whole job, without a key, against the built-in sandbox",
  description:
    "Starts a sandbox on this machine, syncs everything, lets three weeks pass, syncs again, shows what changed, " +
    "proves the mirror, exports it and makes its report. Needs no network and no configuration; can be run again.",
  arguments: [],
  flags: [
    { flags: "-o, --out <dir>", about: "where the mirror and the exports go", shown: "brandapi-demo" },
    { flags: "--orders <n>", about: "how many orders the sandbox has", parse: parseCount, shown: "5000" },
    {
      flags: "--seed <n>",
      about: "the same data for the same number on the same day (UTC)",
      parse: parseCount,
      shown: "1",
    },
  ],
  examples: [
    { command: "brandapi demo", about: "see it work" },
    { command: "brandapi demo --out /tmp/demo --orders 100000", about: "with more data, elsewhere" },
  ],

  async run(invocation) {
    const { deps, options } = invocation;
    const { openFolder } = await import("./demonstration-folder.js");
    const { startSandbox } = await import("../sandbox/index.js");
    const files = [...exported.map(([, file]) => file), page];
    const folder = openFolder(options.out ?? "brandapi-demo", files, deps);
    const started = deps.clock.monotonic();
    const box = await startSandbox(
      {
        orders: options.orders ?? 5_000,
        seed: options.seed ?? 1,
        rateLimit: null,
        now: deps.clock.now() - pauseMs,
        wholeDays: true,
      },
      deps,
    );
    const env = {
      ...deps.env,
      BRANDAPI_BASE_URL: box.baseUrl,
      BRANDAPI_KEY: box.key,
      BRANDAPI_RATE_LIMIT: "none",
      BRANDAPI_DB: folder.mirror,
      BRANDAPI_PROFILE: "demo",
      BRANDAPI_CONFIG_DIR: folder.path,
    };
    const shown = options.quiet ? { ...deps, stdout: nowhere() } : deps;
    const then: Deps = { ...shown, env, clock: { ...deps.clock, now: () => deps.clock.now() - pauseMs } };
    const now: Deps = { ...shown, env };
    const say = (text: string) => void shown.stdout.write(`${text}\n`);
    const show = async (
      command: CommandSpec,
      words: string,
      at: Deps,
      given: Record<string, unknown> = {},
    ) => {
      say(`\n$ brandapi ${command.name}${words === "" ? "" : ` ${words}`}`);
      const args = words.split(" ").filter((word) => command.arguments.length > 0 && /^[a-z]/.test(word));
      await command.run({
        ...invocation,
        deps: at,
        args: given.args ? (given.args as string[]) : args.slice(0, 1),
        options: { ...common(options), ...given },
      });
    };
    try {
      say(`A sandbox serves the brand API on this machine: ${box.baseUrl}`);
      say(`\nThree weeks ago: the first sync reads everything.`);
      await show(sync, "", then, { args: [] });
      box.advance(pauseMs);
      say(`\nThree weeks later: new orders, and old ones that were refunded, cancelled or attributed late.`);
      for (let night = 1; ; night += 1)
        try {
          await show(sync, "", now, { args: [] });
          break;
        } catch (error) {
          // With very many orders, three weeks of changes are more than one run reads again: the next goes on.
          if (!(error instanceof Incomplete) || night === mostNights) throw error;
          invocation.tell(error);
        }
      await show(changes, "orders --limit 8", now, { limit: 8 });
      await show(verify, "orders", now);
      const sql =
        "SELECT month, currency, refunded_orders, refunded_amount FROM refunds_by_month WHERE refunded_orders > 0 ORDER BY 1 DESC LIMIT 4";
      await show(query, `"${sql}"`, now, { args: [sql] });
      for (const [table, file] of exported)
        await show(exportTable, `${table} -o ${join(folder.shown, file)}`, now, {
          out: join(folder.path, file),
        });
      await show(status, "--sales", now, { sales: true });
      const shownPage = join(folder.shown, page);
      await show(report, `-o ${shownPage}`, now, { out: join(folder.path, page) });
      const seconds = ((deps.clock.monotonic() - started) / 1_000).toFixed(1);
      say(
        `\nDone in ${seconds} s, with ${counted(box.log.length, "request")}. The mirror is an SQLite file, the exports lie beside it:`,
      );
      say(`  ${folder.shown}`);
      say("Your own brand: `brandapi login`, then `brandapi sync`.");
      say(`The page to look at, and to mail: ${shownPage}`);
      return exitCodes.done;
    } finally {
      folder.close();
      await box.close();
    }
  },
});

/** Where tables go that nobody wants to see. */
function nowhere(): Deps["stdout"] {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

/** What the person said about output holds for each command that is shown. */
function common({ color, progress, verbose, quiet }: GlobalOptions): Record<string, unknown> {
  return { color, progress, verbose, quiet };
}
