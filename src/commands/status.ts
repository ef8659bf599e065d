import { existsSync } from "node:fs";
import type { Command } from "commander";
import { readProfiles } from "../config/profiles.js";
import { readSettings } from "../config/settings.js";
import { MirrorStale } from "../errors.js";
import { formatSpan, parseDuration } from "../lib/times.js";
import { runUnderWay } from "../mirror/index.js";
import { readHealth } from "../query/index.js";
import { printJson } from "../ui/print.js";
import type { Context, GlobalOptions } from "./context.js";
import { eachProfile } from "./each-profile.js";
import { allProfiles, parsed } from "./flags.js";
import { expiryWarning } from "./identity.js";
import { keptOf } from "./kept.js";
import { readMirror } from "./reading.js";
import { marksOf, statusText } from "./status-text.js";

type StatusFlags = GlobalOptions & { maxAge?: number; allProfiles?: boolean };

export const examples = {
  "brandapi status": "a look at the mirror",
  "brandapi status --max-age 26h --quiet": "for monitoring: exit 10 when a night was missed",
  "brandapi status --json | jq '.resources[] | {resource, age_seconds}'": "for scripts",
};

export function define(command: Command): void {
  command
    .description(
      "Per resource: rows, what was read completely, the last success and the last error. " +
        "Needs no key and no network.",
    )
    .addOption(parsed("--max-age <duration>", "exit 10 if a last success is older than this", parseDuration))
    .addOption(allProfiles());
}

export async function run(options: StatusFlags, context: Context): Promise<void> {
  if (options.allProfiles) return await eachProfile(options, context, run);
  const { deps, profile } = context;
  const { json, maxAge = null, quiet } = options;
  const settings = await readSettings(options, deps);
  const keyExpiresAt = (await readProfiles(deps)).get(settings.profile)?.keyExpiresAt ?? null;
  const never = `Nothing was ever synced into this mirror: ${settings.dbPath}`;
  const neverSynced = new MirrorStale(never, { hint: "run `brandapi sync`" });
  if (maxAge !== null && !existsSync(settings.dbPath)) throw neverSynced;
  await readMirror(options, deps, async ({ mirror, reporter: { warn }, style, width }) => {
    const now = deps.clock.now();
    const underWay = await runUnderWay(settings.dbPath);
    const health = readHealth(mirror, { now, maxAgeMs: maxAge, underWay });
    const { kept, text } = keptOf(mirror, settings.omit, now);
    if (json) printJson(deps.stdout, { profile, ...health, ...kept });
    else if (!quiet) deps.stdout.write(statusText(health, style, width) + text);
    const warning = expiryWarning(keyExpiresAt, now, settings.profile);
    if (warning) warn(warning);
    if (maxAge !== null && health.resources.length === 0) throw neverSynced;
    if (maxAge === null || health.stale.length === 0) return;
    // A quiet run is a mail without the table, so it needs the reasons.
    if (quiet) for (const mark of marksOf(health)) warn(mark);
    const stale = `Older than ${formatSpan(maxAge)}: ${health.stale.join(", ")}.`;
    throw new MirrorStale(stale, { hint: `run \`brandapi sync ${health.stale.join(" ")}\`` });
  });
}
