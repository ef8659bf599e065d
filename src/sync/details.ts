import { type BrandapiError, Incomplete, NotFound, UnexpectedResponse, UnsafeResponse } from "../errors.js";
import type { DetailsStrategy, Resource } from "../resources/resource.js";
import { RecordWriter } from "../store/record-writer.js";
import {
  apiIdOrNull,
  isCurrentRecord,
  loadCurrentRecords,
  loadDetailIds,
  markDetailsOutdated,
  markDetailsRead,
  recordKey,
} from "../store/records.js";
import { findLastFinishedSync } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import type { Json, JsonObject } from "../util/json-value.js";
import { formatInstant } from "../util/timestamps.js";
import { encodePathSegment } from "../util/urls.js";
import { countList, createListEstimate, readCompleteList } from "./list-strategies.js";
import { resumableMs } from "./plan.js";
import { describeIncompleteList, readList } from "./read-list.js";
import { findHoldBackReason } from "./removals.js";
import type { IncompleteReason, RequestEstimate, ResourceSession, SyncResult, SyncRun } from "./session.js";

type DetailsSession = ResourceSession<DetailsStrategy>;
type DetailsRun = SyncRun<DetailsStrategy>;

export async function estimateDetails(session: DetailsSession): Promise<RequestEstimate[]> {
  const listed = await countList(session);
  const parents = findParents(session);
  const requests = parents.filter(({ isDue }) => isDue).length + Math.max(0, (listed ?? 0) - parents.length);
  const step = { what: `details of ${pluralize(requests, "record")}`, requests };
  return [createListEstimate(listed), ...(requests > 0 && session.options.details !== "none" ? [step] : [])];
}

export async function readListAndDetails(run: DetailsRun): Promise<SyncResult> {
  const list = await readCompleteList(run);
  if (run.options.details === "none") return { ...list, isVerified: false };
  return { ...list, incompleteReasons: [...list.incompleteReasons, ...(await readDetails(run))] };
}

async function readDetails(run: DetailsRun): Promise<IncompleteReason[]> {
  const { detailRecords, path } = run.resource.strategy;
  try {
    if (detailRecords === null) return await mergeDetails(run, path);
    await replaceDetailRecords(run, path, detailRecords);
    return [];
  } catch (error) {
    if (!(error instanceof Incomplete)) throw error;
    return [{ text: error.message, ...(error.hint && { hint: error.hint }) }];
  }
}

interface DetailsParent {
  id: number;
  key: string;
  apiId: string;
  isPending: boolean;
  isDue: boolean;
  detailedAt: string | null;
}

function findParents(session: DetailsSession): DetailsParent[] {
  const { clock, mirror, options, resource } = session;
  const finishedAt = findLastFinishedSync(mirror, resource.name)?.finished_at ?? "";
  const resumableSince = formatInstant(clock.now() - resumableMs);
  const freshSince = finishedAt > resumableSince ? finishedAt : resumableSince;
  const parents: DetailsParent[] = [];
  for (const record of loadCurrentRecords(mirror, resource.name)) {
    const { id, key, detailedAt, hasOutdatedDetails, value } = record;
    const apiId = apiIdOrNull(resource, value);
    if (apiId === null || encodePathSegment(apiId) === null) continue;
    const isPending = detailedAt === null || hasOutdatedDetails;
    const isOpen = options.details === "all" || resource.strategy.canChange(value as JsonObject);
    const isDue = isPending || (isOpen && detailedAt <= freshSince);
    parents.push({ id, key, apiId, detailedAt, isPending, isDue });
  }
  return parents;
}

/**
 * Returns the records whose details must be read, least recently read first, so that even interrupted runs make
 * progress.
 */
function findDueParents(run: DetailsRun): DetailsParent[] {
  const due = findParents(run).filter(({ isDue }) => isDue);
  const readAt = ({ detailedAt }: DetailsParent) => (detailedAt === null ? 0 : Date.parse(detailedAt));
  return due.sort((a, b) => readAt(a) - readAt(b));
}

export function countPending(session: DetailsSession): number {
  return findParents(session).filter(({ isPending }) => isPending).length;
}

async function mergeDetails(run: DetailsRun, path: (id: string) => string): Promise<IncompleteReason[]> {
  const request = async (parent: DetailsParent) => await requestDetails(run, parent, path(parent.apiId));
  const notFound = await requestEach(run, findDueParents(run), request);
  const text = `the API returned 404 for the details of ${pluralize(notFound, "listed record")}`;
  return notFound > 0 ? [{ text }] : [];
}

