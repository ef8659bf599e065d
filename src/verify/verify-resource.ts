import { failureScope, Incomplete, Stopped } from "../errors.js";
import { detailsResource, type Resource, strategyTraits } from "../resources/resource.js";
import { countChanges } from "../store/change-log.js";
import { saveVerifyFinding } from "../store/known-problems.js";
import { rebuildTables } from "../store/rebuild.js";
import { hasBeenRead } from "../store/runs.js";
import { SyncState } from "../store/sync-state.js";
import { compareTables, describeDifference, saveTableCheck } from "../store/table-check.js";
import { countPending } from "../sync/details.js";
import { toError } from "../sync/each-resource.js";
import {
  createResourceSession,
  endRun,
  hasStrategy,
  type ResourceRun,
  type SyncSession,
  startRun,
} from "../sync/session.js";
import { syncResource, warnOfUnexpectedValues } from "../sync/sync-resources.js";
import { hideKeys } from "../util/redact-keys.js";
import { errorReason } from "../util/system-errors.js";
import { utcDay } from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { verifyDated } from "./dated-check.js";
import { restatedEvidence } from "./evidence.js";
import { verifyList } from "./list-check.js";
import {
  createUnprovenResult,
  listProblems,
  needsApi,
  type RecordsResult,
  type TablesResult,
  type VerificationResult,
} from "./verification-result.js";

/**
 * Compares a resource's tables with its records, and the records with the API. Stores the run in `sync_runs`.
 * @param options.repair true to re-read records and rebuild tables that differ
 * @returns the result, and the error that ended the verification, or null
 * @throws errors that affect every resource, such as a rejected key
 */
export async function verifyResource(
  session: SyncSession,
  resource: Resource,
  { repair }: { repair: boolean },
): Promise<{ result: VerificationResult; error: Error | null }> {
  const before = session.api.stats.requests;
  const { error: tableError, ...tables } = await verifyTables(session, resource, { repair });
  const verified = await verifyRecords(session, resource, { repair, tableError }).catch(toError);
  const error = verified instanceof Error ? verified : null;
  if (error && failureScope(error) === "command") throw error;
  const records =
    verified instanceof Error
      ? createUnprovenResult(resource.name, hideKeys(errorReason(verified), session.apiKeys))
      : verified;
  warnOfUnexpectedValues(session, resource);
  const state = combineStates(records.state, tables.state);
  const problems = listProblems(records, tableError);
  const requests = session.api.stats.requests - before;
  return { result: { ...records, state, requests, tables, problems }, error };
}

async function verifyTables(
  { clock, mirror, reporter, signal }: Pick<SyncSession, "clock" | "mirror" | "reporter" | "signal">,
  resource: Resource,
  { repair }: { repair: boolean },
): Promise<TablesResult & { error: string | null }> {
  const resources = [resource, detailsResource(resource) ?? []].flat();
  const before = await compareTables(mirror, resources, signal);
  const isRepaired = repair && before.length > 0;
  if (isRepaired) for (const warning of rebuildTables(mirror, resources)) reporter.warn(warning);
  const after = isRepaired ? await compareTables(mirror, resources, signal) : before;
  const check = saveTableCheck(mirror, resource.name, after, formatInstant(clock.now()));
  const differing = check ? after : before;
  const differences = differing.map((difference) => ({ ...difference, why: describeDifference(difference) }));
  if (check) return { state: "different", differences, error: check.error };
  return { state: isRepaired ? "repaired" : "proven", differences, error: null };
}

function combineStates(
  records: RecordsResult["state"],
  tables: TablesResult["state"],
): RecordsResult["state"] {
  if (tables === "different") return tables;
  return records === "proven" ? tables : records;
}

