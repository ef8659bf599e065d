import { type Command, Option } from "commander";
import { runForAllProfiles } from "../cli/all-profiles.js";
import {
  allProfilesOption,
  type ChosenResources,
  chooseResources,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
  waitOption,
  withChoices,
} from "../cli/flags.js";
import { type MirrorSession, resumeHint, withMirrorSession, withPlanSession } from "../cli/mirror-session.js";
import { parsePingUrl, withPings } from "../cli/ping.js";
import { parseWindow } from "../cli/time-flags.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context } from "../deps.js";
import { type ExitCode, exitCodes, Forbidden, UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { acceptsDates, type Resource } from "../resources/resource.js";
import { hasBeenRead } from "../store/runs.js";
import { defaultOptions, type RequestEstimate, type SyncOptions } from "../sync/run.js";
import {
  estimateResource,
  type ResourceSelection,
  sortSmallFirst,
  syncResources,
} from "../sync/sync-resources.js";
import { pluralize } from "../util/format-text.js";
import { printJson } from "../util/terminal.js";
import { dayMs } from "../util/timestamps.js";

interface SyncFlags extends GlobalFlags {
  since?: string;
  until?: string;
  window?: number;
  full?: boolean;
  details?: SyncOptions["details"];
  wait?: boolean;
  allProfiles?: boolean;
  ping?: string;
  groupBy?: SyncOptions["groupBy"];
  host?: string[];
  perHost?: boolean;
  dryRun?: boolean;
  audit?: number;
  acceptRemovals?: boolean;
}

export const about =
  "If no resource is named, reads everything that the key and the plan allow. " +
  "The next run resumes an interrupted run; only lists without dates start over.";

export const examples = {
  "brandapi sync": "update everything, as the nightly run does",
  "brandapi sync orders --since 2026-01-01": "read the orders placed since 1 January",
  "brandapi sync --dry-run": "print what a sync would read, and how long it would take",
};

export function define(command: Command): void {
  const full = new Option("--full", "re-read everything").conflicts("since");
  const details = new Option(
    "--details <which>",
    "which opportunity and survey details to read (default: changed)",
  );
  const groupBy = new Option("--group-by <bucket>", "time buckets");
  const perHost = new Option("--per-host", "read clicks separately for each host on the roster");
  command.argument("[resource...]", resources.map(({ name }) => name).join(", "));
  command
    .optionsGroup("Dates:")
    .option("--since <time>", "re-read everything from TIME onwards")
    .option("--until <time>", "read up to TIME")
    .addOption(
      parsedOption(
        "--window <span>",
        `re-read this period before the last sync (default: ${defaultOptions.windowMs / dayMs}d)`,
        parseWindow,
      ),
    );
  command
    .optionsGroup("What to read:")
    .addOption(full)
    .addOption(withChoices(details, "value of `--details`", ["all", "changed", "none"]));
  command
    .optionsGroup("Unattended runs:")
    .addOption(waitOption())
    .addOption(allProfilesOption())
    .addOption(
      parsedOption("--ping <url>", "URL to ping when the run starts and ends (BRANDAPI_PING)", parsePingUrl),
    );
  command
    .optionsGroup("Clicks (analytics-clicks):")
    .addOption(withChoices(groupBy, "value of `--group-by`", ["day", "week", "month"]))
    .addOption(parsedOption("--host <ids>", "read only these hosts' clicks", parseList))
    .addOption(perHost.conflicts("host"));
  command
    .optionsGroup("Other options:")
    .option("--dry-run", "print the plan and estimated time without syncing")
    .addOption(
      parsedOption(
        "--audit <n>",
        `requests for re-reading the oldest data (default: ${defaultOptions.auditRequests})`,
        parseCount,
      ),
    )
    .option("--accept-removals", "apply removals even if they look implausible")
    .addHelpOption(new Option("-h, --help", "show this help"));
}

export async function run(flags: SyncFlags, context: Context, names: readonly string[]): Promise<ExitCode> {
  const { deps } = context;
  const chosen = chooseResources(names);
  refuseInapplicableFlags(chosen, flags);
  const options = readSyncOptions(flags, deps.clock.now());
  if (flags.dryRun) {
    if (!flags.allProfiles) return await planProfile(chosen, options, flags, context);
    return await runForAllProfiles(flags, context, (profileFlags, profileContext) =>
      planProfile(chosen, options, profileFlags, profileContext),
    );
  }

  const ping = flags.ping ?? (deps.env.BRANDAPI_PING || undefined);
  if (!flags.allProfiles) return await syncProfile(chosen, options, flags, context, ping);
  // With `--all-profiles`, each profile's sync pings only that profile's URL.
  return await withPings(ping, flags, deps, () =>
    runForAllProfiles(flags, context, (profileFlags, profileContext) =>
      syncProfile(chosen, options, profileFlags, profileContext),
    ),
  );
}

function refuseInapplicableFlags({ resources: chosen, areNamed }: ChosenResources, flags: SyncFlags): void {
  for (const resource of areNamed ? chosen : []) {
    const { kind } = resource.strategy;
    const applicability: [flag: string, value: unknown, applies: boolean][] = [
      ["--since", flags.since, acceptsDates(resource)],
      ["--until", flags.until, acceptsDates(resource)],
      ["--window", flags.window, kind === "dated" || kind === "monthly"],
      ["--audit", flags.audit, kind === "dated"],
      ["--details", flags.details, kind === "details"],
      ["--group-by", flags.groupBy, kind === "monthly"],
      ["--host", flags.host, kind === "monthly"],
      ["--per-host", flags.perHost, kind === "monthly"],
    ];
    const [flag] = applicability.find(([, value, applies]) => value !== undefined && !applies) ?? [];
    if (flag !== undefined)
      throw new UsageError(`\`${resource.name}\` takes no \`${flag}\`.`, {
        hint: `omit it, or sync \`${resource.name}\` separately`,
      });
  }
}

/** @throws UsageError if the time range or a host ID is invalid */
function readSyncOptions(flags: SyncFlags, now: number): SyncOptions {
  const { host: hosts = [] } = flags;
  for (const host of hosts)
    if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(host))
      throw new UsageError(`Not a host ID: \`${host}\`.`, {
        hint: 'a host ID is a UUID; `brandapi query "SELECT id, username FROM hosts"` lists them',
      });
  return {
    ...defaultOptions,
    ...parseRange(flags, now),
    full: flags.full ?? defaultOptions.full,
    windowMs: flags.window ?? defaultOptions.windowMs,
    acceptRemovals: flags.acceptRemovals ?? defaultOptions.acceptRemovals,
    auditRequests: flags.audit ?? defaultOptions.auditRequests,
    details: flags.details ?? (flags.full ? "all" : defaultOptions.details),
    groupBy: flags.groupBy ?? defaultOptions.groupBy,
    hosts,
    perHost: flags.perHost ?? defaultOptions.perHost,
  };
}

