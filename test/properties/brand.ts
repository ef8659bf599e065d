import { type Brand, parseInstant } from "../../src/sandbox/brand.js";
import { createBrandEvents, recordKey } from "../../src/sandbox/events.js";
import { day, fileAt, memberOf, openRecord, orderAt } from "../support/records.js";

/** The lists whose reading is checked against every history. */
export const watchedLists = ["orders", "content", "roster", "opportunities", "gifts", "surveys"] as const;
export type Watched = (typeof watchedLists)[number];
export type Fields = Record<string, unknown>;

const second = 1_000;

/** What a brand begins with. */
export interface Beginning {
  seed: number;
  records: number;
  /** At most so many records are of one second. */
  crowd: number;
  /** So many of the records have no date. */
  undated?: number;
}

/** Something that happens at the brand: `pick` chooses the record, `days` a date. */
export interface Happening {
  what:
    | "new"
    | "late"
    | "crowd"
    | "exchange"
    | "withdraw"
    | "return"
    | "refundPart"
    | "refund"
    | "cancel"
    | "host"
    | "defaultRate"
    | "assign"
    // Outside the model.
    | "redate"
    | "ahead";
  pick: number;
  days: number;
}

/** Orders and content are filtered by date; other lists are read whole. */
export function isDated(watched: Watched): boolean {
  return watched === "orders" || watched === "content";
}

export function recordsOf(brand: Brand, watched: Watched): readonly Fields[] {
  return brand[watched];
}

export function keyOf(watched: Watched, record: Fields): string {
  return recordKey(watched, record as unknown as Brand[Watched][number]);
}

/** Returns the member that a list is filtered by; none for the lists that are read whole. */
export function dateMember(watched: Watched): string | null {
  return { orders: "order_date", content: "created_at" }[watched as string] ?? null;
}

/** Returns the second of a record's date, in milliseconds; NaN if it has none. */
export function secondOf(watched: Watched, record: Fields): number {
  const member = dateMember(watched);
  return member === null ? Number.NaN : Math.floor(parseInstant(record[member]) / 1_000_000) * 1_000;
}

/** Returns a number that is always the same for the same numbers. */
export function mixed(...numbers: number[]): number {
  return numbers.reduce((sum, n) => Math.imul(sum ^ (n + 0x9e3779b9), 0x85ebca6b) >>> 7, 7);
}

export function begin(watched: Watched, beginning: Beginning, now: number): Fields[] {
  const { seed, records, crowd, undated = 0 } = beginning;
  let date = "";
  // A list that is read whole takes a request for each of its records, or their pages.
  const length = isDated(watched) ? records : records % 61;
  const list = Array.from({ length }, (_, n) => {
    const age = (mixed(seed, n, 1) % (n % 2 === 0 ? 60 : 700)) * day + (mixed(seed, n, 3) % day);
    const isAlone = mixed(seed, n, 2) % 4 === 0 || n % crowd === 0;
    if (isAlone) date = dateAt(now - second - age, seed + n);
    return makeRecord(watched, `${watched[0]}${n}`, n < undated ? null : date, seed + n);
  });
  // In the order in which they were attributed, whatever their dates.
  return list
    .map((record, n) => ({ record, n }))
    .sort((a, b) => mixed(seed, a.n) - mixed(seed, b.n))
    .map(({ record }) => record);
}

/**
 * Lets one thing happen to the brand's records, each replaced by another; what cannot happen does not.
 * @param gone the records that have left, as they were last: each may return
 */