async function requestDetails(run: DetailsRun, parent: DetailsParent, path: string): Promise<void> {
  const { api, mirror, resource, writer } = run;
  const { data, requestedAt } = await api.get(path, {}, resource.scope);
  if (recordKey(resource, data) !== parent.key)
    throw new UnexpectedResponse(`The API's response to ${path} contains a different record.`);
  mirror.transaction(() => writer.writeDetails(data, requestedAt));
}

/**
 * Reads details that are stored as a separate resource, such as survey results. Replaces each record's details in one
 * transaction, and removes the details of records that no longer exist.
 */
async function replaceDetailRecords(
  run: DetailsRun,
  pathOf: (id: string) => string,
  { resource, parentField }: { resource: Resource; parentField: string },
): Promise<void> {
  const { api, clock, runId, mirror, progress, reporter } = run;
  const { name } = run.resource;
  // A writer caches the columns of its tables, so it cannot be reused after its transaction has been rolled back.
  const createWriter = () => new RecordWriter(mirror, resource, { runId, reporter });
  const detailIds = loadDetailIds(mirror, resource.name, parentField);
  let notFound = 0;

  function replace(parent: DetailsParent, results: readonly Json[], requestedAt: number): void {
    const writer = createWriter();
    const parameters = { [parentField]: parent.apiId };
    const { ids } = writer.write(results, { requestedAt, parameters, keyPrefix: `${parent.key}/` });
    const before = detailIds.get(parent.apiId) ?? [];
    const removed = before.filter((recordId) => !ids.includes(recordId));
    const reason = findHoldBackReason(run, removed.length, removed.length + ids.length);
    if (reason) throw new Incomplete(`${pathOf(parent.apiId)}: ${reason.text}.`, { hint: reason.hint });
    writer.remove(removed, requestedAt);
    progress.addRows(results.length);
    markDetailsRead(mirror, parent.id, requestedAt);
  }

  const orphans = [...detailIds].flatMap(([apiId, ids]) => (isCurrentRecord(mirror, name, apiId) ? [] : ids));
  if (orphans.length > 0) mirror.transaction(() => createWriter().remove(orphans, clock.now()));
  await requestEach(run, findDueParents(run), async (parent) => {
    const requestedAt = clock.now();
    const path = pathOf(parent.apiId);
    const list = await readList({ api, progress, resource }, { path }).catch((error: unknown) => {
      if (error instanceof NotFound) return null;
      throw error;
    });
    if (list === null) notFound += 1;
    else if (!list.isComplete)
      throw new Incomplete(`${path} ${describeIncompleteList(list)}.`, {
        hint: "run the same command again",
      });
    const results = [...(list?.records.values() ?? [])].map(({ record }) => record);
    mirror.transaction(() => replace(parent, results, requestedAt));
  });
  if (notFound > 0)
    reporter.note(`${name}: the API returned 404 for the details of ${pluralize(notFound, "record")}`);
}

/** The maximum number of concurrent requests. The rate limit does not restrict concurrency. */
const maxConcurrentRequests = 4;

/**
 * Calls `work` for each record, with at most four calls in progress at a time. If the API returns 404 or an invalid
 * response for a record, marks its details as outdated and continues with the next record.
 * @returns the number of 404 responses
 * @throws the first error other than a 404; if it affects only one record, processes all other records first
 */
async function requestEach(
  run: SyncRun,
  parents: readonly DetailsParent[],
  work: (parent: DetailsParent) => Promise<void>,
): Promise<number> {
  const { mirror, progress } = run;
  const queue = [...parents];
  const failures: BrandapiError[] = [];
  async function processQueue(): Promise<void> {
    for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
      const { id } = parent;
      await work(parent).catch((error: unknown) => {
        if (!concernsOneRecord(error)) {
          queue.length = 0;
          throw error;
        }
        failures.push(error);
        mirror.transaction(() => markDetailsOutdated(mirror, id));
      });
      progress.advance(queue.length);
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: maxConcurrentRequests }, processQueue));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  const failure = failures.find((error) => !(error instanceof NotFound));
  if (failure) throw failure;
  return failures.length;
}

function concernsOneRecord(error: unknown): error is BrandapiError {
  if (error instanceof UnsafeResponse) return false;
  return [NotFound, Incomplete, UnexpectedResponse].some((kind) => error instanceof kind);
}