/**
 * Prints a sync's plan as text or, with `--json`, as `{profile, resources: [{resource, steps, requests}], skipped:
 * [{resource, why}], requests, minutes}`. Sends one request per range to get its count, and writes nothing.
 */
async function planProfile(
  chosen: ChosenResources,
  options: SyncOptions,
  flags: SyncFlags,
  { deps, profile }: Context,
): Promise<ExitCode> {
  const settings = readSettings(flags, deps);
  const planned: { resource: string; steps: RequestEstimate[]; requests: number }[] = [];
  const skipped: { resource: string; why: string }[] = [];
  await withPlanSession({ name: "sync", deps, flags, settings, options }, async (session) => {
    const { allowed, withoutScope, areNamed } = selectAllowed(chosen, session);
    skipped.push(...withoutScope.map(({ resource, why }) => ({ resource: resource.name, why })));
    for (const resource of sortSmallFirst(allowed))
      try {
        const steps = await estimateResource(session, resource);
        planned.push({ resource: resource.name, steps, requests: sumOfRequests(steps) });
      } catch (error) {
        if (areNamed || !(error instanceof Forbidden)) throw error;
        skipped.push({ resource: resource.name, why: error.message });
      }
  });
  const requests = sumOfRequests(planned);
  const { rateLimit } = settings;
  // The first minute's requests are sent in a burst, so they take almost no time.
  const minutes = rateLimit === null ? null : Math.max(0, Math.ceil(requests / rateLimit) - 1);
  if (flags.json) {
    printJson(deps.stdout, { profile, resources: planned, skipped, requests, minutes });
    return exitCodes.done;
  }
  for (const { resource, steps } of planned)
    for (const { what, requests, open } of steps)
      deps.stdout.write(
        `${resource}: ${what} (${pluralize(requests, "request")}${open ? " or more" : ""})\n`,
      );
  for (const { resource, why } of skipped) deps.stdout.write(`${resource}: skipped: ${why}\n`);
  const time = minutes ? `, about ${pluralize(minutes, "minute")} at the rate limit` : "";
  deps.stdout.write(`At least ${pluralize(requests, "request")} in total${time}. Nothing was written.\n`);
  return exitCodes.done;
}

function sumOfRequests(parts: readonly { requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

/** @param ping the ping URL; by default, the profile's URL */
async function syncProfile(
  chosen: ChosenResources,
  options: SyncOptions,
  flags: SyncFlags,
  { deps, profile }: Context,
  ping?: string,
): Promise<ExitCode> {
  // Read the settings only once, because `--key-file` can be a pipe.
  const settings = readSettings(flags, deps);
  return await withPings(ping ?? settings.ping, flags, deps, async () => {
    const command = { name: "sync", deps, flags, settings, options, appliesOmit: true, stopHint: resumeHint };
    await withMirrorSession(command, async (session) => {
      await syncResources(session, selectAllowed(chosen, session), (run) => {
        if (flags.json) printJson(deps.stdout, { profile, ...run });
      });
    });
    return exitCodes.done;
  });
}

/**
 * Separates the resources to read from those whose scope the key lacks.
 * @throws Forbidden if the key does not allow any of the resources and none of them has been synced before
 */
function selectAllowed(
  { resources: chosen, areNamed }: ChosenResources,
  { identity, mirror }: MirrorSession,
): ResourceSelection {
  const { scopes } = identity.key;
  // Always request a named resource, because the API's error is more useful than a note that it was skipped.
  const isAllowed = ({ scope }: Resource) => areNamed || scopes.includes(scope);
  const allowed = chosen.filter(isAllowed);
  const withoutScope = chosen
    .filter((resource) => !isAllowed(resource))
    .map((resource) => ({
      resource,
      why: `the key lacks the scope ${resource.scope}`,
      wasReadBefore: hasBeenRead(mirror, resource),
    }));
  if (allowed.length === 0 && !withoutScope.some(({ wasReadBefore }) => wasReadBefore))
    throw new Forbidden("The key has none of the scopes that a sync needs, so nothing was read.", {
      hint: "in the brand's console (Settings > Integrations > Brand API), create a key that has scopes",
    });
  return { allowed, withoutScope, areNamed };
}
