import { type Command, Option } from "commander";
import { runForAllProfiles, throwIfFailed } from "../cli/all-profiles.js";
import type { Context } from "../cli/context.js";
import {
  allProfilesOption,
  chooseResources,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
  waitOption,
} from "../cli/flags.js";
import { type RunSession, withMirrorRun } from "../cli/mirror-run.js";
import { parsePingUrl, withPings } from "../cli/ping.js";
import { type GlobalOptions, readSettings } from "../config/settings.js";
import { AccessForbidden, type ExitCode, exitCodes, UsageError } from "../errors.js";
import { resources } from "../resources/registry.js";
import { acceptsDates, type Resource } from "../resources/resource.js";
import { wasRead } from "../store/runs.js";
import { planResource } from "../sync/run.js";
import { defaultOptions, type PlanStep, type SyncOptions, type SyncSession } from "../sync/session.js";
import { type Skipped, smallFirst, syncResources } from "../sync/sync-resources.js";
import { printJson } from "../util/terminal.js";
import { pluralize } from "../util/text.js";
import { parseWindow } from "../util/times.js";

/**
 * Prints what a sync would read: with `--json` `{profile, resources: [{resource, steps, requests}], skipped: [{resource,
 * why}], requests, minutes}`. Costs a count request for each range, and writes nothing.
 */
export async function printPlan(
  access: SyncSession & { settings: { rateLimit: number | null } },
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[]; named: boolean },
  json: boolean,
  { deps, profile }: Context,
): Promise<void> {
  const skipped = chosen.skipped.map(({ resource, why }) => ({ resource: resource.name, why }));
  const resources: { resource: string; steps: PlanStep[]; requests: number }[] = [];
  for (const resource of smallFirst(chosen.allowed))
    try {
      const steps = await planResource(access, resource);
      resources.push({ resource: resource.name, steps, requests: sumOf(steps) });
    } catch (error) {
      if (chosen.named || !(error instanceof AccessForbidden)) throw error;
      skipped.push({ resource: resource.name, why: error.message });
    }
  const requests = sumOf(resources);
  const { rateLimit } = access.settings;
  // A minute's worth of requests goes at once.
  const minutes = rateLimit === null ? null : Math.max(0, Math.ceil(requests / rateLimit) - 1);
  if (json) return printJson(deps.stdout, { profile, resources, skipped, requests, minutes });
  const requestsOf = (step: PlanStep) => pluralize(step.requests, "request") + (step.open ? " or more" : "");
  const lines = resources.flatMap(({ resource, steps }) =>
    steps.map((step) => `${resource}: ${step.what} (${requestsOf(step)})`),
  );
  for (const { resource, why } of skipped) lines.push(`${resource}: skipped: ${why}`);
  const time = minutes ? `, about ${pluralize(minutes, "minute")} at the rate limit` : "";
  lines.push(`At least ${pluralize(requests, "request")} in all${time}. Nothing was written.`);
  deps.stdout.write(`${lines.join("\n")}\n`);
}

