import { createBrandEvents, sandboxRecordKey } from "../../src/sandbox/activity.js";
import type { Brand } from "../../src/sandbox/brand.js";
import { toMicroseconds } from "../../src/sandbox/endpoint.js";
import { day, fileAt, memberOf, openRecord, orderAt } from "../support/records.js";

export const testedLists = ["orders", "content", "roster", "opportunities", "gifts", "surveys"] as const;
export type TestedList = (typeof testedLists)[number];
export type Fields = Record<string, unknown>;

/** Parameters for generating the records that exist at the start of a scenario. */
export interface StartingRecords {
  seed: number;
  records: number;
  /** The maximum number of records with dates in the same second. */
  perSecond: number;
  undated?: number;
}

export interface ModelEvent {
  what: EventType;
  /** Selects the record to change: an index into the sorted keys, modulo the number of keys. */
  pick: number;
  /** For events that set a date: the new date's age in days. */
  days: number;
}

export type EventType =
  /**
   * A record is added with the current date, an earlier date, or a date in the same second as an existing record's
   * date.
   */
  | "new"
  | "late"
  | "sameSecond"
  /** A record is replaced with a new record whose date is in the same second, so no count changes. */
  | "swap"
  | "withdraw"
  /** A withdrawn record reappears in the list. */
  | "return"
  | "partialRefund"
  | "refund"
  | "cancel"
  | "hostChange"
  /** All records get a new commission rate. */
  | "defaultRate"
  /** An assignment is added to a campaign. Only the campaign's details contain assignments. */
  | "assign"
  /** These events violate the assumptions in src/sync/README.md: a date changes, or a new record has a future date. */
  | "redate"
  | "future";

/** Returns true if the list has a date filter. A list without a date filter is always read completely. */
export function isDated(listName: TestedList): boolean {
  return dateMember(listName) !== null;
}

/** Returns the name of the field that the date filter uses; null if the list has no date filter. */
export function dateMember(listName: TestedList): string | null {
  if (listName === "orders") return "order_date";
  return listName === "content" ? "created_at" : null;
}

export function recordsOf(brand: Brand, listName: TestedList): readonly Fields[] {
  return brand[listName];
}

export function keyOf(listName: TestedList, record: Fields): string {
  return sandboxRecordKey(listName, record as unknown as Brand[TestedList][number]);
}

/** Returns the record's date in milliseconds, truncated to the second; NaN if the record has no date. */
export function secondOf(listName: TestedList, record: Fields): number {
  const member = dateMember(listName);
  return member === null ? Number.NaN : Math.floor(toMicroseconds(record[member]) / 1_000_000) * 1_000;
}

export function hashNumbers(...numbers: number[]): number {
  return numbers.reduce((sum, n) => Math.imul(sum ^ (n + 0x9e3779b9), 0x85ebca6b) >>> 7, 7);
}

export function createRecords(listName: TestedList, start: StartingRecords, now: number): Fields[] {
  const { seed, perSecond, undated = 0 } = start;
  let date = "";
  // Every run reads lists without dates in full, so these lists are kept short.
  const length = isDated(listName) ? start.records : start.records % 61;
  const records = Array.from({ length }, (_, n) => {
    const age = (hashNumbers(seed, n, 1) % (n % 2 === 0 ? 60 : 700)) * day + (hashNumbers(seed, n, 3) % day);
    const startsSecond = hashNumbers(seed, n, 2) % 4 === 0 || n % perSecond === 0;
    if (startsSecond) date = randomDate(now - 1_000 - age, seed + n);
    return createRecord(listName, `${listName[0]}${n}`, n < undated ? null : date, seed + n);
  });
  // Shuffles the records, because orders are not necessarily attributed in date order.
  return records
    .map((record, n) => ({ record, n }))
    .sort((a, b) => hashNumbers(seed, a.n) - hashNumbers(seed, b.n))
    .map(({ record }) => record);
}

/**
 * Applies an event to the brand, or does nothing if the event is impossible, such as a withdrawal from an empty list.
 * @param removed the last version of each removed record, which a `return` event may add back
 */
