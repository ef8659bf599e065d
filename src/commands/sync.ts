import { AccessForbidden, exitCodes, UsageError } from "../errors.js";
import { parseWindow } from "../lib/times.js";
import { resources } from "../resources/index.js";
import { printJson } from "../ui/data.js";
import { chooseResources } from "./choose.js";
import { type CommandSpec, defineCommand, type Flag } from "./command.js";
import { allProfilesFlag, networkFlags } from "./globals.js";
import { checkTaken, type PartialFlags } from "./taken-flags.js";
import { filterValues, parseCount, parseFilter, parseList, parseRange } from "./values.js";

interface SyncFlags extends PartialFlags {
  window?: number;
  full?: boolean;
  dryRun?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  audit?: number;
  details?: "all" | "changed" | "none";
  allProfiles?: boolean;
}

const syncFlags: readonly Flag[] = [
  { flags: "--since <time>", about: "read from here, whatever was read before" },
  { flags: "--until <time>", about: "read up to here" },
  {
    flags: "--window <span>",
    about: "re-read this much before the last complete read (days, or a duration)",
    parse: parseWindow,
    shown: "30d",
  },
  { flags: "--full", about: "read everything again" },
  { flags: "--dry-run", about: "print what would be read, and how long that takes" },
  {
    flags: "--audit <n>",
    about: "requests spent on what was read longest ago",
    parse: parseCount,
    shown: "5",
  },
  { flags: "--accept-removals", about: "apply removals even where they look implausible" },
  { flags: "--wait", about: "queue behind another run on this mirror, however long it takes" },
  {
    flags: "--details <which>",
    about: "opportunities, surveys: whose details to read",
    choices: ["all", "changed", "none"],
    shown: "changed; with --full: all",
  },
  {
    flags: "--source <kinds>",
    about: `content: only ${filterValues("source").join(", ")} (a partial run)`,
    parse: parseFilter("source"),
    values: filterValues("source"),
    isList: true,
  },
  {
    flags: "--media-type <kinds>",
    about: `content: only ${filterValues("media_type").join(", ")} (a partial run)`,
    parse: parseFilter("media_type"),
    values: filterValues("media_type"),
    isList: true,
  },
  { flags: "--opportunity <ids>", about: "content: only these campaigns (a partial run)", parse: parseList },
  { flags: "--host <ids>", about: "content, analytics-clicks: only these hosts", parse: parseList },
  {
    flags: "--group-by <bucket>",
    about: "analytics-clicks: buckets of the time series",
    choices: ["day", "week", "month"],
    shown: "day",
  },
  { flags: "--per-host", about: "analytics-clicks: for every host on the mirrored roster" },
];

export const sync: CommandSpec = defineCommand<SyncFlags>({
  name: "sync",
  summary: "Pull the brand's data into the mirror",
  description:
    "Without a resource: everything that the key's scopes and the plan allow. " +
    "A run that was stopped is finished by the next one, from the page where it stopped.",
  arguments: [{ syntax: "[resource...]", about: resources.map(({ name }) => name).join(", ") }],
  flags: [...syncFlags, allProfilesFlag, ...networkFlags],
  examples: [
    { command: "brandapi sync", about: "everything, as the cron line does it" },
    { command: "brandapi sync orders --since 2026-01-01", about: "orders placed since New Year" },
    { command: "brandapi sync --dry-run", about: "what that would read, in how many requests and minutes" },
  ],

  async run(invocation) {
    const { deps, args, options, profile } = invocation;
    if (options.allProfiles) {
      const { eachProfile } = await import("./each-profile.js");
      return await eachProfile(invocation, sync, "sync");
    }
    const chosen = chooseResources(args);
    const now = deps.clock.now();
    const { since, until } = parseRange(options, now);
    if (since !== undefined && since > now)
      throw new UsageError("`--since` lies in the future.", { hint: "name a time that has been" });
    if (options.full && since !== undefined)
      throw new UsageError("`--full` reads everything: it takes no `--since`.", {
        hint: "leave one of them out",
      });
    checkTaken(chosen, options);
    const { defaultOptions } = await import("../sync/run.js");
    const syncOptions = {
      ...defaultOptions,
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      full: options.full ?? false,
      windowMs: options.window ?? defaultOptions.windowMs,
      acceptRemovals: options.acceptRemovals ?? false,
      audit: options.audit ?? defaultOptions.audit,
      details: options.details ?? (options.full ? "all" : defaultOptions.details),
      groupBy: options.groupBy ?? defaultOptions.groupBy,
      hosts: options.host ?? [],
      perHost: options.perHost ?? false,
      filters: {
        source: options.source ?? [],
        media_type: options.mediaType ?? [],
        opportunity_id: options.opportunity ?? [],
        host_id: options.host ?? [],
      },
    };
    const { withMirrorRun } = await import("./mirror-run.js");
    const purpose = options.dryRun ? "plan" : "write";
    return await withMirrorRun(
      { deps, options, purpose, wait: options.wait ?? false, command: "sync" },
      async (session) => {
        const access = { ...session, options: syncOptions };
        const { allowed, skipped } = divide(chosen, session.identity.key.scopes);
        if (allowed.length === 0)
          throw new AccessForbidden("The key has none of the scopes that a sync needs: nothing was read.", {
            hint: "create a key with scopes in the console: settings, integrations, brand API",
          });
        if (options.dryRun) {
          const { printPlan } = await import("./dry-run.js");
          await printPlan(access, { allowed, skipped }, deps, options.json === true, profile);
          return exitCodes.done;
        }
        const { syncResources } = await import("../sync/resources.js");
        const { failureOf } = await import("./failed-resources.js");
        const chosenNow = { allowed, skipped, named: chosen.named };
        const ended = await syncResources(access, chosenNow, (run) => {
          if (options.json) printJson(deps.stdout, { profile, ...run });
        });
        if (ended.failures.length === 0 && ended.succeeded === 0)
          throw new AccessForbidden("Neither the key nor the plan allows any of it: nothing was read.", {
            hint: "see `brandapi whoami` for the key's scopes, and the brand's plan",
          });
        const hint = "what succeeded is kept; see `brandapi status`";
        const failure = failureOf(ended, allowed.length, { failed: "failed", left: "Not read", hint });
        if (failure !== undefined) throw failure;
        return exitCodes.done;
      },
    );
  },
});

/** Without a resource named, what the key does not allow is left out, and said; named, the API refuses it. */
function divide({ resources: chosen, named }: ReturnType<typeof chooseResources>, scopes: readonly string[]) {
  const lacks = (scope: string) => !named && !scopes.includes(scope);
  return {
    allowed: chosen.filter(({ scope }) => !lacks(scope)),
    skipped: chosen
      .filter(({ scope }) => lacks(scope))
      .map((resource) => ({ resource, why: `the key lacks the scope ${resource.scope}` })),
  };
}
