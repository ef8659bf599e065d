import type { Brand } from "../../src/sandbox/brand.js";
import { type ApiVariants, formatDate } from "../support/api-variants.js";
import { dateMember, type Fields, keyOf, recordsOf, secondOf, type Watched } from "./brand.js";

/** A record as the API had it for a while: `from` up to, not including, `until`; milliseconds. */
export interface Version {
  from: number;
  until: number;
  /** As the API's list shows it; null while it is not there. */
  json: string | null;
  /** The record as it is kept; of one that is gone, as it was last. */
  record: Fields;
  /** The second of its date, in milliseconds; NaN without one. */
  second: number;
  /** How many answers of the list there had been when this began. */
  answered: number;
}

/** All that the API ever had, and when. */
export interface Truth {
  versions: ReadonlyMap<string, readonly Version[]>;
  /** When anything changed: milliseconds, rising. */
  changes: readonly number[];
  /** Looks at the API's records, and dates what is new, different or gone. Call it after every happening. */
  observe(now: number, answered: number): void;
  /** The records that the API had at an instant. */
  at(instant: number): Version[];
  /** The records that have left and not returned, as they were last. */
  gone(): Fields[];
}

export function createTruth(brand: Brand, watched: Watched, shows: ApiVariants["datePrecision"]): Truth {
  const versions = new Map<string, Version[]>();
  const changes: number[] = [];

  function turn(key: string, record: Fields, isThere: boolean, now: number, answered: number): void {
    const list = versions.get(key) ?? [];
    const last = list.at(-1);
    if (last && last.record === record && (last.json !== null) === isThere) return;
    if (last) last.until = now;
    if (changes.at(-1) !== now) changes.push(now);
    const json = isThere ? JSON.stringify(shownForm(watched, record, shows)) : null;
    list.push({
      from: now,
      until: Number.POSITIVE_INFINITY,
      json,
      record,
      second: secondOf(watched, record),
      answered,
    });
    versions.set(key, list);
  }

  const truth: Truth = {
    versions,
    changes,
    observe(now, answered) {
      const present = new Set<string>();
      for (const record of recordsOf(brand, watched)) {
        const key = keyOf(watched, record);
        present.add(key);
        turn(key, record, true, now, answered);
      }
      for (const [key, list] of versions) {
        const last = list.at(-1);
        if (last && !present.has(key)) turn(key, last.record, false, now, answered);
      }
    },
    at: (instant) =>
      [...versions.values()].flatMap(
        (list) =>
          list.find(({ from, until, json }) => from <= instant && instant < until && json !== null) ?? [],
      ),
    gone: () =>
      [...versions.values()].flatMap((list): Fields[] => {
        const last = list.at(-1);
        return last?.json === null ? [last.record] : [];
      }),
  };
  truth.observe(Number.NEGATIVE_INFINITY, 0);
  return truth;
}

/** Returns a record in the form in which the API's list shows it. */
function shownForm(watched: Watched, record: Fields, shows: ApiVariants["datePrecision"]): Fields {
  const { deliverables, assignments, ...listed } = record;
  if (watched === "opportunities") return listed;
  const member = dateMember(watched);
  const date = member === null ? null : record[member];
  if (member === null || typeof date !== "string") return record;
  return { ...record, [member]: formatDate(date, shows) };
}
