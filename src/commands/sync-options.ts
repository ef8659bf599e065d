import { UsageError } from "../errors.js";
import { type Resource, takesDates } from "../resources/types.js";
import { defaultOptions, type SyncOptions } from "../sync/run.js";
import type { GlobalOptions } from "./context.js";
import { type Chosen, parseRange } from "./flags.js";

export interface SyncFlags extends GlobalOptions {
  ping?: string;
  since?: string;
  until?: string;
  window?: number;
  full?: boolean;
  dryRun?: boolean;
  audit?: number;
  acceptRemovals?: boolean;
  wait?: boolean;
  details?: SyncOptions["details"];
  host?: string[];
  groupBy?: string;
  perHost?: boolean;
  allProfiles?: boolean;
}

/** Returns what the flags ask of a sync. @throws UsageError for times that make no range in the past */
export function readOptions(flags: SyncFlags, now: number): SyncOptions {
  const { since, until } = parseRange(flags, now);
  const full = flags.full ?? false;
  return {
    ...defaultOptions,
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    full,
    windowMs: flags.window ?? defaultOptions.windowMs,
    acceptRemovals: flags.acceptRemovals ?? false,
    audit: flags.audit ?? defaultOptions.audit,
    details: flags.details ?? (full ? "all" : defaultOptions.details),
    groupBy: flags.groupBy ?? defaultOptions.groupBy,
    hosts: flags.host ?? [],
    perHost: flags.perHost ?? false,
  };
}

/** The flags that make no difference to every resource, and the resources to which they do. */
const uses: readonly (readonly [
  flag: string,
  value: keyof SyncFlags,
  isUseful: (one: Resource) => boolean,
])[] = [
  ["--since", "since", takesDates],
  ["--until", "until", takesDates],
  ["--host", "host", isMonthly],
  ["--group-by", "groupBy", isMonthly],
  ["--per-host", "perHost", isMonthly],
];

/** @throws UsageError for a flag that makes no difference to a resource that was named */
export function refuseUseless({ resources, named }: Chosen, flags: SyncFlags): void {
  for (const [flag, value, isUseful] of uses) {
    const other = resources.find((resource) => !isUseful(resource));
    if (named && other && flags[value] !== undefined)
      throw new UsageError(`\`${other.name}\` takes no \`${flag}\`.`, {
        hint: `leave it out, or sync \`${other.name}\` by itself`,
      });
  }
}

function isMonthly({ strategy }: Resource): boolean {
  return strategy.kind === "monthly";
}