export function happen(
  brand: Brand,
  watched: Watched,
  { what, pick, days }: Happening,
  now: number,
  gone: readonly Fields[],
): void {
  // One list stands for all: their happenings differ in the types of their records only.
  const { add, change, remove } = createBrandEvents(brand, () => now);
  const list = watched as "gifts";
  const records = [...recordsOf(brand, watched)].sort((a, b) =>
    keyOf(watched, a) < keyOf(watched, b) ? -1 : 1,
  );
  const chosen = records[pick % Math.max(1, records.length)];
  const returning = gone[pick % Math.max(1, gone.length)];
  const member = dateMember(watched) ?? "created_at";
  const come = (date: unknown) => {
    const id = `${watched[0]}x${brand.nextNumber++}`;
    add(list, makeRecord(watched, id, typeof date === "string" ? date : null, pick + days) as { id: string });
  };
  const changeOne = (record: Fields, fields: Fields) => change(list, keyOf(watched, record), fields);
  const old = dateAt(now - days * day - (pick % 1_000) * 60_000, pick);
  if (what === "new") come(dateAt(now, 0));
  else if (what === "late") come(old);
  else if (what === "ahead") come(dateAt(now + (1 + (days % 3)) * day, pick));
  else if (what === "return") {
    if (returning)
      add(list, { ...returning, ...(pick % 2 === 0 ? {} : revised(watched, pick, now)) } as { id: string });
  } else if (what === "defaultRate")
    for (const one of records) changeOne(one, { commission_rate: 5 + (days % 20), ...stamp(watched, now) });
  else if (!chosen) return;
  else if (what === "crowd") come(chosen[member]);
  else if (what === "withdraw") remove(list, keyOf(watched, chosen));
  else if (what === "exchange") {
    // Another record of the same second, for other amounts: no count moves.
    remove(list, keyOf(watched, chosen));
    come(chosen[member]);
  } else if (what === "redate") changeOne(chosen, { [member]: old });
  else if (what === "host") changeOne(chosen, revised(watched, pick, now));
  else if (watched === "orders") changeOne(chosen, moneyOf(chosen, what, pick));
  else if (watched === "surveys") brand.results = { ...brand.results, [String(chosen.id)]: resultsOf(pick) };
  else if (watched === "opportunities") changeOne(chosen, campaignOf(chosen, what, days, now));
}

/** Results in one of the shapes that they may have: a list with ids, one without, or one object. */
function resultsOf(pick: number): unknown {
  const scores = Array.from({ length: pick % 4 }, (_, n) => ({ score: pick % (n + 2) }));
  return pick % 3 === 0
    ? scores
    : pick % 3 === 1
      ? { score: pick % 5 }
      : scores.map((one, n) => ({ id: `r${n}`, ...one }));
}

function revised(watched: Watched, pick: number, now: number): Fields {
  if (watched === "orders") return { host: { id: `h${pick % 9}`, username: `name-${pick}` } };
  return { title: `title ${pick}`, ...stamp(watched, now) };
}

/** The list of campaigns shows when each was changed. */
function stamp(watched: Watched, now: number): Fields {
  return watched === "opportunities" ? { updated_at: new Date(now).toISOString() } : {};
}

function moneyOf(order: Fields, what: Happening["what"], pick: number): Fields {
  const total = Number(order.total_amount);
  if (what === "cancel") return { is_cancelled: true, financial_status: "voided" };
  const refund = what === "refund" ? total : Math.min(total, Number(order.refund_amount) + 1 + (pick % 7));
  return { refund_amount: refund, is_refunded: refund >= total };
}

function campaignOf(campaign: Fields, what: Happening["what"], days: number, now: number): Fields {
  if (what === "cancel")
    return { status: days % 2 === 0 ? "ACTIVE" : "ARCHIVED", ...stamp("opportunities", now) };
  // While a campaign goes on, nothing in the list shows that an assignment changed.
  return what === "assign" && campaign.status === "ACTIVE"
    ? { assignments: [{ id: `a${days}`, status: "ACCEPTED" }] }
    : {};
}

function makeRecord(watched: Watched, id: string, date: string | null, salt: number): Fields {
  if (watched === "roster") return memberOf(id);
  if (watched === "gifts" || watched === "surveys") return openRecord(id, { title: `title ${salt}` });
  if (watched === "content")
    return fileAt(id, 0, { created_at: date, source: salt % 3 === 0 ? "upload" : "deliverable" });
  if (watched === "orders") {
    const total = 20 + (mixed(salt, id.length) % 20_000) / 100;
    return orderAt(id, date, { total_amount: total, subtotal_amount: Math.round(total * 80) / 100 });
  }
  const created_at = date ?? dateAt(salt * day, salt);
  const campaign = {
    id,
    title: "",
    status: "ACTIVE",
    assignment_counts: {},
    created_at,
    updated_at: created_at,
  };
  return { ...campaign, deliverables: [{ id: `d${salt}` }], assignments: [] };
}

/** Dates are kept in microseconds, and often lie at either end of their second. */
function dateAt(ms: number, salt: number): string {
  const text = new Date(ms).toISOString();
  const fractions = ["000", "999", "999500", "000001", null, null];
  const fraction = fractions[mixed(salt, 11) % fractions.length];
  return fraction === null || salt === 0 ? text : text.replace(/\.\d+/, `.${fraction}`);
}
