import { isDeepStrictEqual } from "node:util";
import { lastPage, maxPerPage, readPages } from "../api/pagination.js";
import { BadRequest, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/records.js";
import type { Json } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { SyncRun } from "./run.js";

type ListRun = Pick<SyncRun, "api" | "progress" | "resource">;

export interface ListRecord {
  record: Json;
  requestedAt: number;
}

/** Records by ID, or by JSON text if they have no ID. */
type RecordsById = ReadonlyMap<string, ListRecord>;

/** A deduplicated list with the newest version of each record. */
export interface List {
  records: RecordsById;
  /**
   * The IDs from all reads. There can be more IDs than `records`: a complete read replaces earlier ones, whose records
   * may since have been removed.
   */
  ids: ReadonlySet<string>;
  requestedAt: number;
  /** The last response's `total_items`, or the number of items if the list is unpaginated. */
  total: number;
  isComplete: boolean;
  /** IDs that the API lists more than once. If there are any, the list is incomplete. */
  repeated: string[];
}

interface ListQuery {
  path?: string;
  query?: QueryParameters;
  idOf?: (record: Json) => string | null;
  /**
   * Returns the keys of the mirrored records. If the list lacks any of them, the complete list is read a second time.
   */
  mirrored?: () => readonly string[];
}

type Wanted = Required<Omit<ListQuery, "mirrored">>;

interface Reading {
  records: Map<string, ListRecord>;
  /** All IDs in list order, including duplicates. */
  ids: string[];
  totals: number[];
  requestedAt: number;
}

const maxReadings = 3;
/**
 * The maximum number of reads if the API sorts the list randomly. Reading continues while `total_items` stays the
 * same and one of the last three reads found new records.
 */
const maxReadingsInRandomOrder = 12;

/**
 * Reads a list until it is complete. Gives up after three readings, unless the list's order is random. A list is
 * complete if one reading has `total_items` distinct records, or if `total_items` never changed and the merged readings
 * have that many.
 * @throws Incomplete if the list has more pages than the API can return
 */
export async function readList(run: ListRun, { mirrored, ...query }: ListQuery = {}): Promise<List> {
  const { resource } = run;
  const idOf = (record: Json) => findId(resource, record);
  const wanted = { path: resource.path, idOf, ...query, query: { ...resource.query, ...query.query } };
  const first = await readUntilSettled(run, wanted);
  if (!first.isComplete || !mirrored) return first;
  const listed = [...first.records.values()];
  const keys = new Set(listed.map(({ record }, position) => recordKey(resource, record, position)));
  if (mirrored().every((key) => keys.has(key))) return first;
  // If one record is removed and another added while the pages are being read, a third record can move to a page that
  // has already been read.
  const second = await readUntilSettled(run, wanted);
  return {
    ...second,
    records: mergeRecords(first.records, second.records),
    ids: new Set([...first.ids, ...second.ids]),
    requestedAt: first.requestedAt,
  };
}

async function readUntilSettled(run: ListRun, wanted: Wanted): Promise<List> {
  const readOnce = run.resource.pagination === "unknown" ? readUndocumented : readAllPages;
  let merged: MergedReadings | null = null;
  for (;;) {
    const reading = await readOnce(run, wanted);
    merged = mergeReading(merged, reading);
    const list = decideList(merged, reading);
    if (list) return list;
  }
}

interface MergedReadings {
  count: number;
  records: RecordsById;
  requestedAt: number;
  steadyTotal: number | null;
  steadyOrder: readonly string[] | null;
  /** The number of the last read that found new records. */
  lastGrowth: number;
}

function mergeReading(earlier: MergedReadings | null, reading: Reading): MergedReadings {
  const { ids, requestedAt, totals } = reading;
  const [total = 0] = totals;
  const steadyTotal = totals.every((other) => other === total) ? total : null;
  if (!earlier) {
    const lastGrowth = reading.records.size > 0 ? 1 : 0;
    return { count: 1, records: reading.records, requestedAt, steadyTotal, steadyOrder: ids, lastGrowth };
  }
  const count = earlier.count + 1;
  const records = mergeRecords(earlier.records, reading.records);
  return {
    count,
    records,
    requestedAt: Math.min(earlier.requestedAt, requestedAt),
    steadyTotal: steadyTotal === earlier.steadyTotal ? steadyTotal : null,
    steadyOrder: isDeepStrictEqual(ids, earlier.steadyOrder) ? ids : null,
    lastGrowth: records.size > earlier.records.size ? count : earlier.lastGrowth,
  };
}

/**
 * Decides whether to stop reading.
 * @param merged all reads, including the newest
 * @returns a complete list, an incomplete list if reading it again would not help, or null to read it again
 */
function decideList(merged: MergedReadings, newest: Reading): List | null {
  const { count, records, requestedAt, steadyTotal } = merged;
  const ids = new Set(records.keys());
  const total = newest.totals.at(-1) ?? 0;
  const complete = { ids, total, isComplete: true, repeated: [] };
  const hasShrunk = newest.totals.some((other, page) => other < (newest.totals[page - 1] ?? 0));
  if (newest.records.size === total && !hasShrunk)
    return { ...complete, records: newest.records, requestedAt: newest.requestedAt };
  if (records.size === steadyTotal) return { ...complete, records, requestedAt };
  if (count < maxReadings) return null;

  const repeated = steadyTotal === null ? [] : findRepeatedIds(merged.steadyOrder ?? []);
  const isGrowing =
    steadyTotal !== null && records.size < steadyTotal && count - merged.lastGrowth < maxReadings;
  if (isGrowing && repeated.length === 0 && count < maxReadingsInRandomOrder) return null;
  return { ids, total, records, requestedAt, isComplete: false, repeated };
}

/** Merges two reads. If both contain a record, the newer version is kept. */
function mergeRecords(older: RecordsById, newer: RecordsById): RecordsById {
  const merged = new Map(newer);
  for (const [id, record] of older) if (!merged.has(id)) merged.set(id, record);
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

function findId(resource: Resource, record: Json): string | null {
  const key = recordKey(resource, record, 0);
  return key === "#0" ? null : key;
}

function createReading(): Reading {
  return { records: new Map(), ids: [], totals: [], requestedAt: Number.POSITIVE_INFINITY };
}

async function readAllPages(run: ListRun, wanted: Wanted): Promise<Reading> {
  const { api, resource } = run;
  const { path, query } = wanted;
  const reading = createReading();
  const pages = readPages(api, path, { per_page: maxPerPage, ...query }, resource.scope);
  for await (const { items, page, pagination, requestedAt } of pages) {
    if (pagination.total_pages > lastPage)
      throw new Incomplete(
        `${path} has ${pagination.total_pages} pages, which is more than the API can return.`,
      );
    addPage(run, reading, { items, requestedAt, total: pagination.total_items }, wanted.idOf);
    run.progress.advance(pagination.total_pages - page);
  }
  return reading;
}

/**
 * Reads a list whose pagination is undocumented. The first request has no parameters, because the API rejects unknown
 * parameters. If the response announces more records, all pages are requested, without `per_page` if the API rejects
 * it. A single object counts as a list with one record.
 */
async function readUndocumented(run: ListRun, wanted: Wanted): Promise<Reading> {
  const { api, resource } = run;
  const { path, query } = wanted;
  const { data, items: list, pagination, requestedAt } = await api.get(path, query, resource.scope);
  const items = list ?? [data];
  const total = pagination?.total_items ?? items.length;
  for (const per_page of total > items.length ? [maxPerPage, undefined] : [])
    try {
      return await readAllPages(run, { ...wanted, query: { ...query, per_page } });
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
    }
  const reading = createReading();
  addPage(run, reading, { items, requestedAt, total }, wanted.idOf);
  run.progress.advance(0);
  return reading;
}

/**
 * Adds a page to the records read so far. A record without an ID is identified by its JSON text. If a response contains identical
 * records without IDs, they count as separate records.
 */
function addPage(
  { resource }: ListRun,
  reading: Reading,
  { items, requestedAt, total }: { items: readonly Json[]; requestedAt: number; total: number },
  idOf: (record: Json) => string | null,
): void {
  const countByText = new Map<string, number>();
  for (const record of items) {
    const next = { record, requestedAt };
    let id = idOf(record);
    if (id === null) {
      const text = JSON.stringify(record);
      const count = (countByText.get(text) ?? 0) + 1;
      countByText.set(text, count);
      id = `#${count} ${text}`;
    }
    const earlier = reading.records.get(id);
    reading.ids.push(id);
    if (!earlier || isNewer(resource, next, earlier)) reading.records.set(id, next);
  }
  reading.totals.push(total);
  reading.requestedAt = Math.min(reading.requestedAt, requestedAt);
}

function isNewer(resource: Resource, next: ListRecord, earlier: ListRecord): boolean {
  const [date, earlierDate] = [recordDate(resource, next.record), recordDate(resource, earlier.record)];
  return date !== null && earlierDate !== null && date !== earlierDate
    ? date > earlierDate
    : next.requestedAt > earlier.requestedAt;
}

export function describeIncompleteList({ records, repeated, total }: List): string {
  if (repeated.length > 0) return `contains duplicate IDs: ${formatIds(repeated)}`;
  return `never settled: ${records.size} distinct records were read, but the API counts ${total}`;
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

/** Groups the records by response, in list order. `position` is the list index of a group's first record. */
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
