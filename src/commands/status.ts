import type { Deps } from "../deps.js";
import { exitCodes, MirrorStale } from "../errors.js";
import { formatSpan, parseDuration } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { Sales } from "../report/index.js";
import { printJson } from "../ui/data.js";
import { terminalWidth } from "../ui/width.js";
import { type CommandSpec, defineCommand } from "./command.js";
import { allProfilesFlag } from "./globals.js";
import { apartIfLarge } from "./large.js";

interface StatusFlags {
  maxAge?: number;
  sales?: boolean;
  allProfiles?: boolean;
}

export const status: CommandSpec = defineCommand<StatusFlags>({
  name: "status",
  summary: "Show how complete and how fresh the mirror is",
  description:
    "Per resource: rows, what was read completely, the last success and the last error. " +
    "Needs no key and no network.",
  arguments: [],
  flags: [
    {
      flags: "--max-age <duration>",
      about: "exit 10 where a last success is older than this",
      parse: parseDuration,
    },
    { flags: "--sales", about: "end with how the brand does, in three lines at most" },
    allProfilesFlag,
  ],
  examples: [
    { command: "brandapi status", about: "a look at the mirror" },
    {
      command: "brandapi status --max-age 26h --quiet",
      about: "for monitoring: exit 10 when a night was missed",
    },
    { command: "brandapi status --json | jq '.resources[] | {resource, age_seconds}'", about: "for scripts" },
  ],

  apart: apartIfLarge,

  async run(invocation) {
    const { deps, options, profile } = invocation;
    if (options.allProfiles) {
      const { eachProfile } = await import("./each-profile.js");
      return await eachProfile(invocation, status, "look");
    }
    const { readSettings } = await import("../config/settings.js");
    const { openMirrorReadOnly, readHealth } = await import("../query/index.js");
    const { checkPlace, runUnderWay, underWayText } = await import("../mirror/index.js");
    const { createReporter } = await import("../ui/reporter.js");
    const { styleFor } = await import("../ui/style.js");
    const { reasonsOf } = await import("./health-marks.js");
    const { healthText } = await import("./health-text.js");
    const { knownExpiryWarning } = await import("./identity.js");
    const settings = await readSettings(options, deps);
    const maxAge = options.maxAge ?? null;
    if (maxAge !== null && !checkPlace(settings.dbPath)) throw neverSynced(settings.dbPath);
    const mirror = await openMirrorReadOnly(settings.dbPath);
    try {
      const health = readHealth(mirror, deps.clock.now(), maxAge, await runUnderWay(settings.dbPath));
      const { under_way: other } = health;
      const running = other && `A run is under way ${underWayText(other, deps.clock.now())}`;
      const sales = options.sales ? await salesOf(mirror) : null;
      if (settings.output.json)
        printJson(deps.stdout, { profile, ...health, ...(options.sales ? { sales } : {}) });
      else if (!settings.output.quiet) {
        const width = terminalWidth(deps.stdout);
        deps.stdout.write(
          healthText(health, styleFor(deps.stdout, settings.output, deps.env), width, running),
        );
        if (sales) deps.stdout.write(await salesText(sales, deps));
      }
      const reporter = createReporter(deps, settings.output);
      const warning = await knownExpiryWarning(settings, mirror, deps.clock.now());
      if (warning) reporter.warn(warning);
      if (maxAge === null) return exitCodes.done;
      if (health.resources.length === 0) throw neverSynced(settings.dbPath);
      if (health.stale.length === 0) return exitCodes.done;
      // It is a mail: nobody sees the marks that say why.
      if (settings.output.quiet) for (const why of reasonsOf(health, running)) reporter.warn(why);
      throw staleError(health.stale, maxAge);
    } finally {
      mirror.db.close();
    }
  },
});

function staleError(stale: readonly string[], maxAge: number): MirrorStale {
  return new MirrorStale(`Older than ${formatSpan(maxAge)}: ${stale.join(", ")}.`, {
    hint: `run \`brandapi sync ${stale.join(" ")}\``,
  });
}

function neverSynced(path: string): MirrorStale {
  return new MirrorStale(`Nothing was ever synced into this mirror: ${path}`, {
    hint: "run `brandapi sync`",
  });
}

/** Null where no order was ever read. */
async function salesOf(mirror: Mirror): Promise<Sales | null> {
  const { withSnapshot } = await import("../query/index.js");
  const { salesOf: read } = await import("../report/index.js");
  return await withSnapshot(mirror, async () => read(mirror));
}

async function salesText(sales: Sales, { env }: Deps): Promise<string> {
  const { createNumbers, readLocale, salesLines } = await import("../report/index.js");
  const lines = salesLines(sales, createNumbers(readLocale(undefined, env)));
  return lines
    .map((line) => `${line}\n`)
    .join("")
    .replace(/^(?=.)/, "\n");
}
