import { isDeepStrictEqual } from "node:util";
import { lastPage, maxPerPage, readPages } from "../api/pagination.js";
import { BadRequest, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { recordDate, recordKey, recordKeyOrNull } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import type { Json } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { ResourceRun } from "./session.js";

type ListRun = Pick<ResourceRun, "api" | "progress" | "resource">;

interface ListOptions {
  path?: string;
  query?: QueryParameters;
  /** Returns a record's ID, or null if it has none. */
  idOf?: (record: Json) => string | null;
  /**
   * The keys of the mirrored records. If a complete list lacks any of them, or a record that an earlier read returned,
   * the list is re-read.
   */
  mirroredKeys?: readonly string[];
}

export interface ListRecord {
  record: Json;
  requestedAt: number;
}

/** Records, keyed by ID, or by their JSON text if they have no ID. */
type RecordsById = ReadonlyMap<string, ListRecord>;

/** A deduplicated list with the newest version of each record. */
export interface List {
  records: RecordsById;
  requestedAt: number;
  /** The last response's `total_items`, or the number of items if the list is not paginated. */
  total: number;
  isComplete: boolean;
  /** The IDs that the API lists more than once. A list with repeated IDs is incomplete. */
  repeated: string[];
}

/** The result of reading a list once. */
interface ListAttempt {
  records: RecordsById;
  /** All IDs in list order, including duplicates. */
  ids: readonly string[];
  /** The `total_items` of each response. */
  totals: readonly number[];
  requestedAt: number;
}

const maxAttempts = 3;
/**
 * The maximum number of attempts if the API sorts the list randomly. Reading continues while `total_items` stays the
 * same and one of the last few reads found new records.
 */
const maxAttemptsInRandomOrder = 12;
const maxAttemptsWithoutNewRecords = 3;

/**
 * Reads a list until it is complete. Gives up after three reads, unless the list's order is random. A list is
 * complete if one read returned `total_items` distinct records, or if `total_items` stayed the same and all reads
 * together returned that many.
 * @throws Incomplete if the list has more pages than the API can return
 */
export async function readList(run: ListRun, options: ListOptions = {}): Promise<List> {
  const { mirroredKeys } = options;
  const { list: first, allRecords } = await readUntilSettled(run, options);
  if (!first.isComplete || !mirroredKeys) return first;
  const listed = [...first.records.values()];
  const keys = new Set(listed.map(({ record }, position) => recordKey(run.resource, record, position)));
  const lacksReturned = first.records.size < allRecords.size;
  if (!lacksReturned && mirroredKeys.every((key) => keys.has(key))) return first;
  // If one record is removed and another added while the pages are being read, a third record can move to a page that
  // has already been read.
  const { list: second } = await readUntilSettled(run, options);
  return { ...second, records: mergeRecords([first, second]), requestedAt: first.requestedAt };
}

interface SettledList {
  list: List;
  /** The records from all reads, including those that are not in `list`. */
  allRecords: RecordsById;
}

async function readUntilSettled(run: ListRun, options: ListOptions): Promise<SettledList> {
  const { resource } = run;
  const { path = resource.path, idOf = (record: Json) => recordKeyOrNull(resource, record) } = options;
  const query = { ...resource.query, ...options.query };
  const requestPages = resource.pagination === "unknown" ? requestUndocumented : requestAllPages;
  const attempts: ListAttempt[] = [];
  for (;;) {
    const newest = collectRecords(resource, await requestPages(run, path, query), idOf);
    attempts.push(newest);
    const list = settle(attempts, newest);
    if (list) return { list, allRecords: mergeRecords(attempts) };
  }
}

/**
 * Returns the list, or null if it must be re-read. The first rule that applies decides:
 *
 * - If the newest read, or all reads together, returned as many records as the API reports, the list is complete.
 * - If there were fewer than three reads, the list must be re-read.
 * - If all reads returned the same IDs in the same order, some of them more than once, the list is incomplete.
 * - If another read may find the remaining records (see `mayFindMore`), the list must be re-read.
 * - Otherwise, the list is incomplete.
 */
function settle(attempts: readonly ListAttempt[], newest: ListAttempt): List | null {
  const complete = findCompleteList(attempts, newest);
  if (complete) return complete;
  if (attempts.length < maxAttempts) return null;
  const repeated = findLastingDuplicates(attempts, newest);
  if (repeated.length === 0 && mayFindMore(attempts)) return null;
  return combineAttempts(attempts, { repeated });
}

/** Returns the list if the newest read, or all reads together, returned as many records as the API reports. */
function findCompleteList(attempts: readonly ListAttempt[], newest: ListAttempt): List | null {
  // If the list shrank while it was being read, a record may have moved to a page that had already been read.
  const hasShrunk = newest.totals.some((count, page) => count < (newest.totals[page - 1] ?? 0));
  const total = newest.totals.at(-1) ?? 0;
  if (newest.records.size === total && !hasShrunk) return combineAttempts([newest], { isComplete: true });
  const combined = combineAttempts(attempts, { isComplete: true });
  return isTotalSteady(attempts) && combined.records.size === total ? combined : null;
}

/**
 * Returns the IDs that the list contains more than once. If all reads returned the same IDs, the list itself contains
 * the duplicates, and another read would not help.
 */
function findLastingDuplicates(attempts: readonly ListAttempt[], newest: ListAttempt): string[] {
  const isOrderSteady = attempts.every(({ ids }) => isDeepStrictEqual(ids, newest.ids));
  return isTotalSteady(attempts) && isOrderSteady ? findRepeatedIds(newest.ids) : [];
}

/**
 * True if another read may find the remaining records. The API probably sorts the list randomly if the count never
 * changed, and one of the last three reads found new records.
 */
function mayFindMore(attempts: readonly ListAttempt[]): boolean {
  if (attempts.length >= maxAttemptsInRandomOrder || !isTotalSteady(attempts)) return false;
  const { records, total } = combineAttempts(attempts);
  const earlierRecords = mergeRecords(attempts.slice(0, -maxAttemptsWithoutNewRecords));
  return records.size < total && records.size > earlierRecords.size;
}

/** True if the number of records never changed, in which case the reads can be combined. */
function isTotalSteady(attempts: readonly ListAttempt[]): boolean {
  return new Set(attempts.flatMap(({ totals }) => totals)).size === 1;
}

function combineAttempts(
  attempts: readonly ListAttempt[],
  { isComplete = false, repeated = [] as string[] } = {},
): List {
  const requestedAt = Math.min(...attempts.map((attempt) => attempt.requestedAt));
  const total = attempts.at(-1)?.totals.at(-1) ?? 0;
  return { records: mergeRecords(attempts), total, requestedAt, repeated, isComplete };
}

/**
 * Merges several reads of a list, from oldest to newest. If more than one of them contains a record, the newest version
 * is kept.
 */
function mergeRecords(lists: readonly { records: RecordsById }[]): RecordsById {
  const merged = new Map<string, ListRecord>();
  for (const { records } of lists.toReversed())
    for (const [id, record] of records) if (!merged.has(id)) merged.set(id, record);
  return merged;
}

function findRepeatedIds(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) repeated.add(id);
    seen.add(id);
  }
  return [...repeated];
}

