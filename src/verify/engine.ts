import { BrandapiError, Incomplete, Stopped } from "../errors.js";
import { recordRun } from "../mirror/index.js";
import { type Resource, type Strategy, takesDates } from "../resources/types.js";
import { openState } from "../state/index.js";
import { endsEverything, openRun, syncResource } from "../sync/engine.js";
import type { Access, SyncOptions, SyncRun } from "../sync/run.js";
import { verifyDated } from "./dated.js";
import { type Finding, unproven, type Verdict } from "./report.js";
import { proveTables, type TableFinding } from "./tables.js";
import { verifyDetails, verifyList } from "./whole.js";

interface Proof<How extends Strategy = Strategy> {
  prove(run: SyncRun<How>): Promise<Finding>;
  /** What of a record was not read, where it is not all of it. */
  part?: string;
}

/** How each strategy's records are proven; null: the API restates them at any time, so that there is nothing to prove. */
const proofs: Record<Strategy["kind"], Proof | null> = {
  dated: { prove: verifyDated },
  full: { prove: verifyList },
  details: { prove: verifyDetails, part: "the details of " },
  monthly: null,
  snapshot: null,
} satisfies { [Kind in Strategy["kind"]]: Proof<Strategy & { kind: Kind }> | null };

/** A verdict on a resource's records and on its tables: a line of `verify --json`. */
export type FullVerdict = Verdict & { tables: TableFinding };

/**
 * Proves that the mirror's tables say what its records say, and that the records are what the API holds; with `repair`
 * mends what differs.
 */
export async function verifyResource(
  access: Access,
  resource: Resource,
  repair: boolean,
): Promise<FullVerdict> {
  const { error, ...tables } = await proveTables(access, resource, repair);
  const proof = verifyRecords(access, resource, repair, error);
  if (tables.state === "different")
    return { ...(await proof.catch((why: unknown) => untold(resource, why))), state: "different", tables };
  const verdict = await proof;
  const isMended = tables.state === "repaired" && verdict.state === "proven";
  return { ...verdict, state: isMended ? "repaired" : verdict.state, tables };
}

/**
 * Each proof is a run like any other, in `sync_runs`.
 * @param tableError what is wrong with the tables: a mirror with such is not verified, whatever its records are
 */
async function verifyRecords(
  access: Access,
  resource: Resource,
  repair: boolean,
  tableError: string | null,
): Promise<Verdict> {
  const before = access.api.stats.requests;
  const spent = () => access.api.stats.requests - before;
  const proof = proofs[resource.strategy.kind];
  if (!proof) return { ...restated(resource), requests: 0 };
  const verdict = await recordProof(access, resource, proof, tableError);
  const { state, uncompared, unread = 0 } = verdict;
  const isMendable = state === "different" || uncompared || unread > 0;
  if (!repair || !isMendable) return { ...verdict, requests: spent() };
  const { error } = await syncResource({ ...access, options: repairing(access, resource, state) }, resource);
  if (error !== null && !(error instanceof Incomplete)) throw error;
  // What could not be mended, the second proof tells as well, by month.
  if (error !== null) access.reporter.warn([error.message, error.hint ?? []].flat().join(" "));
  const after = await recordProof(access, resource, proof, tableError);
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, requests: spent() };
}

/** What was found is read, however much it is: of dates what was never read and what differs, of a list that differs all. */
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

/** Nothing is known of the records, but of their tables there is something to tell. @throws what ends all else too */
function untold({ name }: Resource, error: unknown): Verdict {
  if (endsEverything(error) || !(error instanceof BrandapiError)) throw error;
  return { ...unproven(name, error.message, "the API"), requests: 0 };
}

/** @throws whatever ended it; the run is recorded all the same */
async function recordProof(
  access: Access,
  resource: Resource,
  { prove, part }: Proof,
  tableError: string | null,
): Promise<Finding> {
  const told: { verdict?: Finding } = {};
  const task = access.reporter.begin({ name: resource.name, unit: "pages" });
  const { error } = await recordRun(access, resource.name, {
    async work(row) {
      const run = openRun(access, resource, row, task);
      const verdict = await prove(run);
      const found = [...run.shortfalls, ...differing(verdict, part), tableError ?? []].flat();
      // What was never asked for is not proven, and nothing that speaks against the mirror.
      row.verified = found.length === 0 && !verdict.never_read && !verdict.unsettled && !verdict.uncompared;
      row.error = found.join("; ") || null;
      told.verdict = verdict;
      return "verified";
    },
    outcomeOf: (error) => (error instanceof Stopped ? "stopped" : "failed"),
  });
  task.end(null);
  if (!told.verdict) throw error;
  return told.verdict;
}

/** What a person reads of it in `status`. */
function differing({ resource, state, months, unread }: Finding, part = ""): string[] {
  if (unread) return [`${part}${unread} ${resource} were not read yet: run \`brandapi sync ${resource}\``];
  if (state !== "different") return [];
  const named = months.filter((month) => month.state === "different").map(({ month }) => month);
  const more = named.length > 3 ? ` and ${named.length - 3} more` : "";
  return [
    `${resource} differs from the API (${named.slice(0, 3).join(", ")}${more}): run \`brandapi verify ${resource} --repair\``,
  ];
}

function restated(resource: Resource): Finding {
  const { name } = resource;
  const why =
    "the API restates these figures at any time: the mirror has them as they were when they were last read";
  const all = takesDates(resource) ? `, and \`sync ${name} --full\` all months` : "";
  return unproven(name, why, `there is nothing to prove: \`sync ${name}\` reads the newest again${all}`);
}
