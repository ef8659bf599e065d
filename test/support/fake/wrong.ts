import type { JsonObject } from "../../../src/resources/types.js";
import type { FakeRecords } from "../fake-api.js";
import type { Behaviour } from "./behaviour.js";
import { mixed } from "./dates.js";
import type { Asked, FakeRecord } from "./lists.js";
import { pageOf } from "./protocol.js";

/**
 * An answer with status 200 that is not as the API is: of nothing at all, without its `pagination`, without some of its
 * records, to another question, or out of a cache.
 */
export type WrongAnswer =
  | { wrong: "empty" | "unpaged" | "short" | "ignores" }
  | { wrong: "stale"; records: FakeRecords };

/** Dates and pages: what a server that does not read its query leaves out. */
const narrowing = ["page", "start_date", "end_date", "uploaded_after", "uploaded_before"];

/** What a wrong answer asks of which records, in place of the right one. */
export function mistaken(
  records: FakeRecords,
  query: Asked,
  wrong: WrongAnswer | undefined,
): { records: FakeRecords; query: Asked } {
  if (wrong?.wrong === "stale") return { records: wrong.records, query };
  if (wrong?.wrong === "empty") return { records: withoutAny(records), query };
  if (wrong?.wrong !== "ignores") return { records, query };
  return {
    records,
    query: Object.fromEntries(Object.entries(query).filter(([name]) => !narrowing.includes(name))),
  };
}

function withoutAny({ results, ...lists }: FakeRecords): FakeRecords {
  const none = Object.fromEntries(Object.keys(lists).map((name) => [name, []]));
  return {
    ...(none as unknown as FakeRecords),
    results: Object.fromEntries(Object.keys(results).map((survey) => [survey, "[]"])),
  };
}

/** A part of what there is: others are left out the next time. */
export function some<One>(all: readonly One[], request: number): One[] {
  return all.filter((_, at) => mixed("left out", at + request) % 3 > 0);
}

/** A page as `pageOf` has it, less what a wrong answer leaves out of it. */
export function wrongPageOf(
  texts: (from: number, to: number) => string[],
  total: number,
  { query, number }: { query: Asked; number: number },
  behaviour: Behaviour,
  wrong: WrongAnswer | undefined,
): string | null {
  const rows = (from: number, to: number) =>
    wrong?.wrong === "short" ? some(texts(from, to), number) : texts(from, to);
  const page = pageOf(rows, total, query, behaviour);
  return wrong?.wrong === "unpaged" ? (page?.replace(/,"pagination":\{[^{}]*\}$/, "") ?? null) : page;
}

/** A campaign by its id; of a server that does not read the address, another one. */
export function campaignOf(
  campaigns: readonly FakeRecord[],
  isAsked: (record: FakeRecord) => boolean,
  wrong: WrongAnswer | undefined,
): FakeRecord | JsonObject | undefined {
  if (wrong?.wrong === "empty") return {};
  if (wrong?.wrong === "ignores") return campaigns.find((one) => !isAsked(one)) ?? {};
  return campaigns.find(isAsked);
}

/** What a survey answers, in part where it is a list. */
export function resultsOf(
  text: string | undefined,
  request: number,
  wrong: WrongAnswer | undefined,
): string | null {
  if (text === undefined || wrong?.wrong !== "short") return text ?? null;
  const data = JSON.parse(text) as unknown;
  return Array.isArray(data) ? JSON.stringify(some(data, request)) : text;
}
