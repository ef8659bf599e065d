import { Command } from "commander";
import { MirrorStale } from "../errors.js";
import { formatSpan, parseDuration } from "../lib/times.js";
import { printJson } from "../ui/print.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { allProfiles, parsed } from "./flags.js";
import { examples } from "./help.js";

interface StatusFlags extends GlobalOptions {
  maxAge?: number;
  allProfiles?: boolean;
}

export function define(context: Context): Command {
  return new Command("status")
    .description(
      "Per resource: rows, what was read completely, the last success and the last error. " +
        "Needs no key and no network.",
    )
    .addOption(parsed("--max-age <duration>", "exit 10 if a last success is older than this", parseDuration))
    .addOption(allProfiles())
    .addHelpText(
      "after",
      examples(
        ["brandapi status", "a look at the mirror"],
        ["brandapi status --max-age 26h --quiet", "for monitoring: exit 10 when a night was missed"],
        ["brandapi status --json | jq '.resources[] | {resource, age_seconds}'", "for scripts"],
      ),
    )
    .action((_, command: Command) =>
      context.deps.killable(() => runStatus(command.optsWithGlobals(), context)),
    );
}

async function runStatus(options: StatusFlags, context: Context): Promise<void> {
  const { deps, profile } = context;
  if (options.allProfiles) {
    const { eachProfile } = await import("./each-profile.js");
    return await eachProfile(options, context, "look", runStatus);
  }
  const { readSettings } = await import("../config/settings.js");
  const { openMirrorReadOnly, readHealth } = await import("../query/index.js");
  const { keptOf, keptText } = await import("./kept.js");
  const { checkPlace, runUnderWay, underWayText } = await import("../mirror/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { styleFor } = await import("../ui/style.js");
  const { reasonsOf, statusText } = await import("./status-text.js");
  const { readProfiles } = await import("../config/profiles.js");
  const { expiryWarning, lastKnownExpiry } = await import("./identity.js");
  const settings = await readSettings(options, deps);
  const maxAge = options.maxAge ?? null;
  if (maxAge !== null && !checkPlace(settings.dbPath)) throw neverSynced(settings.dbPath);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const health = readHealth(mirror, deps.clock.now(), maxAge, await runUnderWay(settings.dbPath));
    const running =
      health.under_way && `A run is under way ${underWayText(health.under_way, deps.clock.now())}`;
    const kept = keptOf(mirror, settings.omit);
    if (settings.output.json) printJson(deps.stdout, { profile, ...health, ...kept });
    else if (!settings.output.quiet) {
      const width = terminalWidth(deps.stdout);
      deps.stdout.write(statusText(health, styleFor(deps.stdout, settings.output, deps.env), width, running));
      deps.stdout.write(keptText(kept, deps.clock.now()));
    }
    const reporter = createReporter(deps, settings.output);
    const stored = (await readProfiles(settings.configDir)).get(settings.profile) ?? {};
    const warning = expiryWarning(lastKnownExpiry(stored, mirror), deps.clock.now(), settings.profile);
    if (warning) reporter.warn(warning);
    if (maxAge === null) return;
    if (health.resources.length === 0) throw neverSynced(settings.dbPath);
    if (health.stale.length === 0) return;
    // A quiet run is a mail without the table, so it needs the reasons.
    if (settings.output.quiet) for (const why of reasonsOf(health, running)) reporter.warn(why);
    throw new MirrorStale(`Older than ${formatSpan(maxAge)}: ${health.stale.join(", ")}.`, {
      hint: `run \`brandapi sync ${health.stale.join(" ")}\``,
    });
  } finally {
    mirror.db.close();
  }
}

function neverSynced(path: string): MirrorStale {
  return new MirrorStale(`Nothing was ever synced into this mirror: ${path}`, {
    hint: "run `brandapi sync`",
  });
}
