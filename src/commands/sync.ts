import { Command, Option } from "commander";
import { AccessForbidden, UsageError } from "../errors.js";
import { parseWindow } from "../lib/times.js";
import { resources } from "../resources/index.js";
import { printJson } from "../ui/print.js";
import { chooseResources } from "./choose.js";
import type { Context, GlobalOptions } from "./context.js";
import { allProfiles, maxWait, parsed, rateLimit, wait } from "./flags.js";
import { examples } from "./help.js";
import { checkTaken, type PartialFlags } from "./taken-flags.js";
import { filterValues, parseCount, parseFilter, parseList, parseRange } from "./values.js";

interface SyncFlags extends PartialFlags, GlobalOptions {
  window?: number;
  full?: boolean;
  dryRun?: boolean;
  acceptRemovals?: boolean;
  wait?: boolean;
  audit?: number;
  details?: "all" | "changed" | "none";
  allProfiles?: boolean;
}

export function sync(context: Context): Command {
  return new Command("sync")
    .summary("Pull the brand's data into the mirror")
    .description(
      "Without a resource: everything that the key's scopes and the plan allow. " +
        "A run that was stopped is finished by the next one, from the page where it stopped.",
    )
    .argument("[resource...]", resources.map(({ name }) => name).join(", "))
    .option("--since <time>", "read from here, whatever was read before")
    .option("--until <time>", "read up to here")
    .addOption(
      parsed(
        "--window <span>",
        "re-read this much before the last complete read (days, or a duration; default: 30d)",
        parseWindow,
      ),
    )
    .option("--full", "read everything again")
    .option("--dry-run", "print what would be read, and how long that takes")
    .addOption(
      parsed(
        "--audit <n>",
        "requests spent on what was read longest ago (default: 5)",
        parseCount,
      ).hideHelp(),
    )
    .option("--accept-removals", "apply removals even where they look implausible")
    .addOption(wait())
    .addOption(
      new Option(
        "--details <which>",
        "opportunities, surveys: whose details to read (default: changed; with --full: all)",
      )
        .choices(["all", "changed", "none"])
        .hideHelp(),
    )
    .addOption(
      new Option("--source <kinds>", "content: only these (a partial run)")
        .choices(filterValues("source"))
        .argParser(parseFilter("source"))
        .hideHelp(),
    )
    .addOption(
      new Option("--media-type <kinds>", "content: only these (a partial run)")
        .choices(filterValues("media_type"))
        .argParser(parseFilter("media_type"))
        .hideHelp(),
    )
    .addOption(
      parsed("--opportunity <ids>", "content: only these campaigns (a partial run)", parseList).hideHelp(),
    )
    .addOption(parsed("--host <ids>", "content, analytics-clicks: only these hosts", parseList).hideHelp())
    .addOption(
      new Option("--group-by <bucket>", "analytics-clicks: buckets of the time series (default: day)")
        .choices(["day", "week", "month"])
        .hideHelp(),
    )
    .addOption(new Option("--per-host", "analytics-clicks: for every host on the mirrored roster").hideHelp())
    .addOption(allProfiles())
    .addOption(rateLimit())
    .addOption(maxWait())
    .addHelpText(
      "after",
      examples(
        ["brandapi sync", "everything, as the cron line does it"],
        ["brandapi sync orders --since 2026-01-01", "orders placed since New Year"],
        ["brandapi sync --dry-run", "what that would read, in how many requests and minutes"],
      ),
    )
    .action((names: string[], _, command: Command) => runSync(names, command.optsWithGlobals(), context));
}

async function runSync(names: readonly string[], options: SyncFlags, context: Context): Promise<void> {
  const { deps, profile } = context;
  if (options.allProfiles) {
    const { eachProfile } = await import("./each-profile.js");
    return await eachProfile(options, context, "sync", (own, theirs) => runSync(names, own, theirs));
  }
  const chosen = chooseResources(names);
  const now = deps.clock.now();
  const { since, until } = parseRange(options, now);
  if (since !== undefined && since > now)
    throw new UsageError("`--since` lies in the future.", { hint: "choose a time in the past" });
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
  await withMirrorRun(
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
        return;
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
    },
  );
}

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
