import type { JsonObject } from "../../../src/resources/types.js";
import type { Behaviour } from "./behaviour.js";
import { type Dating, datings, instantOf, mixed, rangeOf, shown } from "./dates.js";

/** A record as its API keeps it; as text, it goes over the wire to the letter. */
export type FakeRecord = JsonObject | string;

/** A record and the instant it is dated, in microseconds since 1970; NaN where it has no date that can be read. */
export interface Entry {
  record: FakeRecord;
  value: JsonObject;
  at: number;
}

/** What a request asks of a list, checked already. */
export type Asked = Readonly<Record<string, string>>;

export function readRecord(record: FakeRecord): JsonObject {
  return typeof record === "string" ? (JSON.parse(record) as JsonObject) : record;
}

/** The text of a record as its list sends it, its date as fine as it is shown. */
export function textOf(
  list: string,
  { record, value }: Pick<Entry, "record" | "value">,
  shows: Behaviour["shows"],
): string {
  if (typeof record === "string") return record;
  if (list === "opportunities") {
    const { deliverables, assignments, ...base } = value;
    return JSON.stringify(base);
  }
  const { member } = datings[list] ?? { member: "" };
  const kept = value[member];
  if (typeof kept !== "string" || shows === "everything") return JSON.stringify(record);
  return JSON.stringify({ ...value, [member]: shown(kept, shows, JSON.stringify(value.id)) });
}

/** Worked out again only where the list is another one: tests read lists of ten thousand pages. */
interface Sorted {
  records: FakeRecord[];
  dates: unknown[];
  entries: Entry[];
}

const sortedBefore = new WeakMap<readonly FakeRecord[], Map<string, Sorted>>();

/** A list in the order in which the API has it. */
export function inOrder(
  records: readonly FakeRecord[],
  dating: Dating | null,
  behaviour: Behaviour,
  request: number,
): Entry[] {
  const { ties, order, undatedStand } = behaviour;
  const manner = [dating?.member, ties, order, undatedStand].join();
  const known = sortedBefore.get(records) ?? new Map<string, Sorted>();
  sortedBefore.set(records, known);
  const before = known.get(manner);
  if (before && ties !== "changing" && isAsBefore(records, before, dating)) return before.entries;
  const entries = records.map((record) => {
    const value = readRecord(record);
    return { record, value, at: dating ? instantOf(value[dating.member]) : Number.NaN };
  });
  const ranked = entries.map((entry, index) => ({ entry, rank: rankOf(entry, index, ties, request) }));
  if (dating && order === "attribution") ranked.reverse();
  else ranked.sort((a, b) => byDate(a.entry.at, b.entry.at, undatedStand) || a.rank - b.rank);
  const sorted = ranked.map(({ entry }) => entry);
  known.set(manner, {
    records: [...records],
    dates: dating ? entries.map(({ value }) => value[dating.member]) : [],
    entries: sorted,
  });
  return sorted;
}

function isAsBefore(records: readonly FakeRecord[], before: Sorted, dating: Dating | null): boolean {
  if (records.length !== before.records.length) return false;
  return records.every((record, index) => {
    if (record !== before.records[index]) return false;
    return !dating || typeof record === "string" || record[dating.member] === before.dates[index];
  });
}

function rankOf({ value }: Entry, index: number, ties: Behaviour["ties"], request: number): number {
  if (ties === "changing") return mixed(JSON.stringify(value.id ?? value.relationship_id ?? index), request);
  return ties === "reversed" ? -index : index;
}

function byDate(a: number, b: number, undatedStand: Behaviour["undatedStand"]): number {
  if (Number.isNaN(a) && Number.isNaN(b)) return 0;
  if (Number.isNaN(a)) return undatedStand === "first" ? -1 : 1;
  if (Number.isNaN(b)) return undatedStand === "first" ? 1 : -1;
  return b - a;
}

/** Whether an order is in the state that `status` asks for. */
export function inState(order: JsonObject, status: string | undefined, behaviour: Behaviour): boolean {
  if (status === undefined || status === "all") return true;
  const { refunded, statuses } = behaviour;
  const isCancelled = order.is_cancelled === true;
  const hasRefund = Number(order.refund_amount ?? 0) > 0 || order.is_refunded === true;
  const isRefunded = refunded === "any" ? hasRefund : order.is_refunded === true;
  if (status === "cancelled") return isCancelled;
  if (status === "refunded") return isRefunded && !(statuses === "partition" && isCancelled);
  if (statuses === "overlap") return !isCancelled;
  if (statuses === "gaps") return !isCancelled && !hasRefund && order.financial_status === "paid";
  return !isCancelled && !isRefunded;
}

/** What a list has for a request, in its order: the number of the request changes it where the API does. */
export function select(
  name: string,
  records: readonly FakeRecord[],
  asked: Asked,
  behaviour: Behaviour,
  request: number,
): Entry[] {
  const dating = datings[name] ?? null;
  const entries = inOrder(records, dating, behaviour, request);
  if (name === "hosts") return ranked(entries, asked);
  const isInRange = dating?.from ? rangeOf(asked, dating, behaviour) : () => true;
  const found = entries.filter(({ at, value }) => {
    if (!isInRange(at)) return false;
    if (name === "orders") return inState(value, asked.status, behaviour);
    if (name === "opportunities") return isAmong(asked.status?.toUpperCase(), value.status);
    if (name !== "content") return true;
    const { source, media_type, opportunity_id, host_id } = asked;
    return (
      isAmong(source, value.source) &&
      isAmong(media_type, value.media_type) &&
      isAmong(opportunity_id, (value.opportunity as JsonObject | null)?.id) &&
      isAmong(host_id, (value.host as JsonObject | null)?.id)
    );
  });
  return asked.sort === "oldest" ? found.reverse() : found;
}

function isAmong(wanted: string | undefined, value: unknown): boolean {
  return wanted === undefined || wanted.split(",").includes(String(value));
}

const ranks: Record<string, string> = {
  clicks: "clicks",
  buy_now_clicks: "buy_now_clicks",
  actions: "orders",
};

function ranked(entries: readonly Entry[], { sort = "", order }: Asked): Entry[] {
  const member = ranks[sort] ?? "sales";
  const sign = order === "asc" ? -1 : 1;
  return [...entries].sort((a, b) => sign * (Number(b.value[member]) - Number(a.value[member])));
}
