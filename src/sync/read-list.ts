import { isDeepStrictEqual } from "node:util";
import { lastPage, maxPerPage, readPages } from "../api/pagination.js";
import { BadRequest, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/record-key.js";
import type { Json } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { SyncRun } from "./run.js";

/** The parts of a run that are needed to read a list. */
type ListRun = Pick<SyncRun, "api" | "progress" | "resource">;

export interface ListRecord {
  record: Json;
  /** The time of the request that returned the record, in milliseconds since 1970. */
  requestedAt: number;
}

/** A list without duplicates. Each record has the form in which the API last returned it. */
export interface List {
  /** Keyed by ID, or by JSON text for records without an ID. */
  records: ReadonlyMap<string, ListRecord>;
  /** The time of the first request, in milliseconds since 1970. */
  requestedAt: number;
  /** The value of `total_items` in the last response, or the number of items if the list is unpaginated. */
  total: number;
  /** The number of distinct records in the responses. */
  rowCount: number;
  /** True if the list has all of the API's records. */
  isComplete: boolean;
  /** The IDs that the API lists more than once. A list with repeated IDs is never complete. */
  repeated: string[];
}

/** A list, or part of a list, to read. */
interface ListQuery {
  /** Default: the resource's own path. */
  path?: string;
  query?: QueryParameters;
  /** Returns a record's ID, or null if it has none. */
  idOf?: (record: Json) => string | null;
  /** Returns the keys of the mirrored records. The list is read a second time if it lacks one of them. */
  mirrored?: () => readonly string[];
}

type Wanted = Required<Omit<ListQuery, "mirrored">>;

/** The result of reading all pages once. */
interface Reading {
  records: Map<string, ListRecord>;
  /** The key in `records` of each returned item, in the order in which the API returned them. */
  names: string[];
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
  const first = await settle(run, wanted);
  if (!first.isComplete || !mirrored) return toList(first);
  const listed = [...first.records.values()];
  const keys = new Set(listed.map(({ record }, position) => recordKey(resource, record, position)));
  if (mirrored().every((key) => keys.has(key))) return toList(first);
  // While pages are being read, a removal and an addition can move a third record to a page that has already been read.
  const second = await settle(run, wanted);
  return toList({
    ...second,
    records: merge(first.records, second.records),
    requestedAt: first.requestedAt,
    names: new Set([...first.names, ...second.names]),
  });
}

function toList({ names, ...list }: SettledList): List {
  return { ...list, rowCount: names.size };
}

/** A list that was read either until it was complete or until further readings would not help. */
interface SettledList extends Omit<List, "rowCount"> {
  /** The keys of all records that any of the readings returned. */
  names: ReadonlySet<string>;
}

/** Reads a list until one reading is complete, the merged readings are complete, or further readings would not help. */
async function settle(run: ListRun, wanted: Wanted): Promise<SettledList> {
  const readOnce = run.resource.pagination === "unknown" ? readUndocumented : readAllPages;
  const readings: Omit<Reading, "records">[] = [];
  const names = new Set<string>();
  let records: ReadonlyMap<string, ListRecord> = new Map();
  let lastGrowth = 0;
  for (let count = 1; ; count += 1) {
    const { records: newest, ...reading } = await readOnce(run, wanted);
    const total = reading.totals.at(-1) ?? 0;
    for (const name of reading.names) names.add(name);
    const hasShrunk = reading.totals.some((one, page) => one < (reading.totals[page - 1] ?? 0));
    const isReadingComplete = newest.size === total && !hasShrunk;
    if (isReadingComplete)
      return {
        names,
        total,
        records: newest,
        requestedAt: reading.requestedAt,
        isComplete: true,
        repeated: [],
      };

    const before = records.size;
    records = merge(records, newest);
    if (records.size > before) lastGrowth = count;
    readings.push(reading);
    const requestedAt = Math.min(...readings.map((one) => one.requestedAt));
    const merged = { names, total, records, requestedAt };
    const isSteady = readings.every(({ totals }) => totals.every((one) => one === total));
    const isUnionComplete = isSteady && records.size === total;
    if (isUnionComplete) return { ...merged, isComplete: true, repeated: [] };
    if (count < maxReadings) continue;

    const isSameOrder = readings.every((one) => isDeepStrictEqual(one.names, reading.names));
    const repeated = isSteady && isSameOrder ? repeatedNames(reading.names) : [];
    const isGrowing = isSteady && records.size < total && count - lastGrowth < maxReadings;
    const isGivenUp = repeated.length > 0 || !isGrowing || count === maxReadingsInRandomOrder;
    if (isGivenUp) return { ...merged, isComplete: false, repeated };
  }
}

/** Merges two readings. The newer records come first and replace the older records. */
function merge(
  older: ReadonlyMap<string, ListRecord>,
  newer: ReadonlyMap<string, ListRecord>,
): Map<string, ListRecord> {
  const merged = new Map(newer);
  for (const [name, record] of older) if (!merged.has(name)) merged.set(name, record);
  return merged;
}

function repeatedNames(names: readonly string[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return [...repeated];
}

function idIn(resource: Resource, record: Json): string | null {
  const key = recordKey(resource, record, 0);
  return key === "#0" ? null : key;
}

function emptyReading(): Reading {
  return { records: new Map(), names: [], totals: [], requestedAt: Number.POSITIVE_INFINITY };
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
  const equal = new Map<string, number>();
  for (const record of items) {
    const id = idOf(record);
    const text = id === null ? JSON.stringify(record) : "";
    const nth = (equal.get(text) ?? 0) + 1;
    equal.set(text, nth);
    const name = id ?? `#${nth} ${text}`;
    const earlier = reading.records.get(name);
    reading.names.push(name);
    const next = { record, requestedAt };
    if (!earlier || isNewer(resource, next, earlier)) reading.records.set(name, next);
  }
  reading.totals.push(total);
  reading.requestedAt = Math.min(reading.requestedAt, requestedAt);
}

/**
 * True if `next` has a newer date than `earlier`, or if the dates are equal or unreadable and `next` was returned
 * later.
 */
function isNewer(resource: Resource, next: ListRecord, earlier: ListRecord): boolean {
  const [date, earlierDate] = [recordDate(resource, next.record), recordDate(resource, earlier.record)];
  return date !== null && earlierDate !== null && date !== earlierDate
    ? date > earlierDate
    : next.requestedAt > earlier.requestedAt;
}

/** Describes why a list is incomplete. */
export function whyIncomplete({ records, repeated, total }: List): string {
  if (repeated.length > 0) return `contains IDs more than once: ${nameIds(repeated)}`;
  return `never settled: ${records.size} distinct records were read, but the API counts ${total}`;
}

/** Lists the first few IDs. */
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