function sumOf(parts: readonly { requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

type Chosen = ReturnType<typeof chooseResources>;
type Same = "acceptRemovals" | "audit" | "details" | "full" | "groupBy" | "perHost";

interface SyncFlags extends GlobalOptions, Partial<Pick<SyncOptions, Same>> {
  ping?: string;
  since?: string;
  until?: string;
  window?: number;
  dryRun?: boolean;
  wait?: boolean;
  host?: string[];
  allProfiles?: boolean;
}

export const about =
  "Without a resource, reads everything that the key and the plan allow. " +
  "The next run resumes an interrupted one; only lists without dates start over.";

export const examples = {
  "brandapi sync": "update everything, as the nightly run does",
  "brandapi sync orders --since 2026-01-01": "read the orders placed since New Year",
  "brandapi sync --dry-run": "show what a sync would read, and how long it would take",
};

export function define(command: Command): void {
  const whose = "opportunities, surveys: whose details to read (default: changed; with --full: all)";
  const details = new Option("--details <which>", whose);
  const groupBy = new Option("--group-by <bucket>", "analytics-clicks: buckets of time (default: day)");
  const again = "re-read this long before the last read: days or a duration (default: 30d)";
  const perHost = new Option("--per-host", "analytics-clicks: for every host on the mirrored roster");
  command
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--since <time>", "read from here, whatever was read before")
    .option("--until <time>", "read up to here")
    .addOption(parsedOption("--window <span>", again, parseWindow))
    .addOption(new Option("--full", "read everything again").conflicts("since"))
    .option("--dry-run", "print what would be read, and how long that takes")
    .option("--accept-removals", "apply removals even where they look implausible")
    .addOption(waitOption)
    .addOption(allProfilesOption)
    .addOption(
      parsedOption("--ping <url>", "tell a dead-man's switch how it went (BRANDAPI_PING)", parsePingUrl),
    )
    .addOption(parsedOption("--audit <n>", "requests spent on the oldest reads (default: 5)", parseCount))
    .addOption(details.choices(["all", "changed", "none"]))
    .addOption(parsedOption("--host <ids>", "analytics-clicks: only these hosts", parseHostIds))
    .addOption(groupBy.choices(["day", "week", "month"]))
    .addOption(perHost.conflicts("host"));
}

export async function run(flags: SyncFlags, context: Context, names: readonly string[]): Promise<ExitCode> {
  const { deps } = context;
  const chosen = chooseResources(names);
  refuseUseless(chosen, flags);
  readOptions(flags, deps.clock.now());
  const { ping, ...profileFlags } = flags;
  const { allProfiles, dryRun } = flags;
  if (!allProfiles) return await syncProfile(chosen, flags, context);
  const syncAll = () =>
    runForAllProfiles(profileFlags, context, (options, profileContext) =>
      syncProfile(chosen, options, profileContext),
    );
  // One URL is pinged for all profiles together, and each profile's own URL for that profile.
  return dryRun ? await syncAll() : await withPings(ping ?? deps.env.BRANDAPI_PING, flags, deps, syncAll);
}

/** Syncs one profile's mirror. */
async function syncProfile(chosen: Chosen, flags: SyncFlags, context: Context): Promise<ExitCode> {
  const { deps } = context;
  const options = readOptions(flags, deps.clock.now());
  const purpose = flags.dryRun ? "plan" : "write";
  const sync = async () => {
    await withMirrorRun({ deps, options: flags, purpose, command: "sync" }, (session) =>
      syncChosen(chosen, { ...session, options }, flags, context),
    );
    return exitCodes.done;
  };
  if (flags.dryRun) return await sync();
  const { ping = (await readSettings(flags, deps)).ping } = flags;
  return await withPings(ping, flags, deps, sync);
}

/** Parses a list of host IDs. @throws UsageError for one that the API would refuse */
function parseHostIds(text: string, previous: readonly string[] = []): string[] {
  const ids = parseList(text, previous);
  const wrong = ids.find((id) => !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id));
  if (wrong === undefined) return ids;
  throw new UsageError(`Not a host ID: \`${wrong}\`.`, {
    hint: 'a host ID is a UUID; `brandapi query "SELECT id, username FROM hosts"` lists them',
  });
}

async function syncChosen(
  { resources, named }: Chosen,
  access: RunSession & SyncSession,
  { dryRun, json = false }: SyncFlags,
  context: Context,
): Promise<void> {
  const { scopes } = access.identity.key;
  // The API refuses what is named without its scope.
  const isAllowed = ({ scope }: Resource) => named || scopes.includes(scope);
  const allowed = resources.filter(isAllowed);
  const others = resources.filter((one) => !isAllowed(one));
  const skipped = others.map((resource) => ({ resource, why: `the key lacks the scope ${resource.scope}` }));
  const lost = others.filter(({ name }) => wasRead(access.mirror, name));
  if (allowed.length === 0 && lost.length === 0)
    throw new AccessForbidden("The key has none of the scopes that a sync needs: nothing was read.", {
      hint: "create a key with scopes in the console: settings, integrations, brand API",
    });
  if (dryRun) return await printPlan(access, { allowed, skipped, named }, json, context);
  const ended = await syncResources(access, { allowed, skipped, named }, (row) => {
    if (json) printJson(context.deps.stdout, { profile: context.profile, ...row });
  });
  throwIfFailed(ended, allowed.length + lost.length);
}

/** Returns what the flags ask of a sync. @throws UsageError for times that make no range in the past */
function readOptions(flags: SyncFlags, now: number): SyncOptions {
  const { host: hosts = [], window: windowMs = defaultOptions.windowMs } = flags;
  const details = flags.full ? "all" : defaultOptions.details;
  return { ...defaultOptions, details, ...flags, ...parseRange(flags, now), hosts, windowMs };
}

/** @throws UsageError for a flag that makes no difference to a resource that was named */
function refuseUseless({ resources, named }: Chosen, flags: SyncFlags): void {
  const { audit, details, groupBy, host, perHost, since, until, window } = flags;
  const ofDates = [since && "--since", until && "--until"];
  const ofReadAgain = [window !== undefined && "--window"];
  const ofAudit = [audit !== undefined && "--audit"];
  const ofDetails = [details && "--details"];
  const ofClicks = [groupBy && "--group-by", host && "--host", perHost && "--per-host"];
  for (const resource of named ? resources : []) {
    const { name, strategy } = resource;
    const { kind } = strategy;
    const others = [
      acceptsDates(resource) ? [] : ofDates,
      kind === "dated" || kind === "monthly" ? [] : ofReadAgain,
      kind === "dated" ? [] : ofAudit,
      kind === "details" ? [] : ofDetails,
      kind === "monthly" ? [] : ofClicks,
    ];
    const useless = others.flat().find(Boolean);
    if (useless)
      throw new UsageError(`\`${name}\` takes no \`${useless}\`.`, {
        hint: `leave it out, or sync \`${name}\` without it`,
      });
  }
}