interface ListPage {
  items: readonly Json[];
  requestedAt: number;
  total: number;
}

async function requestAllPages(
  { api, progress, resource }: ListRun,
  path: string,
  query: QueryParameters,
): Promise<ListPage[]> {
  const pages: ListPage[] = [];
  const responses = readPages(api, path, { per_page: maxPerPage, ...query }, resource.scope);
  for await (const { items, page, pagination, requestedAt } of responses) {
    if (pagination.total_pages > lastPage)
      throw new Incomplete(
        `${path} has ${pagination.total_pages} pages, which is more than the API can return.`,
      );
    pages.push({ items, requestedAt, total: pagination.total_items });
    progress.advance(pagination.total_pages - page);
  }
  return pages;
}

/**
 * Requests a list whose pagination is undocumented. The first request has no parameters, because the API rejects
 * unknown parameters. If the response indicates more records, all pages are requested, without `per_page` if the API
 * rejects it. A single object counts as a list with one record.
 */
async function requestUndocumented(run: ListRun, path: string, query: QueryParameters): Promise<ListPage[]> {
  const { api, progress, resource } = run;
  const { data, items: list, pagination, requestedAt } = await api.get(path, query, resource.scope);
  const items = list ?? [data];
  const total = pagination?.total_items ?? items.length;
  if (total > items.length) {
    const nullIfRejected = (error: unknown) => {
      if (error instanceof BadRequest) return null;
      throw error;
    };
    const pages =
      (await requestAllPages(run, path, query).catch(nullIfRejected)) ??
      (await requestAllPages(run, path, { ...query, per_page: undefined }).catch(nullIfRejected));
    if (pages) return pages;
  }
  progress.advance(0);
  return [{ items, requestedAt, total }];
}

/**
 * Deduplicates the records in the responses of one read. A record without an ID is identified by its JSON text,
 * but identical records in the same response count separately.
 */
function collectRecords(
  resource: Resource,
  pages: readonly ListPage[],
  idOf: (record: Json) => string | null,
): ListAttempt {
  const records = new Map<string, ListRecord>();
  const ids: string[] = [];
  for (const { items, requestedAt } of pages) {
    const countByText = new Map<string, number>();
    for (const record of items) {
      let id = idOf(record);
      if (id === null) {
        const text = JSON.stringify(record);
        const count = (countByText.get(text) ?? 0) + 1;
        countByText.set(text, count);
        id = `#${count} ${text}`;
      }
      const listed = { record, requestedAt };
      const earlier = records.get(id);
      ids.push(id);
      if (!earlier || isNewer(resource, listed, earlier)) records.set(id, listed);
    }
  }
  const requestedAt = Math.min(...pages.map((page) => page.requestedAt));
  return { records, ids, totals: pages.map(({ total }) => total), requestedAt };
}

function isNewer(resource: Resource, next: ListRecord, earlier: ListRecord): boolean {
  const [date, earlierDate] = [recordDate(resource, next.record), recordDate(resource, earlier.record)];
  return date !== null && earlierDate !== null && date !== earlierDate
    ? date > earlierDate
    : next.requestedAt > earlier.requestedAt;
}

export function describeIncompleteList({ records, repeated, total }: List): string {
  if (repeated.length > 0) return `contains duplicate IDs: ${formatIds(repeated)}`;
  return `never settled: the API counts ${total}, but returned ${pluralize(records.size, "distinct record", String)}`;
}

export function formatIds(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : "";
  return (
    ids
      .slice(0, 3)
      .map((id) => `\`${id}\``)
      .join(", ") + more
  );
}

/** Groups the records by response, in list order. `position` is the index at which the group starts in the list. */
export function groupByResponse(
  records: Iterable<ListRecord>,
): { items: Json[]; requestedAt: number; position: number }[] {
  const responses: { items: Json[]; requestedAt: number; position: number }[] = [];
  let position = 0;
  for (const { record, requestedAt } of records) {
    const last = responses.at(-1);
    if (last?.requestedAt === requestedAt) last.items.push(record);
    else responses.push({ items: [record], requestedAt, position });
    position += 1;
  }
  return responses;
}
