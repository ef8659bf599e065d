import type { Brand } from "../../src/sandbox/brand.js";
import { type ApiVariants, formatDate } from "../sandbox/api-variants.js";
import { dateMember, type Fields, keyOf, recordsOf, secondOf, type TestedList } from "./model.js";

/** A version of a record in the API's data. Times are in milliseconds. */
export interface Version {
  from: number;
  /** The time at which the next version replaces this one. */
  until: number;
  /** The list item's JSON; null if this version is a removal. */
  json: string | null;
  /** The record with exact dates and details. For a removal, the last version before the removal. */
  record: Fields;
  /** The record's date, truncated to the second; NaN if the record has no date. */
  second: number;
  /** The number of list responses that the API had sent before this version appeared. */
  responsesBefore: number;
}

export interface VersionHistory {
  versions: ReadonlyMap<string, readonly Version[]>;
  /** The times of all changes, in ascending order. */
  changes: readonly number[];
  /** Adds a version for each new, changed or removed record. Must be called after every event. */
  observe(now: number, responsesBefore: number): void;
  /** Returns the versions that the API listed at a given time. */
  at(instant: number): Version[];
  /** Returns the last version of each removed record. */
  removedRecords(): Fields[];
}

export function createVersionHistory(
  brand: Brand,
  listName: TestedList,
  shows: ApiVariants["datePrecision"],
): VersionHistory {
  const versions = new Map<string, Version[]>();
  const changes: number[] = [];

  function turn(key: string, record: Fields, isThere: boolean, now: number, responsesBefore: number): void {
    const list = versions.get(key) ?? [];
    const last = list.at(-1);
    if (last && last.record === record && (last.json !== null) === isThere) return;
    if (last) last.until = now;
    if (changes.at(-1) !== now) changes.push(now);
    const json = isThere ? JSON.stringify(listedForm(listName, record, shows)) : null;
    list.push({
      from: now,
      until: Number.POSITIVE_INFINITY,
      json,
      record,
      second: secondOf(listName, record),
      responsesBefore,
    });
    versions.set(key, list);
  }

  const versionHistory: VersionHistory = {
    versions,
    changes,
    observe(now, responsesBefore) {
      const present = new Set<string>();
      for (const record of recordsOf(brand, listName)) {
        const key = keyOf(listName, record);
        present.add(key);
        turn(key, record, true, now, responsesBefore);
      }
      for (const [key, list] of versions) {
        const last = list.at(-1);
        if (last && !present.has(key)) turn(key, last.record, false, now, responsesBefore);
      }
    },
    at: (instant) =>
      [...versions.values()].flatMap(
        (list) =>
          list.find(({ from, until, json }) => from <= instant && instant < until && json !== null) ?? [],
      ),
    removedRecords: () =>
      [...versions.values()].flatMap((list): Fields[] => {
        const last = list.at(-1);
        return last?.json === null ? [last.record] : [];
      }),
  };
  versionHistory.observe(Number.NEGATIVE_INFINITY, 0);
  return versionHistory;
}

/** Returns a record's list item: the record without details, and with its date in the API variant's precision. */
function listedForm(listName: TestedList, record: Fields, shows: ApiVariants["datePrecision"]): Fields {
  const { deliverables, assignments, ...listed } = record;
  if (listName === "opportunities") return listed;
  const member = dateMember(listName);
  const date = member === null ? null : record[member];
  if (member === null || typeof date !== "string") return record;
  return { ...record, [member]: formatDate(date, shows) };
}
