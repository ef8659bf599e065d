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

interface Taker {
  flag: string;
  takes(resource: Resource): boolean;
  /** Why another one does not. */
  why: string;
}

const ofDates = { takes: takesDates, why: "is always read whole" };
const ofSome = (takes: Taker["takes"]) => ({ takes, why: "has nothing that it would choose" });

const takers: Record<keyof PartialFlags, Taker> = {
  since: { flag: "--since", ...ofDates },
  until: { flag: "--until", ...ofDates },
  source: { flag: "--source", ...ofSome(filteredBy("source")) },
  mediaType: { flag: "--media-type", ...ofSome(filteredBy("media_type")) },
  opportunity: { flag: "--opportunity", ...ofSome(filteredBy("opportunity_id")) },
  host: { flag: "--host", ...ofSome((one) => filteredBy("host_id")(one) || isMonthly(one)) },
  groupBy: { flag: "--group-by", ...ofSome(isMonthly) },
  perHost: { flag: "--per-host", ...ofSome(isMonthly) },
};

/** @throws UsageError for a resource that was named, and a flag that would change nothing of how it is read */
export function checkTaken(
  { resources, named }: ReturnType<typeof chooseResources>,
  options: PartialFlags,
): void {
  if (!named) return;
  for (const [name, { flag, takes, why }] of Object.entries(takers)) {
    const other = resources.find((resource) => !takes(resource));
    if (options[name as keyof PartialFlags] === undefined || !other) continue;
    throw new UsageError(`\`${other.name}\` ${why}: it takes no \`${flag}\`.`, {
      hint: `leave it out, or sync \`${other.name}\` by itself`,
    });
  }
}
