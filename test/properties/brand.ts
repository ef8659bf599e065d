import type { JsonObject } from "../../src/resources/types.js";
import { type Dating, datings, instantOf, mixed } from "../support/fake/dates.js";
import { readRecord } from "../support/fake/lists.js";
import type { FakeApi } from "../support/fake-api.js";

/** The resources whose reading is checked against every history. */
export const watchedLists = ["orders", "content", "roster", "opportunities", "gifts"] as const;
export type Watched = (typeof watchedLists)[number];

/** Whether the API filters a list by date: it is then read by ranges, and whole otherwise. */
export function isDated(watched: Watched): boolean {
  return watched === "orders" || watched === "content";
}

/** What a brand begins with, and how fine its dates are. */
export interface Beginning {
  seed: number;
  records: number;
  /** The most records of one instant. */
  crowd: number;
  /** Records without a date. */
  undated: number;
  finest: "milliseconds" | "microseconds";
}

/** Something that happens at the brand: `pick` chooses the record, `days` a date. */
export interface Happening {
  what:
    | "new"
    | "late"
    | "crowd"
    | "ahead"
    | "exchange"
    | "assign"
    | "refundPart"
    | "refund"
    | "cancel"
    | "withdraw"
    | "return"
    | "redate"
    | "renew"
    | "host"
    | "rate"
    | "defaultRate";
  pick: number;
  days: number;
}

const dayMs = 86_400_000;

/** One of each list at least: what is chosen by number is always there. */
export function begin(watched: Watched, { seed, records, crowd, undated, finest }: Beginning, now: number) {
  const list: JsonObject[] = [];
  for (let n = 0; n < records; n += 1) {
    const isCrowded = n > 0 && mixed("crowd", seed + n) % 4 === 0 && n % crowd !== 0;
    const age = mixed("age", seed * 31 + n) % (mixed("far", seed + n) % 2 === 0 ? 60 * dayMs : 700 * dayMs);
    const date = isCrowded ? list[n - 1]?.[memberOf(watched)] : dateAt(now - age, finest, seed + n);
    list.push(makeRecord(watched, `${watched[0]}${n}`, n < undated ? null : String(date), seed + n));
  }
  // Not in the order of their dates: the order in which they were attributed.
  return list.sort((a, b) => mixed(keyOf(watched, a), seed) - mixed(keyOf(watched, b), seed));
}

export function keyOf(watched: Watched, record: JsonObject): string {
  if (watched === "content") return `${record.source}/${record.id}`;
  return String(watched === "roster" ? record.relationship_id : record.id);
}

export function datingOf(watched: Watched): Dating | null {
  return (isDated(watched) && datings[watched]) || null;
}

/** The kept instant of a record, in microseconds; NaN without a date, and in lists that have none. */
export function keptAt(watched: Watched, record: JsonObject): number {
  const dating = datingOf(watched);
  return dating ? instantOf(record[dating.member]) : Number.NaN;
}

/**
 * Lets one thing happen to the brand's records, each replaced by another; what cannot happen does not.
 * @param gone the records that have left, as they were last: each may return
 */
