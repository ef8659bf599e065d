import { UsageError } from "../errors.js";
import { takesDates } from "../resources/types.js";
import { defaultOptions, type SyncOptions } from "../sync/run.js";
import type { GlobalOptions } from "./context.js";
import { type Chosen, parseRange } from "./flags.js";

type Same = "acceptRemovals" | "audit" | "details" | "full" | "groupBy" | "perHost";

export interface SyncFlags extends GlobalOptions, Partial<Pick<SyncOptions, Same>> {
  ping?: string;
  since?: string;
  until?: string;
  window?: number;
  dryRun?: boolean;
  wait?: boolean;
  host?: string[];
  allProfiles?: boolean;
}

/** Returns what the flags ask of a sync. @throws UsageError for times that make no range in the past */
export function readOptions(flags: SyncFlags, now: number): SyncOptions {
  const { host: hosts = [], window: windowMs = defaultOptions.windowMs } = flags;
  const details = flags.full ? "all" : defaultOptions.details;
  return { ...defaultOptions, details, ...flags, ...parseRange(flags, now), hosts, windowMs };
}

/** @throws UsageError for a flag that makes no difference to a resource that was named */
export function refuseUseless({ resources, named }: Chosen, flags: SyncFlags): void {
  const { groupBy, host, perHost, since, until } = flags;
  const ofDates = [since && "--since", until && "--until"];
  const ofClicks = [groupBy && "--group-by", host && "--host", perHost && "--per-host"];
  for (const resource of named ? resources : []) {
    const { name, strategy } = resource;
    const others = [takesDates(resource) ? [] : ofDates, strategy.kind === "monthly" ? [] : ofClicks];
    const useless = others.flat().find(Boolean);
    if (useless)
      throw new UsageError(`\`${name}\` takes no \`${useless}\`.`, {
        hint: `leave it out, or sync \`${name}\` by itself`,
      });
  }
}
