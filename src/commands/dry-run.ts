import type { Deps } from "../deps.js";
import { AccessForbidden } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Resource } from "../resources/types.js";
import { planResource } from "../sync/engine.js";
import { type Skipped, smallFirst } from "../sync/resources.js";
import type { Access, PlanStep } from "../sync/run.js";
import { printJson } from "../ui/print.js";

/** What `sync --dry-run --json` prints, one object in all. */
interface Plan {
  resources: { resource: string; steps: PlanStep[]; requests: number }[];
  skipped: { resource: string; why: string }[];
  requests: number;
  /** Minutes at the rate limit, the first burst included; null where there is no limit. */
  minutes: number | null;
}

/** Prints what a sync would read. Costs a count request for each range, and writes nothing. */
export async function printPlan(
  access: Access & { settings: { rateLimit: number | null } },
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[] },
  deps: Pick<Deps, "stdout">,
  json: boolean,
  profile?: string,
): Promise<void> {
  const plan: Plan = {
    resources: [],
    skipped: chosen.skipped.map(({ resource, why }) => ({ resource: resource.name, why })),
    requests: 0,
    minutes: null,
  };
  for (const resource of smallFirst(chosen.allowed)) {
    try {
      const steps = await planResource(access, resource);
      const requests = steps.reduce((sum, step) => sum + step.requests, 0);
      plan.resources.push({ resource: resource.name, steps, requests });
      plan.requests += requests;
    } catch (error) {
      if (!(error instanceof AccessForbidden)) throw error;
      plan.skipped.push({ resource: resource.name, why: error.message });
    }
  }
  const perMinute = access.settings.rateLimit;
  plan.minutes = perMinute === null ? null : minutesFor(plan.requests, perMinute);
  if (json) printJson(deps.stdout, { profile, ...plan });
  else deps.stdout.write(planText(plan));
}

/** A window's worth goes at once; each further one has to wait a minute. */
export function minutesFor(requests: number, perMinute: number): number {
  return Math.max(0, Math.ceil(requests / perMinute) - 1);
}

function planText(plan: Plan): string {
  const width = Math.max(0, ...plan.resources.map(({ resource }) => resource.length));
  const lines = plan.resources.flatMap(({ resource, steps }) =>
    steps.map(({ open, requests, what }) => {
      const more = open ? " or more" : "";
      return `${resource.padEnd(width)}  ${what} (${counted(requests, "request")}${more})`;
    }),
  );
  const skipped = plan.skipped.map(({ resource, why }) => `${resource}: skipped: ${why}`);
  const time =
    plan.minutes === null
      ? ""
      : plan.minutes === 0
        ? ", within a minute"
        : `, about ${plan.minutes} min at the rate limit`;
  const isOpen = plan.resources.some(({ steps }) => steps.some((step) => step.open));
  const least = isOpen ? "At least " : "";
  const all = `${counted(plan.requests, "request")} in all`;
  return `${[...lines, ...skipped, `${least}${all}${time}. Nothing was written.`].join("\n")}\n`;
}
