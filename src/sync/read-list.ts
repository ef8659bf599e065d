import { isDeepStrictEqual } from "node:util";
import { lastPage, readPages } from "../api/pagination.js";
import { BadRequest, Incomplete } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/records/record-key.js";
import type { Json } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import { maxPerPage } from "./budget.js";
import type { SyncRun } from "./session.js";

/** The parts of a run that reading a list uses. */
type ListRun = Pick<SyncRun, "api" | "progress" | "resource">;

/** A record of a list, and when its response was requested, in milliseconds since 1970. */
export interface ListRecord {
  record: Json;
  requestedAt: number;
}

/** A list, without duplicates: each record as last returned. */
export interface List {
  /** Keyed by ID, or by the record's text if it has no ID. */
  records: ReadonlyMap<string, ListRecord>;
  /** When its first response was requested, in milliseconds since 1970. */
  requestedAt: number;
  /** `total_items` of the last response, or the number of items if the list has no pages. */
  total: number;
  /** The number of distinct records in the responses. */
  rowCount: number;
  /** True if no record is missing from it. */
  isComplete: boolean;
  /** The IDs that every reading listed more than once. Such a list is not complete, and reading it again does not help. */
  repeated: string[];
}

/** A list to read, or a part of it. */
interface ListQuery {
  /** Default: the resource's own path. */
  path?: string;
  query?: QueryParameters;
  /** Returns a record's ID, or null if it has none. */
  idOf?: (record: Json) => string | null;
  /** Returns the keys of the mirrored records. If the list lacks one of them, it is read a second time. */
  mirrored?: () => readonly string[];
}

type Wanted = Required<Omit<ListQuery, "mirrored">>;

/** One pass over all pages. */
interface Reading {
  records: Map<string, ListRecord>;
  /** The names of all items, in order. */
  names: string[];
  /** `total_items` of each response. */
  totals: number[];
  requestedAt: number;
}

/** A9: a list settles within three readings. */
const maxReadings = 3;
/** A list in random order takes more readings: they continue while `total_items` is constant and new records appear. */
const maxReadingsInRandomOrder = 12;

/**
 * Reads a list until it is complete: at most three times, unless its order is random. It is complete if one reading has as many distinct records as
 * `total_items`, or if `total_items` was the same in all readings and all of them together have exactly that many.
 * @throws Incomplete if it has more pages than can be requested
 */
export async function readList(run: ListRun, { mirrored, ...query }: ListQuery = {}): Promise<List> {
  const { resource } = run;
  const idOf = (record: Json) => idIn(resource, record);
  const wanted = { path: resource.path, idOf, ...query, query: { ...resource.query, ...query.query } };
  const seen = new Set<string>();
  const first = await settle(run, wanted, seen);
  if (!first.isComplete || !mirrored) return first;
  const listed = [...first.records.values()];
  const keys = new Set(listed.map(({ record }, position) => recordKey(resource, record, position)));
  if (mirrored().every((key) => keys.has(key))) return first;
  // If one record is removed and another added between two pages, a third can move to a page that was already read.
  const second = await settle(run, wanted, seen);
  return { ...second, records: merge(first.records, second.records), requestedAt: first.requestedAt };
}

/** @param seen the names of all records so far, including earlier readings */
async function settle(run: ListRun, wanted: Wanted, seen: Set<string>): Promise<List> {
  const readOnce = run.resource.pagination === "unknown" ? readUndocumented : readAllPages;
  const readings: Pick<Reading, "requestedAt" | "names" | "totals">[] = [];
  let records: ReadonlyMap<string, ListRecord> = new Map();
  let lastGrowth = 0;
  for (let count = 1; ; count += 1) {
    const reading = await readOnce(run, wanted, seen);
    const total = reading.totals.at(-1) ?? 0;
    const list = {
      requestedAt: reading.requestedAt,
      total,
      rowCount: seen.size,
      isComplete: true,
      repeated: [],
    };
    const fell = reading.totals.some((one, page) => one < (reading.totals[page - 1] ?? 0));
    if (reading.records.size === total && !fell) return { ...list, records: reading.records };

    const before = records.size;
    records = merge(records, reading.records);
    if (records.size > before) lastGrowth = count;
    readings.push({ requestedAt: reading.requestedAt, names: reading.names, totals: reading.totals });
    const isSteady = readings.every(({ totals }) => totals.every((one) => one === total));
    const merged = {
      ...list,
      records,
      requestedAt: Math.min(...readings.map(({ requestedAt }) => requestedAt)),
    };
    if (isSteady && records.size === total) return merged;
    if (count < maxReadings) continue;

    const isSameOrder = readings.every(({ names }) => isDeepStrictEqual(names, reading.names));
    const repeated = isSteady && isSameOrder ? repeatedNames(reading.names) : [];
    const isGrowing = isSteady && records.size < total && count - lastGrowth < maxReadings;
    if (repeated.length > 0 || !isGrowing || count === maxReadingsInRandomOrder)
      return { ...merged, isComplete: false, repeated };
  }
}

