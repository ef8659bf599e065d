import { beginRun, saveRun } from "../mirror/runs.js";
import type { Resource } from "../resources/types.js";
import type { Access } from "../sync/context.js";
import { quietContext, syncResource } from "../sync/engine.js";
import { formatInstant } from "../times.js";
import { verifyDated } from "./dated.js";
import type { Verdict } from "./report.js";
import { verifyWhole } from "./whole.js";

/**
 * Proves that the mirror holds what the API holds of a resource; with `repair` reads again what differs.
 * The repair is a run like any other, in `sync_runs`.
 */
export async function verifyResource(access: Access, resource: Resource, repair: boolean): Promise<Verdict> {
  const before = access.api.stats.requests;
  const spent = () => access.api.stats.requests - before;
  const { kind } = resource.strategy;
  if (kind === "monthly" || kind === "snapshot") return { ...restated(resource), requests: 0 };
  if (kind === "window" || kind === "increment") {
    const run = beginRun(access.mirror, resource.name, formatInstant(access.clock.now()));
    const context = quietContext(access, resource, run);
    const verdict = await verifyDated(context, repair);
    Object.assign(run, {
      requests: spent(),
      finished_at: formatInstant(access.clock.now()),
      verified: verdict.state === "proven" || verdict.state === "repaired",
      outcome: "verified",
      error: context.shortfalls.join("; ") || null,
    });
    saveRun(access.mirror, run);
    return { ...verdict, requests: spent() };
  }
  const verdict = await verifyWhole(quietContext(access, resource));
  if (!repair || verdict.state !== "different") return { ...verdict, requests: spent() };
  const options = { ...access.options, full: true, details: "all" as const };
  const { error } = await syncResource({ ...access, options }, resource);
  if (error !== null) throw error;
  const after = await verifyWhole(quietContext(access, resource));
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, requests: spent() };
}

function restated(resource: Resource): Omit<Verdict, "requests"> {
  const why = "the API restates these figures at any time: they are kept as they were when they were read";
  return {
    resource: resource.name,
    state: "unproven",
    months: [{ month: "all", state: "unproven", why, read_at: null }],
    blind_spot: "there is nothing to prove: `sync` reads them again",
  };
}
