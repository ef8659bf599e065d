import { isDeepStrictEqual } from "node:util";
import { lastPage, maxPerPage, readPages } from "../api/pagination.js";
import { BadRequest, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/record-key.js";
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

/** A list without duplicates. It contains the newest version of each record. */
export interface List {
  records: RecordsById;
  /** The time of the first request, in milliseconds since 1970. */
  requestedAt: number;
  /** The value of `total_items` in the last response, or the number of items if the list is unpaginated. */
  total: number;
  /** The number of distinct records in all readings. */
  rowCount: number;
  isComplete: boolean;
  /** The IDs that the API lists more than once. A list with repeated IDs is never complete. */
  repeated: string[];
}

interface ListQuery {
  /** Default: the resource's own path. */
  path?: string;
  query?: QueryParameters;
  idOf?: (record: Json) => string | null;
  /** Returns the keys of the mirrored records. If the list lacks one of them, it is read a second time. */
  mirrored?: () => readonly string[];
}

type Wanted = Required<Omit<ListQuery, "mirrored">>;

/** The result of reading all pages once. */
interface Reading {
  records: Map<string, ListRecord>;
  /** The IDs in the API's order, including repeated IDs. */
  ids: string[];
  /** The value of `total_items` in each response. */
  totals: number[];
  requestedAt: number;
}

/** The number of readings after which a list should have settled (A9). */
const maxReadings = 3;
/**
 * The maximum number of times to read a list in random order. The list is re-read for as long as `total_items` is
 * unchanged and each reading finds new records.
 */
const maxReadingsInRandomOrder = 12;

/**
 * Reads a list until it is complete, at most three times unless its order is random. A list is complete if one reading
 * has as many distinct records as `total_items`, or if `total_items` was the same in all readings and the merged
 * readings have exactly that many records.
 * @throws Incomplete if the list has more pages than the API can return
 */
export async function readList(run: ListRun, { mirrored, ...query }: ListQuery = {}): Promise<List> {
  const { resource } = run;
  const idOf = (record: Json) => idIn(resource, record);
  const wanted = { path: resource.path, idOf, ...query, query: { ...resource.query, ...query.query } };
  const first = await readUntilSettled(run, wanted);
  if (!first.isComplete || !mirrored) return toList(first);
  const listed = [...first.records.values()];
  const keys = new Set(listed.map(({ record }, position) => recordKey(resource, record, position)));
  if (mirrored().every((key) => keys.has(key))) return toList(first);
  // While pages are being read, a removal and an addition can move a third record to a page that has already been read.
  const second = await readUntilSettled(run, wanted);
  return toList({
    ...second,
    records: mergeRecords(first.records, second.records),
    requestedAt: first.requestedAt,
    ids: new Set([...first.ids, ...second.ids]),
  });
}

/** `ids` are the records in all readings. A complete reading replaces earlier readings, which may have had more. */
type SettledList = Omit<List, "rowCount"> & { ids: ReadonlySet<string> };

function toList({ ids, ...list }: SettledList): List {
  return { ...list, rowCount: ids.size };
}

async function readUntilSettled(run: ListRun, wanted: Wanted): Promise<SettledList> {
  const readOnce = run.resource.pagination === "unknown" ? readUndocumented : readAllPages;
  let merged: MergedReadings | null = null;
  for (;;) {
    const reading = await readOnce(run, wanted);
    merged = mergeReading(merged, reading);
    const list = settledList(merged, reading);
    if (list) return list;
  }
}

interface MergedReadings {
  count: number;
  records: RecordsById;
  requestedAt: number;
  /** The value of `total_items` in all responses, or null if it changed between responses. */
  steadyTotal: number | null;
  /** The IDs in the API's order, or null if the order changed between readings. */
  steadyOrder: readonly string[] | null;
  /** The number of the last reading that found new records. */
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
 * @param merged all readings, including the newest one
 * @returns the complete list, the incomplete list if further readings would not help, or null to read the list again
 */
function settledList(merged: MergedReadings, newest: Reading): SettledList | null {
  const { count, records, requestedAt, steadyTotal } = merged;
  const ids = new Set(records.keys());
  const total = newest.totals.at(-1) ?? 0;
  const complete = { ids, total, isComplete: true, repeated: [] };
  const hasShrunk = newest.totals.some((other, page) => other < (newest.totals[page - 1] ?? 0));
  if (newest.records.size === total && !hasShrunk)
    return { ...complete, records: newest.records, requestedAt: newest.requestedAt };
  if (records.size === steadyTotal) return { ...complete, records, requestedAt };
  if (count < maxReadings) return null;

  const repeated = steadyTotal === null ? [] : repeatedIds(merged.steadyOrder ?? []);
  const isGrowing =
    steadyTotal !== null && records.size < steadyTotal && count - merged.lastGrowth < maxReadings;
  if (isGrowing && repeated.length === 0 && count < maxReadingsInRandomOrder) return null;
  return { ids, total, records, requestedAt, isComplete: false, repeated };
}

/** The newer records come first and replace the older records. */
function mergeRecords(older: RecordsById, newer: RecordsById): RecordsById {
  const merged = new Map(newer);
  for (const [id, record] of older) if (!merged.has(id)) merged.set(id, record);
  return merged;
}

function repeatedIds(ids: readonly string[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) repeated.add(id);
    seen.add(id);
  }
  return [...repeated];
}

function idIn(resource: Resource, record: Json): string | null {
  const key = recordKey(resource, record, 0);
  return key === "#0" ? null : key;
}

function emptyReading(): Reading {
  return { records: new Map(), ids: [], totals: [], requestedAt: Number.POSITIVE_INFINITY };
}

async function readAllPages(run: ListRun, wanted: Wanted): Promise<Reading> {
  const { api, resource } = run;
  const { path, query } = wanted;
  const reading = emptyReading();
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
 * Reads a list whose pagination is undocumented. The first request has no parameters, because the API refuses unknown
 * parameters. Pages are requested only if the response announces more records. If the API refuses `per_page`, the
 * parameter is left out. A single object is treated as a list with one record.
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
  const reading = emptyReading();
  addPage(run, reading, { items, requestedAt, total }, wanted.idOf);
  run.progress.advance(0);
  return reading;
}

/**
 * Adds a response to a reading. A record without an ID is identified by its JSON text. Duplicates of such a record in
 * the same response count as separate records.
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

/** Compares the dates or, if they are equal or unreadable, the times of the requests. */
function isNewer(resource: Resource, next: ListRecord, earlier: ListRecord): boolean {
  const [date, earlierDate] = [recordDate(resource, next.record), recordDate(resource, earlier.record)];
  return date !== null && earlierDate !== null && date !== earlierDate
    ? date > earlierDate
    : next.requestedAt > earlier.requestedAt;
}

export function whyIncomplete({ records, repeated, total }: List): string {
  if (repeated.length > 0) return `contains IDs more than once: ${nameIds(repeated)}`;
  return `never settled: ${records.size} distinct records were read, but the API counts ${total}`;
}

export function nameIds(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : "";
  return (
    ids
      .slice(0, 3)
      .map((id) => `\`${id}\``)
      .join(", ") + more
  );
}

/** Groups a list's records by response, in list order. `position` is the index of the group's first record. */
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
