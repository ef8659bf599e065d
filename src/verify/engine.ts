import { BrandapiError, Incomplete, Stopped } from "../errors.js";
import { recordRun } from "../mirror/index.js";
import { type Resource, type Strategy, takesDates } from "../resources/types.js";
import { openState } from "../state/index.js";
import { endsEverything, openRun, syncResource } from "../sync/engine.js";
import type { Access, SyncOptions, SyncRun } from "../sync/run.js";
import { restatedClaim } from "./claims.js";
import { verifyDated } from "./dated.js";
import { verifyDetails, verifyList } from "./lists.js";
import { type Finding, unproven, type Verdict } from "./report.js";
import { proveTables, type TableFinding } from "./tables.js";

interface Proof<How extends Strategy = Strategy> {
  prove(run: SyncRun<How>): Promise<Finding>;
}

/** How each strategy's records are proven; null: the API restates them at any time, and nothing can be proven. */
const proofs: Record<Strategy["kind"], Proof | null> = {
  dated: { prove: verifyDated },
  full: { prove: verifyList },
  details: { prove: verifyDetails },
  monthly: null,
  snapshot: null,
} satisfies { [Kind in Strategy["kind"]]: Proof<Strategy & { kind: Kind }> | null };

/** A verdict on a resource's records and on its tables: a line of `verify --json`. */
export type FullVerdict = Verdict & { tables: TableFinding };

/**
 * Proves that a resource's tables match its records, and its records what the API holds; with `repair`, mends what
 * differs. Each proof is a run like any other, in `sync_runs`.
 */
export async function verifyResource(
  access: Access,
  resource: Resource,
  repair: boolean,
): Promise<FullVerdict> {
  const { error, ...tables } = proveTables(access, resource, repair);
  const verdict = await verifyRecords(access, resource, repair, error).catch((why: unknown) => {
    if (error === null || endsEverything(why) || !(why instanceof BrandapiError)) throw why;
    // The API could not be asked, but the tables differ.
    return { ...unproven(resource.name, why.message, "the API"), ...uncounted, requests: 0 };
  });
  const isMended = tables.state === "repaired" && verdict.state === "proven";
  const state = tables.state === "different" ? "different" : isMended ? "repaired" : verdict.state;
  return { ...verdict, state, tables };
}

/** @param tableError what is wrong with the tables: a mirror with such tables is not verified */
async function verifyRecords(
  access: Access,
  resource: Resource,
  repair: boolean,
  tableError: string | null,
): Promise<Verdict> {
  const before = access.api.stats.requests;
  const spent = () => access.api.stats.requests - before;
  const proof = proofs[resource.strategy.kind];
  if (!proof) return { ...restated(access, resource), ...uncounted, requests: 0 };
  const verdict = await recordProof(access, resource, proof, tableError);
  const isMendable = verdict.state === "different" || (verdict.unread ?? 0) > 0;
  if (!repair || !isMendable) return { ...verdict, requests: spent() };
  const { run, error } = await syncResource(
    { ...access, options: repairing(access, resource, verdict.state) },
    resource,
  );
  if (error !== null && !(error instanceof Incomplete)) throw error;
  // The second proof reports by month what could not be mended.
  if (error !== null) access.reporter.warn([error.message, error.hint ?? []].flat().join(" "));
  const after = await recordProof({ ...access, points: new Map() }, resource, proof, tableError);
  const { run_id, rows_new, rows_changed, rows_removed } = run;
  const mended = { run_id, rows_new, rows_changed, rows_removed };
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, mended, requests: spent() };
}

/** Returns the options of a repair: it reads all that differs, and a list that differs whole. */
function repairing({ mirror, options }: Access, resource: Resource, state: Finding["state"]): SyncOptions {
  const isAll = state === "different";
  const all = {
    ...options,
    full: isAll && !takesDates(resource),
    details: isAll ? "all" : "changed",
    budget: Number.POSITIVE_INFINITY,
  } as const;
  return { ...all, ...openState(mirror, resource.name).used() };
}

/** Proves, and records the proof. @throws whatever ended it */
async function recordProof(
  access: Access,
  resource: Resource,
  { prove }: Proof,
  tableError: string | null,
): Promise<Omit<Verdict, "requests">> {
  const result: { verdict?: Omit<Verdict, "requests"> } = {};
  const task = access.reporter.begin({ name: resource.name, unit: "pages" });
  const { error } = await recordRun(access, resource.name, {
    async work(row) {
      const run = openRun(access, resource, row, task);
      const verdict = await prove(run);
      const found = [...run.shortfalls, differing(verdict) ?? [], tableError ?? []].flat();
      row.verified = found.length === 0 && !verdict.never_read && !verdict.unsettled;
      row.error = found.join("; ") || null;
      const { api_total, mirror_total, differing: counts } = row;
      result.verdict = { ...verdict, api_total, mirror_total, differing: counts };
      return "verified";
    },
    outcomeOf: (error) => (error instanceof Stopped ? "stopped" : "failed"),
  });
  task.end(null);
  if (!result.verdict) throw error;
  return result.verdict;
}

/** Returns what `status` says of a proof that found something; null if it found nothing. */
function differing({ resource, state, months, unread }: Finding): string | null {
  if (unread) return `${unread} ${resource} were not read yet: run \`brandapi sync ${resource}\``;
  if (state !== "different") return null;
  const named = months.filter((month) => month.state === "different").map(({ month }) => month);
  const more = named.length > 3 ? ` and ${named.length - 3} more` : "";
  return `${resource} differs from the API (${named.slice(0, 3).join(", ")}${more}): run \`brandapi verify ${resource} --repair\``;
}

const uncounted = { api_total: null, mirror_total: null, differing: null };

function restated(access: Access, resource: Resource): Finding {
  const { name } = resource;
  const why =
    "the API restates these figures at any time: the mirror has them as they were when they were last read";
  const claims = () => [restatedClaim(openRun(access, resource))];
  return { ...unproven(name, why, `nothing can be proven: \`sync ${name}\` reads the newest again`), claims };
}
