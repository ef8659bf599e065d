import { Stopped } from "../errors.js";
import { recordRun } from "../mirror/index.js";
import type { Resource } from "../resources/types.js";
import { openRun, syncResource } from "../sync/engine.js";
import type { Access, SyncRun } from "../sync/run.js";
import { verifyDated } from "./dated.js";
import type { Finding, Verdict } from "./report.js";
import { verifyWhole } from "./whole.js";

/**
 * Proves that the mirror holds what the API holds of a resource; with `repair` reads again what differs.
 * Each look is a run like any other, in `sync_runs`.
 */
export async function verifyResource(access: Access, resource: Resource, repair: boolean): Promise<Verdict> {
  const before = access.api.stats.requests;
  const spent = () => access.api.stats.requests - before;
  const { kind } = resource.strategy;
  if (kind === "monthly" || kind === "snapshot") return { ...restated(resource), requests: 0 };
  const isDated = kind === "dated";
  const look = (run: SyncRun) => (isDated ? verifyDated(run, repair) : verifyWhole(run));
  const verdict = await recordLook(access, resource, look);
  if (isDated || !repair || verdict.state !== "different") return { ...verdict, requests: spent() };
  const options = { ...access.options, full: true, details: "all" as const };
  const { error } = await syncResource({ ...access, options }, resource);
  if (error !== null) throw error;
  const after = await recordLook(access, resource, look);
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, requests: spent() };
}

/** @throws whatever ended it; the run is recorded all the same */
async function recordLook(
  access: Access,
  resource: Resource,
  look: (run: SyncRun) => Promise<Finding>,
): Promise<Finding> {
  const found: { verdict?: Finding } = {};
  const { error } = await recordRun(access, resource.name, {
    async work(row) {
      const run = openRun(access, resource, row);
      const verdict = await look(run);
      row.verified = verdict.state === "proven" || verdict.state === "repaired";
      row.error = [...run.shortfalls, ...differing(verdict)].join("; ") || null;
      found.verdict = verdict;
      return "verified";
    },
    outcomeOf: (error) => (error instanceof Stopped ? "stopped" : "failed"),
  });
  if (!found.verdict) throw error;
  return found.verdict;
}

/** What a person reads of it in `status`. */
function differing({ resource, state, months, unread }: Finding): string[] {
  if (unread) return [`${unread} ${resource} were not read yet: run \`brandapi sync ${resource}\``];
  if (state !== "different") return [];
  const named = months.filter((month) => month.state === "different").map(({ month }) => month);
  const more = named.length > 3 ? ` and ${named.length - 3} more` : "";
  return [
    `${resource} differs from the API (${named.slice(0, 3).join(", ")}${more}): run \`brandapi verify ${resource} --repair\``,
  ];
}

function restated({ name, strategy }: Resource): Finding {
  const why = "the API restates these figures at any time: they are kept as they were when they were read";
  const all = strategy.kind === "monthly" ? `, and \`sync ${name} --full\` all months` : "";
  return {
    resource: name,
    state: "unproven",
    months: [{ month: "all", state: "unproven", why, read_at: null }],
    blind_spot: `there is nothing to prove: \`sync ${name}\` reads the newest again${all}`,
    covered_from: null,
  };
}
