import type { JsonObject } from "../../src/resources/types.js";
import { textOf } from "../support/fake/lists.js";
import type { FakeApi } from "../support/fake-api.js";
import { keptAt, keyOf, type Watched } from "./brand.js";

/** A record as the API had it for a while: `from` up to, not including, `until`; milliseconds. */
export interface Version {
  from: number;
  until: number;
  /** As the API sends it; null while it is not there. */
  json: string | null;
  /** The record as it is kept; of one that is gone, as it was last. */
  record: JsonObject;
  /** The instant that the API filters by, in microseconds; NaN without one. */
  keptAt: number;
  /** How many of the API's lists had been answered when this began. */
  answered: number;
}

/** All that the API ever had, and when. */
export interface Truth {
  versions: ReadonlyMap<string, readonly Version[]>;
  /** When anything changed: milliseconds, ascending. */
  changes: readonly number[];
  /** Looks at the API's records and dates what is new, different or gone. Call it after every event. */
  observe(now: number, answered: number): void;
  /** The API's records as they were at an instant. */
  at(instant: number): Map<string, Version>;
  /** The records that have left and not returned, as they were last. */
  gone(): JsonObject[];
}

export function createTruth(api: FakeApi, watched: Watched): Truth {
  const versions = new Map<string, Version[]>();
  const changes: number[] = [];
  const texts = new WeakMap<JsonObject, string>();

  function shownText(record: JsonObject): string {
    const known = texts.get(record);
    const text = known ?? textOf(watched, { record, value: record }, api.behaviour.shows);
    texts.set(record, text);
    return text;
  }

  function turn(key: string, json: string | null, record: JsonObject, now: number, answered: number): void {
    const list = versions.get(key) ?? [];
    const last = list.at(-1);
    const kept = keptAt(watched, record);
    const isSame = json === null || JSON.stringify(last?.record) === JSON.stringify(record);
    if (last?.json === json && Object.is(last.keptAt, kept) && isSame) return;
    if (last) last.until = now;
    if (changes.at(-1) !== now) changes.push(now);
    list.push({
      from: now,
      until: Number.POSITIVE_INFINITY,
      json,
      record,
      keptAt: kept,
      answered,
    });
    versions.set(key, list);
  }

  const truth: Truth = {
    versions,
    changes,
    observe(now, answered) {
      const records = api.records[watched] as JsonObject[];
      const present = new Set<string>();
      for (const record of records) {
        const key = keyOf(watched, record);
        present.add(key);
        turn(key, shownText(record), record, now, answered);
      }
      for (const [key, list] of versions) {
        const last = list.at(-1);
        if (last && last.json !== null && !present.has(key)) turn(key, null, last.record, now, answered);
      }
    },
    at(instant) {
      const then = new Map<string, Version>();
      for (const [key, list] of versions) {
        const version = list.find(({ from, until }) => from <= instant && instant < until);
        if (version && version.json !== null) then.set(key, version);
      }
      return then;
    },
    gone() {
      const newest = [...versions.values()].flatMap((list) => list.at(-1) ?? []);
      return newest.filter(({ json }) => json === null).map(({ record }) => record);
    },
  };
  truth.observe(Number.NEGATIVE_INFINITY, 0);
  return truth;
}
