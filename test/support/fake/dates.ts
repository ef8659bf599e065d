import type { Behaviour } from "./behaviour.js";
import type { Asked } from "./lists.js";

/** Which member dates a list, and the parameters that filter by it; null where the document names none. */
export interface Dating {
  member: string;
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
}

/** The dates by which lists are sorted and filtered. */
export const datings: Partial<Record<string, Dating>> = {
  orders: { member: "order_date", from: "start_date", until: "end_date", end: "inclusive" },
  content: { member: "created_at", from: "uploaded_after", until: "uploaded_before", end: "exclusive" },
  opportunities: { member: "created_at", from: "", until: "", end: "inclusive" },
};

const dayMicros = 86_400_000_000;

/** Read once: tests ask for the same thousands night after night. */
const instants = new Map<string, number>();
const mostInstants = 20_000;

/** Microseconds since 1970: dates can be finer than milliseconds. */
export function instantOf(date: unknown): number {
  const text = String(date);
  const instant = instants.get(text) ?? readInstant(text);
  if (instants.size > mostInstants) instants.clear();
  instants.set(text, instant);
  return instant;
}

function readInstant(text: string): number {
  const finer = /\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "";
  return Date.parse(text) * 1_000 + Number(finer.padEnd(3, "0"));
}

/** Cut, never rounded: `.1239` is shown as `.123`. */
export function shown(kept: string, shows: Behaviour["shows"], id: string): string {
  if (!/^\d{4}-\d\d-\d\dT/.test(kept)) return kept;
  if (shows === "days") return kept.slice(0, 10);
  if (shows === "minutes") return `${kept.slice(0, 16)}Z`;
  if (shows === "seconds") return `${kept.slice(0, 19)}Z`;
  if (shows === "milliseconds") return kept.replace(/(\.\d{3})\d+/, "$1");
  if (shows === "everything") return kept;
  const manners = ["everything", "days", "seconds", "milliseconds"] as const;
  const manner = manners[mixed(id, 0) % 5];
  return manner ? shown(kept, manner, id) : kept.replace("Z", "+00:00");
}

/** Whether a record of this instant lies in the range of dates that a request asks for. */
export function rangeOf(asked: Asked, dating: Dating, behaviour: Behaviour): (at: number) => boolean {
  const from = asked[dating.from];
  const until = asked[dating.until];
  if (from === undefined && until === undefined) return () => true;
  const isDay = until?.length === 10 && dating.end === "inclusive" && behaviour.endDay === "whole";
  const least = from === undefined ? Number.NEGATIVE_INFINITY : instantOf(from);
  const most =
    until === undefined ? Number.POSITIVE_INFINITY : instantOf(until) + (isDay ? dayMicros - 1 : 0);
  return (at) => {
    if (Number.isNaN(at)) return behaviour.undated === "everywhere";
    return at >= least && (at < most || (at === most && dating.end === "inclusive"));
  };
}

/** A number that depends on all of both, and on nothing else. */
export function mixed(text: string, salt: number): number {
  let hash = Math.imul(salt, 2_654_435_761) >>> 0;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return Math.imul(hash ^ (hash >>> 15), 2_246_822_519) >>> 0;
}
