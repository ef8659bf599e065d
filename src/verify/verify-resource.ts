import { affectsAllResources, Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, type Strategy } from "../resources/resource.js";
import { SyncState } from "../store/state/sync-state.js";
import { rebuildTables } from "../store/tables/rebuild.js";
import { compareTables, differenceText, saveTableCheck } from "../store/tables/table-check.js";
import { countPending } from "../sync/details.js";
import { openRun, openUnrecordedRun, recordRun, syncResource, warnOfUnexpectedValues } from "../sync/run.js";
import type { SyncRun, SyncSession } from "../sync/session.js";
import { hideKeys } from "../util/redact-keys.js";
import { errorReason } from "../util/system-errors.js";
import { formatInstant } from "../util/times.js";
import { verifyDated } from "./dated-check.js";
import { restatedEvidence } from "./evidence.js";
import { verifyList } from "./list-check.js";
import {
  hasUnexpectedDates,
  type RecordsResult,
  type TablesResult,
  unprovenResult,
  type VerificationResult,
} from "./result.js";

interface Verifier<How extends Strategy = Strategy> {
  verify(run: SyncRun<How>): Promise<RecordsResult>;
}

/** How the records of each kind of resource are verified; null if the API restates them at any time. */
const verifiers: Record<Strategy["kind"], Verifier | null> = {
  dated: { verify: verifyDated },
  full: { verify: (run) => verifyList(run, null) },
  details: { verify: (run) => verifyList(run, countPending(run)) },
  monthly: null,
  ranking: null,
} satisfies { [Kind in Strategy["kind"]]: Verifier<Strategy & { kind: Kind }> | null };

/**
 * Compares a resource's tables with its records, and its records with the API. With `repair`, repairs what differs. Each
 * verification is recorded in `sync_runs`; the error that ended it is in the result.
 * @throws errors that every other resource would fail with, too
 */
export async function verifyResource(
  session: SyncSession,
  resource: Resource,
  repair: boolean,
): Promise<{ result: VerificationResult; error: unknown }> {
  const before = session.api.stats.requests;
  const { error: tableError, ...tables } = verifyTables(session, resource, repair);
  let error: unknown = null;
  const records = await verifyRecords(session, resource, repair, tableError).catch((caught: unknown) => {
    if (affectsAllResources(caught)) throw caught;
    error = caught;
    return unprovenResult(resource.name, hideKeys(errorReason(caught), session.keys));
  });
  // The repairing sync has already warned.
  if (!records.repaired) warnOfUnexpectedValues(session, resource);
  const state = combineStates(records.state, tables.state);
  const found = describeProblems(records, tableError);
  const requests = session.api.stats.requests - before;
  return { result: { ...records, state, requests, tables, found }, error };
}

/**
 * Compares the tables with the records they are built from, without a request; with `repair`, rebuilds those that differ.
 * `status` shows the result until a later one.
 */
function verifyTables(
  { clock, mirror, reporter }: Pick<SyncSession, "clock" | "mirror" | "reporter">,
  resource: Resource,
  repair: boolean,
): TablesResult & { error: string | null } {
  const resources = [resource, detailsResource(resource) ?? []].flat();
  const before = compareTables(mirror, resources);
  const isRepaired = repair && before.length > 0;
  if (isRepaired) for (const lost of rebuildTables(mirror, resources)) reporter.warn(lost);
  const after = isRepaired ? compareTables(mirror, resources) : before;
  const note = saveTableCheck(mirror, resource.name, after, formatInstant(clock.now()));
  const differences = (note ? after : before).map((one) => ({ ...one, why: differenceText(one) }));
  if (note) return { state: "different", differences, error: note.error };
  return { state: isRepaired ? "repaired" : "proven", differences, error: null };
}

function combineStates(
  records: RecordsResult["state"],
  tables: TablesResult["state"],
): RecordsResult["state"] {
  if (tables === "different") return tables;
  return records === "proven" ? tables : records;
}

/** @param tableError the problem with the tables, which prevents the run from being verified */
async function verifyRecords(
  session: SyncSession,
  resource: Resource,
  repair: boolean,
  tableError: string | null,
): Promise<RecordsResult> {
  const verifier = verifiers[resource.strategy.kind];
  if (!verifier) return createRestatedResult(session, resource);
  const before = await recordVerification(session, resource, verifier, tableError);
  if (!repair) return before;
  const state = new SyncState(session.mirror, resource.name);
  const isRepairable = before.state === "different" || before.unread || state.markedSlices().length > 0;
  if (!isRepairable) return before;
  const budget = Number.POSITIVE_INFINITY;
  const options = { ...session.options, budget, allMarked: true, ...state.lastOptions() };
  const { run, error } = await syncResource({ ...session, options, dailyPoints: new Map() }, resource, false);
  if (error !== null && !(error instanceof Incomplete)) throw error;
  // The second verification reports the months that could not be repaired.
  if (error !== null) session.reporter.warn([error.message, error.hint ?? []].flat().join(" "));
  const newSession = { ...session, dailyPoints: new Map() };
  const after = await recordVerification(newSession, resource, verifier, tableError);
  const { run_id, rows_new, rows_changed, rows_removed } = run;
  const repaired = { run_id, rows_new, rows_changed, rows_removed };
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, repaired };
}

/** Verifies a resource's records, and records the run. @throws the error that ended it */
async function recordVerification(
  session: SyncSession,
  resource: Resource,
  verifier: Verifier,
  tableError: string | null,
): Promise<RecordsResult> {
  const task = session.reporter.begin({ name: resource.name });
  const { error, value } = await recordRun(session, resource.name, {
    async work(id) {
      const result = await verifier.verify(openRun(session, resource, id, task));
      const { api_total, mirror_total, differing, months } = result;
      const problems = describeProblems(result, tableError);
      return {
        value: result,
        columns: {
          outcome: "verified",
          verified: problems.length === 0 && months.length > 0,
          error: problems.join("; ") || null,
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

function createRestatedResult(session: SyncSession, resource: Resource): RecordsResult {
  const why = "the API restates these values at any time: the mirror has the last values read";
  const readEvidence = () => [restatedEvidence(openUnrecordedRun(session, resource))];
  return { ...unprovenResult(resource.name, why), readEvidence };
}

/** Returns the problems that a verification found, one clause each. Unexpected dates come last: see `isOnlyAboutDates`. */
function describeProblems(records: RecordsResult, tableError: string | null): string[] {
  const { months, resource, unread, unsettled } = records;
  const problems: string[] = [];
  const differing = months.filter(({ state }) => state === "different").map(({ month }) => month);
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : "";
  if (differing.length > 0)
    problems.push(`${resource} differs from the API (${differing.slice(0, 3).join(", ")}${more})`);
  if (unread) problems.push(`${unread} ${resource} were not read yet`);
  if (tableError !== null) problems.push(tableError);
  const why = months.at(-1)?.why ?? "";
  if (unsettled && hasUnexpectedDates(records)) problems.push(`${datesPrefix(resource)}${why}`);
  else if (unsettled) problems.push(`${resource} cannot be verified: ${why}`);
  return problems;
}

const datesPrefix = (resource: string) => `${resource} with unexpected dates: `;

/** True if the recorded problems of a verification are only records with unexpected dates, which the API has to correct. */
export function isOnlyAboutDates(resource: string, error: string): boolean {
  return error.startsWith(datesPrefix(resource));
}
