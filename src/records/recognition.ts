import type { Mirror } from "../mirror/index.js";
import type { HeldRecord, Recognise, Resource } from "../resources/types.js";

/**
 * A list that is read again is mostly the list that was read before, in its order: the next record is likely to be
 * the one that was put into the mirror next, and to have the same text. Finding that out costs a fraction of what
 * parsing it and looking for its key do.
 */
export interface Recognition {
  recognise: Recognise;
  /** A record is about to change: what was recognised as it before is to be looked at anew. */
  forget(id: number): void;
  isStill(held: HeldRecord): boolean;
}

/** After so many unknown texts in a row only one in so many is tried: what is read now is new. */
const patience = 100;

/** @returns undefined where a record's key is not one member of it, or the mirror holds more of it than its text */
export function openRecognition({ db }: Mirror, resource: Resource): Recognition | undefined {
  const { key, name, pagination, strategy } = resource;
  const [member = "", ...others] = key;
  const isOneMember = /^\w+$/.test(member) && others.length === 0;
  if (!isOneMember || pagination === "unknown" || strategy.kind === "details") return undefined;
  const leadingKey = new RegExp(`^\\{"${member}":"([^"\\\\]+)"`);
  const isSame = "json = ? AND removed_at IS NULL AND context IS NULL AND list_json IS NULL";
  const atPlace = db
    .prepare(`SELECT dated_at FROM records WHERE record_id = ? AND resource = ? AND ${isSame}`)
    .pluck();
  const withKey = db
    .prepare(`SELECT record_id, dated_at FROM records WHERE resource = ? AND key = ? AND ${isSame}`)
    .raw();
  const changed = new Set<number>();
  let next = 0;
  let misses = 0;
  let last: { json: string; held: HeldRecord } | undefined;

  function byPlace(json: string): HeldRecord | undefined {
    const dated = atPlace.get(next, name, json) as number | null | undefined;
    return dated === undefined ? undefined : { id: next, dated };
  }

  /** The first member is only a guess at the key: a record that has it and this very text is the one. */
  function byKey(json: string): HeldRecord | undefined {
    const id = leadingKey.exec(json)?.[1];
    const found = id && (withKey.get(name, id, json) as [number, number | null] | undefined);
    return found ? { id: found[0], dated: found[1] } : undefined;
  }

  return {
    recognise(json) {
      if (misses > patience && misses % patience !== 0) {
        misses += 1;
        return undefined;
      }
      // The first record of an answer may be the last one of that before.
      const held = last?.json === json ? last.held : (byPlace(json) ?? byKey(json));
      misses = held ? 0 : misses + 1;
      if (!held) return undefined;
      next = held.id + 1;
      last = { json, held };
      return held;
    },
    forget: (id) => void changed.add(id),
    isStill: ({ id }) => !changed.has(id),
  };
}
