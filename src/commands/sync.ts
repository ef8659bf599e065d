import { type Command, Option } from "commander";
import { runForProfiles } from "../cli/all-profiles.js";
import { describeKeyReplacement } from "../cli/api-session.js";
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
import { checkPingUrl, withPings } from "../cli/ping.js";
import { parseSpan } from "../cli/time-flags.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import type { Context } from "../deps.js";
import { type ExitCode, exitCodes, Forbidden, UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { type Resource, type StrategyFlag, strategyTraits } from "../resources/resource.js";
import { hasBeenRead } from "../store/runs.js";
import { estimateSync, type SyncPlan } from "../sync/estimate.js";
import { defaultOptions, type SyncOptions } from "../sync/session.js";
import { type ResourceSelection, syncResources } from "../sync/sync-resources.js";
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
        parseSpan,
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
      parsedOption("--ping <url>", "URL to ping when the run starts and ends (BRANDAPI_PING)", checkPingUrl),
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
  const options = parseSyncOptions(flags, deps.clock.now());
  if (flags.dryRun)
    return await runForProfiles(flags, context, (profileFlags, profileContext) =>
      printPlan(chosen, options, profileFlags, profileContext),
    );
  const pingUrl = flags.ping ?? (deps.env.BRANDAPI_PING || undefined);
  // With `--all-profiles`, this URL is pinged once for all profiles, in addition to each profile's own URL.
  const [sharedUrl, profileUrl] = flags.allProfiles ? [pingUrl, undefined] : [undefined, pingUrl];
  return await withPings(sharedUrl, flags, deps, () =>
    runForProfiles(flags, context, (profileFlags, profileContext) =>
      syncProfile(chosen, options, profileFlags, profileContext, profileUrl),
    ),
  );
}

function refuseInapplicableFlags({ resources: chosen, areNamed }: ChosenResources, flags: SyncFlags): void {
  const values: Record<StrategyFlag, unknown> = {
    "--since": flags.since,
    "--until": flags.until,
    "--window": flags.window,
    "--audit": flags.audit,
    "--details": flags.details,
    "--group-by": flags.groupBy,
    "--host": flags.host,
    "--per-host": flags.perHost,
  };
  const given = Object.entries(values).flatMap(([flag, value]) => (value === undefined ? [] : flag));
  for (const { name, strategy } of areNamed ? chosen : []) {
    const applicable: readonly string[] = strategyTraits[strategy.kind].syncFlags;
    const flag = given.find((one) => !applicable.includes(one));
    if (flag !== undefined)
      throw new UsageError(`\`${flag}\` does not apply to \`${name}\`.`, {
        hint: `omit the option, or sync \`${name}\` separately`,
      });
  }
}

/** @throws UsageError if the time range or a host ID is invalid */
function parseSyncOptions(flags: SyncFlags, now: number): SyncOptions {
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

async function printPlan(
  chosen: ChosenResources,
  options: SyncOptions,
  flags: SyncFlags,
  { deps, profile }: Context,
): Promise<void> {
  const settings = readSettings(flags, deps);
  const command = { name: "sync", deps, flags, settings, options };
  const plan = await withPlanSession(command, (session) =>
    estimateSync(session, selectAllowed(chosen, session), settings.rateLimit),
  );
  if (flags.json) printJson(deps.stdout, { profile, ...plan });
  else deps.stdout.write(formatPlan(plan));
}

function formatPlan({ minutes, requests, resources: planned, skipped }: SyncPlan): string {
  const stepLines = planned.flatMap(({ resource, steps }) =>
    steps.map((step) => {
      const count = `${pluralize(step.requests, "request")}${step.open ? " or more" : ""}`;
      return `${resource}: ${step.what} (${count})`;
    }),
  );
  const time = minutes ? `, about ${pluralize(minutes, "minute")} at the rate limit` : "";
  const lines = [
    ...stepLines,
    ...skipped.map(({ resource, why }) => `${resource}: skipped: ${why}`),
    `At least ${pluralize(requests, "request")} in total${time}. Nothing was written.`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** @param pingUrl the URL to ping instead of the profile's URL */
async function syncProfile(
  chosen: ChosenResources,
  options: SyncOptions,
  flags: SyncFlags,
  { deps, profile }: Context,
  pingUrl?: string,
): Promise<void> {
  // Read the settings only once, because `--key-file` can be a pipe.
  const settings = readSettings(flags, deps);
  const command = { name: "sync", deps, flags, settings, options, appliesOmit: true, stopHint: resumeHint };
  await withPings(pingUrl ?? settings.ping, flags, deps, async () => {
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
 * @throws Forbidden if the key allows none of the resources and none of them has been synced before
 */
function selectAllowed(
  { resources: chosen, areNamed }: ChosenResources,
  { identity, mirror, settings }: MirrorSession,
): ResourceSelection {
  const { scopes } = identity.key;
  const thenReplaceKey = `then ${describeKeyReplacement(settings)}`;
  // If the user named a resource, request it even without its scope, because the API's error is more useful than a note
  // that the resource was skipped.
  const isAllowed = ({ scope }: Resource) => areNamed || scopes.includes(scope);
  const allowed = chosen.filter(isAllowed);
  const withoutScope = chosen
    .filter((resource) => !isAllowed(resource))
    .map((resource) => ({
      resource,
      why: `the key lacks the scope ${resource.scope}`,
      hint: `create a key with that scope in the brand's console, ${thenReplaceKey}`,
      wasReadBefore: hasBeenRead(mirror, resource),
    }));
  if (allowed.length === 0 && !withoutScope.some(({ wasReadBefore }) => wasReadBefore))
    throw new Forbidden("The key has none of the scopes that a sync needs, so nothing was read.", {
      hint: `create a key with the required scopes in the brand's console (Settings > Integrations > Brand API), ${thenReplaceKey}`,
      failureScope: "command",
    });
  return { allowed, withoutScope, areNamed };
}