export function happen(
  api: FakeApi,
  watched: Watched,
  { finest }: Pick<Beginning, "finest">,
  { what, pick, days }: Happening,
  now: number,
  gone: readonly JsonObject[],
): void {
  const list = api.records[watched].map(readRecord);
  const sorted = [...list].sort((a, b) => (keyOf(watched, a) < keyOf(watched, b) ? -1 : 1));
  const chosen = sorted[pick % Math.max(1, sorted.length)];
  const returning = gone[pick % Math.max(1, gone.length)];
  const old = now - days * dayMs - (pick % 1_000) * 60_000;
  const member = memberOf(watched);
  const id = `${watched[0]}x${list.length}-${mixed(`${what}${days}`, pick + now) % 1_000_000}`;
  const come = (ms: number) => list.push(makeRecord(watched, id, dateAt(ms, finest, pick), pick + days));
  const change = (fields: JsonObject) => {
    const at = chosen ? list.indexOf(chosen) : -1;
    if (at >= 0) list[at] = { ...list[at], ...fields, ...revisedAt(watched, now) };
  };
  const elsewhere = { [member]: dateAt(old, finest, pick) };
  const otherHost = { host: { id: `h${pick % 9}`, username: `name-${pick}` } };
  // As it was, changed, or elsewhere.
  const comeBack = () => {
    const manners = [{}, { ...otherHost, ...revisedAt(watched, now) }, isDated(watched) ? elsewhere : {}];
    if (returning) list.push({ ...returning, ...manners[mixed("return", pick) % manners.length] });
  };
  if (what === "new") come(now);
  else if (what === "late") come(old);
  else if (what === "ahead") come(now + (1 + (days % 3)) * dayMs);
  else if (what === "defaultRate")
    for (const [at, one] of list.entries())
      list[at] = { ...one, commission_rate: 5 + (days % 20), ...revisedAt(watched, now) };
  else if (what === "return") comeBack();
  else if (!chosen) return;
  else if (what === "crowd") list.push(makeRecord(watched, id, stringOrNull(chosen[member]), pick + days));
  else if (what === "withdraw") list.splice(list.indexOf(chosen), 1);
  // Another one of the same instant and for other amounts: no count moves.
  else if (what === "exchange")
    list[list.indexOf(chosen)] = makeRecord(watched, id, stringOrNull(chosen[member]), pick + days);
  else if (what === "redate" && isDated(watched)) change(elsewhere);
  // After a run began that is under way.
  else if (what === "renew" && isDated(watched)) change({ [member]: dateAt(now, finest, pick) });
  else if (what === "host") change(otherHost);
  else if (what === "rate") change({ commission_rate: days % 30 });
  else if (watched === "orders") change(moneyOf(chosen, what, pick));
  else if (watched === "opportunities" && what === "assign" && chosen.status !== "ARCHIVED")
    // While the campaign goes on, nothing in the list tells of it.
    list[list.indexOf(chosen)] = { ...chosen, assignments: [{ id: `a${days}`, status: "ACCEPTED" }] };
  else if (watched === "opportunities" && what === "cancel")
    change({ status: days % 2 === 0 ? "ACTIVE" : "ARCHIVED" });
  api.records[watched] = list;
}

/** The list of campaigns says when each was changed. */
function revisedAt(watched: Watched, now: number): JsonObject {
  return watched === "opportunities" ? { updated_at: new Date(now).toISOString() } : {};
}

function moneyOf(order: JsonObject, what: Happening["what"], pick: number): JsonObject {
  const total = Number(order.total_amount);
  if (what === "cancel") return { is_cancelled: true, financial_status: "voided" };
  const refund = what === "refund" ? total : Math.min(total, Number(order.refund_amount) + 1 + (pick % 7));
  const isRefunded = refund >= total;
  return {
    refund_amount: refund,
    is_refunded: isRefunded,
    financial_status: isRefunded ? "refunded" : "partially_refunded",
  };
}

function makeRecord(watched: Watched, id: string, date: string | null, salt: number): JsonObject {
  const host = { id: `h${salt % 7}`, username: `host_${salt % 7}` };
  if (watched === "roster")
    return { relationship_id: id, host, status: "active", commission_rate: 10, joined_at: date };
  if (watched === "gifts") return { id, commission_rate: 10, host };
  if (watched === "opportunities")
    return {
      id,
      status: "ACTIVE",
      commission_rate: 10,
      created_at: date ?? dateAt(salt, "milliseconds", salt),
      updated_at: date,
      deliverables: [{ id: `d${salt}` }],
      assignments: [],
    };
  if (watched === "content")
    return {
      id,
      source: salt % 3 === 0 ? "upload" : "deliverable",
      media_type: "image",
      created_at: date,
      host,
    };
  const total = 20 + (mixed(id, salt) % 20_000) / 100;
  return {
    id,
    order_date: date,
    currency: "EUR",
    total_amount: total,
    subtotal_amount: Math.round(total * 80) / 100,
    refund_amount: 0,
    financial_status: salt % 5 === 0 ? "pending" : "paid",
    is_cancelled: false,
    is_refunded: false,
    commission_rate: 10,
    attribution: salt % 4 === 0 ? "manual" : "tracked",
    host,
    line_items: [],
  };
}

function memberOf(watched: Watched): string {
  return datings[watched]?.member ?? "joined_at";
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function dateAt(ms: number, finest: Beginning["finest"], salt: number): string {
  const text = new Date(ms).toISOString();
  if (finest === "milliseconds") return text;
  return text.replace("Z", `${String(mixed("micros", salt) % 1_000).padStart(3, "0")}Z`);
}