/** Merges a newer reading into the older ones. Its records replace theirs, and its order takes precedence. */
function merge(
  older: ReadonlyMap<string, ListRecord>,
  newer: ReadonlyMap<string, ListRecord>,
): Map<string, ListRecord> {
  const merged = new Map(newer);
  for (const [name, record] of older) if (!merged.has(name)) merged.set(name, record);
  return merged;
}

/** Returns the names that occur more than once. */
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

async function readAllPages(run: ListRun, wanted: Wanted, seen: Set<string>): Promise<Reading> {
  const { api, resource } = run;
  const { path, query } = wanted;
  const reading = emptyReading();
  const pages = readPages(api, path, { per_page: maxPerPage, ...query }, resource.scope);
  for await (const { items, page, pagination, requestedAt } of pages) {
    if (pagination.total_pages > lastPage)
      throw new Incomplete(
        `${path} has more pages than the API lets anyone read: ${pagination.total_pages}.`,
      );
    addPage(run, reading, { items, requestedAt, total: pagination.total_items }, wanted.idOf, seen);
    run.progress.advance(pagination.total_pages - page);
  }
  return reading;
}

/**
 * Reads a list whose pages the API document does not describe: first without parameters, because the API refuses unknown ones. Pages are requested
 * only if the response announces more; a refused `per_page` is left out. A single object is read as a list of one.
 */
async function readUndocumented(run: ListRun, wanted: Wanted, seen: Set<string>): Promise<Reading> {
  const { api, resource } = run;
  const { path, query } = wanted;
  const { data, items: list, pagination, requestedAt } = await api.get(path, query, resource.scope);
  const items = list ?? [data];
  const total = pagination?.total_items ?? items.length;
  for (const per_page of total > items.length ? [maxPerPage, undefined] : [])
    try {
      return await readAllPages(run, { ...wanted, query: { ...query, per_page } }, seen);
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
    }
  const reading = emptyReading();
  addPage(run, reading, { items, requestedAt, total }, wanted.idOf, seen);
  run.progress.advance(0);
  return reading;
}

/**
 * Adds a response to a reading. A record without an ID is identified by its text; duplicates in the same response count
 * as separate records.
 */
function addPage(
  { resource }: ListRun,
  reading: Reading,
  { items, requestedAt, total }: { items: readonly Json[]; requestedAt: number; total: number },
  idOf: (record: Json) => string | null,
  seen: Set<string>,
): void {
  const equal = new Map<string, number>();
  for (const record of items) {
    const id = idOf(record);
    const text = id === null ? JSON.stringify(record) : "";
    const nth = (equal.get(text) ?? 0) + 1;
    equal.set(text, nth);
    const name = id ?? `#${nth} ${text}`;
    const known = reading.records.get(name);
    reading.names.push(name);
    const next = { record, requestedAt };
    if (!known || isNewer(resource, next, known)) reading.records.set(name, next);
    seen.add(name);
  }
  reading.totals.push(total);
  reading.requestedAt = Math.min(reading.requestedAt, requestedAt);
}

/** Of two copies of a record, the one with the newer date is kept; if the dates are equal, the one returned later. */
function isNewer(resource: Resource, next: ListRecord, known: ListRecord): boolean {
  const [date, knownDate] = [recordDate(resource, next.record), recordDate(resource, known.record)];
  return date !== null && knownDate !== null && date !== knownDate
    ? date > knownDate
    : next.requestedAt > known.requestedAt;
}

/** Returns why a list is incomplete, as a clause. */
export function whyIncomplete({ records, repeated, total }: List): string {
  if (repeated.length > 0) return `has IDs more than once: ${nameIds(repeated)}`;
  return `never settled: ${records.size} distinct records were read where the API counts ${total}`;
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

/** Groups the records of a list by response, in the list's order. `position`: the index of the group's first record. */
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