/** @param options.tableError the error to store with the run if tables differ from the records; otherwise null */
async function verifyRecords(
  session: SyncSession,
  resource: Resource,
  { repair, tableError }: { repair: boolean; tableError: string | null },
): Promise<RecordsResult> {
  if (strategyTraits[resource.strategy.kind].isUnverifiable) return createRestatedResult(session, resource);
  const before = await recordVerification(session, resource, tableError);
  if (!repair) return before;
  const state = new SyncState(session.mirror, resource.name);
  const isRepairable = before.state === "different" || before.unread || state.loadFaultySlices().length > 0;
  if (!isRepairable) return before;
  const rereadRequests = Number.POSITIVE_INFINITY;
  const options = { ...session.options, rereadRequests, allFaulty: true, ...state.loadLastOptions() };
  // Clear the cache, because the repair and the second verification need the current daily totals.
  session.cachedTotals.clear();
  const { row, error } = await syncResource({ ...session, options }, resource, { isOptional: false });
  if (error !== null && !(error instanceof Incomplete)) throw error;
  // Only warn, because the second verification lists the months that could not be repaired.
  if (error !== null) session.reporter.warn([error.message, error.hint ?? []].flat().join(" "));
  session.cachedTotals.clear();
  const after = await recordVerification(session, resource, tableError);
  const { run_id, rows_new, rows_changed, rows_removed } = row;
  const logged_changes = countChanges(session.mirror, resource.name, run_id);
  const repaired = { run_id, rows_new, rows_changed, rows_removed, logged_changes };
  return { ...after, state: after.state === "proven" ? "repaired" : after.state, repaired };
}

/**
 * Compares the records with the API and stores the run.
 * @throws the error that ended the verification
 */
async function recordVerification(
  session: SyncSession,
  resource: Resource,
  tableError: string | null,
): Promise<RecordsResult> {
  const { mirror, reporter } = session;
  const task = reporter.begin({ name: resource.name });
  const run = startRun(session, resource, task);
  const result = await compareResource(run).catch(toError);
  task.end(null);
  if (result instanceof Error) {
    endRun(run, { outcome: result instanceof Stopped ? "stopped" : "failed", error: result });
    throw result;
  }
  const { api_total, mirror_total, differing, parts } = result;
  const problems = listProblems(result, tableError);
  const text = problems.map((problem) => problem.text).join("; ");
  // An empty list that has never been read has no problems, but was not compared with anything.
  const verified = problems.length === 0 && parts.some(({ kind }) => kind !== "unread");
  mirror.transaction(() => {
    endRun(run, {
      outcome: "compared",
      error: problems.length > 0 ? new Incomplete(text) : null,
      columns: { verified, api_total, mirror_total, differing },
    });
    saveVerifyFinding(mirror, "unrepairable", resource.name, needsApi(problems) ? run.runId : null);
    const isUnreadOnly = problems.length > 0 && problems.every(({ kind }) => kind === "unread");
    saveVerifyFinding(mirror, "unread_only", resource.name, isUnreadOnly ? run.runId : null);
  });
  return result;
}

async function compareResource(run: ResourceRun): Promise<RecordsResult> {
  if (hasStrategy(run, "dated")) return await verifyDated(run);
  if (hasStrategy(run, "details")) return await verifyList(run, countPending(run));
  return await verifyList(run, null);
}

/** The API may restate monthly values and rankings at any time, so they cannot be verified. */
function createRestatedResult(session: SyncSession, resource: Resource): RecordsResult {
  const { mirror } = session;
  const { name } = resource;
  const floor = new SyncState(mirror, name).loadFloor() ?? Number.NEGATIVE_INFINITY;
  const older = Number.isFinite(floor)
    ? `, and starts on ${utcDay(floor)}; \`brandapi sync ${name} --full\` reads older values`
    : "";
  const why = hasBeenRead(mirror, resource)
    ? `the API may restate these values at any time; the mirror contains the values from the last read${older}`
    : `nothing has been read yet; run \`brandapi sync ${name}\``;
  const collectEvidence = () => [restatedEvidence(createResourceSession(session, resource))];
  return { ...createUnprovenResult(name, why), collectEvidence };
}