export function applyEvent(
  brand: Brand,
  listName: TestedList,
  { what, pick, days }: ModelEvent,
  now: number,
  removed: readonly Fields[],
): void {
  const edits = createBrandEvents(brand, () => now);
  // All lists support the same edits, so one list's type is used for all of them.
  const list = listName as "gifts";
  const records = [...recordsOf(brand, listName)].sort((a, b) =>
    keyOf(listName, a) < keyOf(listName, b) ? -1 : 1,
  );
  const chosen = records[pick % Math.max(1, records.length)];
  const returning = removed[pick % Math.max(1, removed.length)];
  const member = dateMember(listName) ?? "created_at";
  const earlier = randomDate(now - days * day - (pick % 1_000) * 60_000, pick);

  function add(date: unknown): void {
    const id = `${listName[0]}x${brand.nextNumber++}`;
    const record = createRecord(listName, id, typeof date === "string" ? date : null, pick + days);
    edits.add(list, record as { id: string });
  }
  const change = (record: Fields, fields: Fields) => edits.change(list, keyOf(listName, record), fields);

  if (what === "new") add(randomDate(now, 0));
  else if (what === "late") add(earlier);
  else if (what === "future") add(randomDate(now + (1 + (days % 3)) * day, pick));
  else if (what === "return") {
    const changes = pick % 2 === 0 ? {} : hostChange(listName, pick, now);
    if (returning) edits.add(list, { ...returning, ...changes } as { id: string });
  } else if (what === "defaultRate") {
    for (const record of records)
      change(record, { commission_rate: 5 + (days % 20), ...updatedAt(listName, now) });
  } else if (!chosen) return;
  else if (what === "sameSecond") add(chosen[member]);
  else if (what === "withdraw") edits.remove(list, keyOf(listName, chosen));
  else if (what === "swap") {
    edits.remove(list, keyOf(listName, chosen));
    add(chosen[member]);
  } else if (what === "redate") change(chosen, { [member]: earlier });
  else if (what === "hostChange") change(chosen, hostChange(listName, pick, now));
  else if (listName === "orders") change(chosen, refundOrCancel(chosen, what, pick));
  else if (listName === "opportunities") change(chosen, campaignChange(chosen, what, days, now));
  else if (listName === "surveys")
    brand.results = { ...brand.results, [String(chosen.id)]: createResults(pick) };
}

/** Returns survey results in one of three shapes: a list with IDs, a list without IDs, or a single object. */
function createResults(pick: number): unknown {
  const scores = Array.from({ length: pick % 4 }, (_, n) => ({ score: pick % (n + 2) }));
  if (pick % 3 === 0) return scores;
  if (pick % 3 === 1) return { score: pick % 5 };
  return scores.map((score, n) => ({ id: `r${n}`, ...score }));
}

function hostChange(listName: TestedList, pick: number, now: number): Fields {
  if (listName === "orders") return { host: { id: `h${pick % 9}`, username: `name-${pick}` } };
  return { title: `title ${pick}`, ...updatedAt(listName, now) };
}

function updatedAt(listName: TestedList, now: number): Fields {
  return listName === "opportunities" ? { updated_at: new Date(now).toISOString() } : {};
}

function refundOrCancel(order: Fields, what: EventType, pick: number): Fields {
  const total = Number(order.total_amount);
  if (what === "cancel") return { is_cancelled: true, financial_status: "voided" };
  const refund = what === "refund" ? total : Math.min(total, Number(order.refund_amount) + 1 + (pick % 7));
  return { refund_amount: refund, is_refunded: refund >= total };
}

function campaignChange(campaign: Fields, what: EventType, days: number, now: number): Fields {
  if (what === "cancel")
    return { status: days % 2 === 0 ? "ACTIVE" : "ARCHIVED", ...updatedAt("opportunities", now) };
  // A change to assignments does not affect `updated_at`.
  return what === "assign" && campaign.status === "ACTIVE"
    ? { assignments: [{ id: `a${days}`, status: "ACCEPTED" }] }
    : {};
}

function createRecord(listName: TestedList, id: string, date: string | null, salt: number): Fields {
  if (listName === "roster") return memberOf(id);
  if (listName === "gifts" || listName === "surveys") return openRecord(id, { title: `title ${salt}` });
  if (listName === "content")
    return fileAt(id, 0, { created_at: date, source: salt % 3 === 0 ? "upload" : "deliverable" });
  if (listName === "orders") {
    const total = 20 + (hashNumbers(salt, id.length) % 20_000) / 100;
    return orderAt(id, date, { total_amount: total, subtotal_amount: Math.round(total * 80) / 100 });
  }
  const created_at = date ?? randomDate(salt * day, salt);
  return {
    id,
    title: "",
    status: "ACTIVE",
    assignment_counts: {},
    created_at,
    updated_at: created_at,
    deliverables: [{ id: `d${salt}` }],
    assignments: [],
  };
}

/** Returns a timestamp with microsecond precision, often at the start or end of a second. */
function randomDate(ms: number, salt: number): string {
  const text = new Date(ms).toISOString();
  const fractions = ["000", "999", "999500", "000001", null, null];
  const fraction = fractions[hashNumbers(salt, 11) % fractions.length];
  return fraction === null || salt === 0 ? text : text.replace(/\.\d+/, `.${fraction}`);
}
