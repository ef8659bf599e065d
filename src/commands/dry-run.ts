import { AccessForbidden } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Resource } from "../resources/types.js";
import { planResource } from "../sync/engine.js";
import { type Skipped, smallFirst } from "../sync/resources.js";
import type { PlanStep, SyncSession } from "../sync/run.js";
import { printJson } from "../ui/print.js";
import type { Context } from "./context.js";

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
  const requestsOf = (step: PlanStep) => counted(step.requests, "request") + (step.open ? " or more" : "");
  const lines = resources.flatMap(({ resource, steps }) =>
    steps.map((step) => `${resource}: ${step.what} (${requestsOf(step)})`),
  );
  for (const { resource, why } of skipped) lines.push(`${resource}: skipped: ${why}`);
  const time = minutes ? `, about ${counted(minutes, "minute")} at the rate limit` : "";
  lines.push(`At least ${counted(requests, "request")} in all${time}. Nothing was written.`);
  deps.stdout.write(`${lines.join("\n")}\n`);
}

function sumOf(parts: readonly { requests: number }[]): number {
  return parts.reduce((sum, { requests }) => sum + requests, 0);
}
