import { UsageError } from "../errors.js";
import { type Resource, takesDates } from "../resources/types.js";
import type { chooseResources } from "./choose.js";

/** Flags of `sync` that say something of some resources only. */
export interface PartialFlags {
  since?: string;
  until?: string;
  source?: string[];
  mediaType?: string[];
  opportunity?: string[];
  host?: string[];
  groupBy?: string;
  perHost?: boolean;
}

const isMonthly = ({ strategy }: Resource) => strategy.kind === "monthly";

function filteredBy(wanted: string) {
  return ({ strategy }: Resource) =>
    strategy.kind === "dated" && (strategy.filters ?? []).some(({ parameter }) => parameter === wanted);
}

const takers: Record<keyof PartialFlags, { flag: string; takes(resource: Resource): boolean }> = {
  since: { flag: "--since", takes: takesDates },
  until: { flag: "--until", takes: takesDates },
  source: { flag: "--source", takes: filteredBy("source") },
  mediaType: { flag: "--media-type", takes: filteredBy("media_type") },
  opportunity: { flag: "--opportunity", takes: filteredBy("opportunity_id") },
  host: { flag: "--host", takes: (one) => filteredBy("host_id")(one) || isMonthly(one) },
  groupBy: { flag: "--group-by", takes: isMonthly },
  perHost: { flag: "--per-host", takes: isMonthly },
};

/** @throws UsageError for a resource that was named, and a flag that would change nothing of how it is read */
export function checkTaken(
  { resources, named }: ReturnType<typeof chooseResources>,
  options: PartialFlags,
): void {
  if (!named) return;
  for (const [name, { flag, takes }] of Object.entries(takers)) {
    const other = resources.find((resource) => !takes(resource));
    if (options[name as keyof PartialFlags] === undefined || !other) continue;
    const why = takes === takesDates ? "is always read whole" : "has nothing that it would choose";
    throw new UsageError(`\`${other.name}\` ${why}: it takes no \`${flag}\`.`, {
      hint: `leave it out, or sync \`${other.name}\` by itself`,
    });
  }
}
