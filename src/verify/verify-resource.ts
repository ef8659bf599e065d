import { Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { rebuildTables } from "../store/rebuild.js";
import { SyncState } from "../store/sync-state.js";
import { compareTables, differenceText, saveTableCheck, type TableDifference } from "../store/table-check.js";
import { countPending } from "../sync/details.js";
import { openRun, openUnrecordedRun, recordRun, syncResource, warnOfUnexpectedValues } from "../sync/run.js";
import { affectsAllResources, type SyncRun, type SyncSession } from "../sync/session.js";
import { hideKeys } from "../util/redact-keys.js";
import { errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/times.js";
import { verifyDated } from "./dated-check.js";
import { restatedEvidence } from "./evidence.js";
import { unprovenResult, type Verdict, type VerificationResult } from "./finding.js";
import { verifyList } from "./list-check.js";

/** How a resource's tables stand to its records: part of a line of `verify --json`. */
export interface TableFinding {
  state: "proven" | "different" | "repaired";
  /** The tables that differ, or did before they were rebuilt; `why` says it in words. */
  differences: (TableDifference & { why: string })[];
}

/**
 * Verifies that the tables match the records; with `repair`, rebuilds those that do not. Makes no
 * request. `status` shows the finding until a later one.
 */
export function proveTables(
  { clock, mirror, reporter }: Pick<SyncSession, "clock" | "mirror" | "reporter">,
  resource: Resource,
  repair: boolean,
): TableFinding & { error: string | null } {
  const resources = [resource, detailsResource(resource) ?? []].flat();
  const before = compareTables(mirror, resources);
  const isRepaired = repair && before.length > 0;
  if (isRepaired) for (const lost of rebuildTables(mirror, resources)) reporter.warn(lost);
  const left = isRepaired ? compareTables(mirror, resources) : before;
  const note = saveTableCheck(mirror, resource.name, left, formatInstant(clock.now()));
  const differences = (note ? left : before).map((one) => ({ ...one, why: differenceText(one) }));
  if (note) return { state: "different", differences, error: note.error };
  return { state: isRepaired ? "repaired" : "proven", differences, error: null };
}

interface Proof<How extends Strategy = Strategy> {
  prove(run: SyncRun<How>): Promise<VerificationResult>;
}

/** How each strategy's records are verified; null if the API restates them at any time. */
const proofs: Record<Strategy["kind"], Proof | null> = {
  dated: { prove: verifyDated },
  full: { prove: (run) => verifyList(run, null) },
  details: { prove: (run) => verifyList(run, countPending(run)) },
  monthly: null,
  snapshot: null,
} satisfies { [Kind in Strategy["kind"]]: Proof<Strategy & { kind: Kind }> | null };

/** The result for a resource's records and its tables: a line of `verify --json`. */
export interface FullVerdict extends Verdict {
  tables: TableFinding;
  /** The findings, one clause each. `status` shows them until a later verification has none. */
  found: string[];
}

/**
 * Proves that a resource's tables match its records, and its records what the API holds; with `repair`, mends what
 * differs. Each proof is a run like any other, in `sync_runs`; an error that ended it is in the result.
 * @throws what would end the proof of each other resource, too
 */
export async function verifyResource(
  session: SyncSession,
  resource: Resource,
  repair: boolean,
): Promise<{ verdict: FullVerdict; error: unknown }> {
  const before = session.api.stats.requests;
  const { error: tableError, ...tables } = proveTables(session, resource, repair);
  let error: unknown = null;
  const finding = await verifyRecords(session, resource, repair, tableError).catch((caught: unknown) => {
    if (affectsAllResources(caught)) throw caught;
    error = caught;
    return unprovenResult(resource.name, hideKeys(errorReason(caught), session.keys));
  });
  // The sync of a repair has already warned.
  if (!finding.mended) warnOfUnexpectedValues(session, resource);
  const state = worse(finding.state, tables.state);
  const found = findingsOf(finding, tableError);
  const requests = session.api.stats.requests - before;
  return { verdict: { ...finding, state, requests, tables, found }, error };
}

/** Combines the states of a resource's records and of its tables. */
function worse(
  records: VerificationResult["state"],
  tables: TableFinding["state"],
): VerificationResult["state"] {
  if (tables === "different") return tables;
  return records === "proven" ? tables : records;
}

/** @param tableError what is wrong with the tables, which keeps the run from being verified */
async function verifyRecords(
  session: SyncSession,
  resource: Resource,
  repair: boolean,
  tableError: string | null,
): Promise<VerificationResult> {
  const proof = proofs[resource.strategy.kind];
  if (!proof) return restated(session, resource);
  const verdict = await recordProof(session, resource, proof, tableError);
  if (!repair) return verdict;
  const state = new SyncState(session.mirror, resource.name);
  const isRepairable = verdict.state === "different" || verdict.unread || state.markedSlices().length > 0;
  if (!isRepairable) return verdict;
  const budget = Number.POSITIVE_INFINITY;
  const options = { ...session.options, budget, allMarked: true, ...state.lastOptions() };
  const { run, error } = await syncResource({ ...session, options, dailyPoints: new Map() }, resource, false);
  if (error !== null && !(error instanceof Incomplete)) throw error;
  // The second verification reports by month what could not be repaired.
  if (error !== null) session.reporter.warn([error.message, error.hint ?? []].flat().join(" "));
  const after = await recordProof({ ...session, dailyPoints: new Map() }, resource, proof, tableError);
  const { run_id, rows_new, rows_changed, rows_removed } = run;
  const mended = { run_id, rows_new, rows_changed, rows_removed };
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, mended };
}

/** Verifies a resource, and records the run. @throws the error that ended it */
async function recordProof(
  session: SyncSession,
  resource: Resource,
  { prove }: Proof,
  tableError: string | null,
): Promise<VerificationResult> {
  const task = session.reporter.begin({ name: resource.name });
  const { error, value } = await recordRun(session, resource.name, {
    async work(id) {
      const result = await prove(openRun(session, resource, id, task));
      const { api_total, mirror_total, differing, months } = result;
      const found = findingsOf(result, tableError);
      return {
        value: result,
        columns: {
          outcome: "verified",
          verified: found.length === 0 && months.length > 0,
          error: found.join("; ") || null,
          api_total,
          mirror_total,
          differing,
        },
        error: null,
      };
    },
    outcomeOf: (error) => (error instanceof Stopped ? "stopped" : "failed"),
  });
  task.end(null);
  if (value === null) throw error;
  return value;
}

const datesPrefix = (resource: string) => `${resource} with unexpected dates: `;

/** True if a recorded error of `verify` names only records with unexpected dates, which the API has to correct. */
export function isOnlyAboutDates(resource: string, error: string): boolean {
  return error.startsWith(datesPrefix(resource)) && !error.includes("; ");
}

/** Returns why the API's counts or its list do not agree with themselves: the last result says it. */
function unsettledText(resource: string, months: VerificationResult["months"]): string {
  const { month, why } = months.at(-1) ?? { month: "", why: "" };
  return month === "dates" ? `${datesPrefix(resource)}${why}` : `${resource} cannot be verified: ${why}`;
}

/** Returns the findings of a verification, one clause each. */
function findingsOf(
  { resource, months, unread, unsettled }: VerificationResult,
  tableError: string | null,
): string[] {
  const differing = months.filter(({ state }) => state === "different").map(({ month }) => month);
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : "";
  const named = `${differing.slice(0, 3).join(", ")}${more}`;
  return [
    differing.length > 0 ? `${resource} differs from the API (${named})` : [],
    unread ? `${unread} ${resource} were not read yet` : [],
    unsettled ? unsettledText(resource, months) : [],
    tableError ?? [],
  ].flat();
}

function restated(session: SyncSession, resource: Resource): VerificationResult {
  const why =
    "the API restates these figures at any time: the mirror has them as they were when they were last read";
  const claims = () => [restatedEvidence(openUnrecordedRun(session, resource))];
  return { ...unprovenResult(resource.name, why), claims };
}
