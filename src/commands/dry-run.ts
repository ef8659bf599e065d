import type { Deps } from "../deps.js";
import { AccessForbidden } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Resource } from "../resources/types.js";
import { planResource } from "../sync/engine.js";
import { type Skipped, smallFirst } from "../sync/resources.js";
import type { Access, PlanStep } from "../sync/run.js";
import { printJson } from "../ui/print.js";

/** The plan of a sync, as `sync --dry-run --json` prints it. */
interface Plan {
  profile: string | undefined;
  resources: { resource: string; steps: PlanStep[]; requests: number }[];
  skipped: { resource: string; why: string }[];
  requests: number;
  /** Minutes at the rate limit, the first burst included; null without a limit. */
  minutes: number | null;
}

/** Prints what a sync would read. Costs a count request for each range, and writes nothing. */
export async function printPlan(
  access: Access & { settings: { rateLimit: number | null } },
  chosen: { allowed: readonly Resource[]; skipped: readonly Skipped[] },
  { stdout }: Pick<Deps, "stdout">,
  { json, profile }: { json: boolean; profile: string | undefined },
): Promise<void> {
  const skipped = chosen.skipped.map(({ resource, why }) => ({ resource: resource.name, why }));
  const resources: Plan["resources"] = [];
  for (const resource of smallFirst(chosen.allowed))
    try {
      const steps = await planResource(access, resource);
      resources.push({ resource: resource.name, steps, requests: sumOf(steps) });
    } catch (error) {
      if (!(error instanceof AccessForbidden)) throw error;
      skipped.push({ resource: resource.name, why: error.message });
    }
  const requests = sumOf(resources);
  const { rateLimit } = access.settings;
  // A minute's worth of requests goes at once.
  const minutes = rateLimit === null ? null : Math.max(0, Math.ceil(requests / rateLimit) - 1);
  const plan = { profile, resources, skipped, requests, minutes };
  if (json) printJson(stdout, plan);
  else stdout.write(planText(plan));
}

function sumOf(parts: readonly { requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}

function planText({ resources, skipped, requests, minutes }: Plan): string {
  const width = Math.max(0, ...resources.map(({ resource }) => resource.length));
  const steps = resources.flatMap(({ resource, steps }) => steps.map((step) => ({ resource, ...step })));
  const lines = steps.map(
    ({ resource, what, requests, open }) =>
      `${resource.padEnd(width)}  ${what} (${counted(requests, "request")}${open ? " or more" : ""})`,
  );
  const left = skipped.map(({ resource, why }) => `${resource}: skipped: ${why}`);
  const least = steps.some(({ open }) => open) ? "At least " : "";
  const time =
    minutes === null ? "" : minutes === 0 ? ", within a minute" : `, about ${minutes} min at the rate limit`;
  return `${[...lines, ...left, `${least}${counted(requests, "request")} in all${time}. Nothing was written.`].join("\n")}\n`;
}
