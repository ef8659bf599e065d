import type { HeldRecord, Recognise, Resource } from "../resources/types.js";
import type { Mirror } from "./mirror.js";

/**
 * A list that is read again is mostly the list that was read before, in its order: the next record is likely to be
 * the one that was put into the mirror next, and to have the same text. Finding that out costs a fraction of what
 * parsing and looking for its key do.
 */
export interface Recognition {
  recognise: Recognise;
  /** A record has changed: what was recognised as it before is looked at anew. */
  forget(id: number): void;
  isStill(held: HeldRecord): boolean;
}

/** As many texts in a row that are unknown, and only one in so many is tried: what is read now is new. */
const patience = 100;
const leadingId = /^\{"id":"([^"\\]+)"/;
const unchanged =
  "json = ? AND removed_at IS NULL AND context IS NULL AND list_json IS NULL AND detailed_at IS NULL";

/** @returns undefined where a record's key takes more than its text, or nothing is there that could be recognised */
export function openRecognition({ db }: Mirror, resource: Resource): Recognition | undefined {
  const { key, name, pagination, strategy } = resource;
  if (pagination === "unknown" || key.length === 0 || strategy.kind === "detail") return undefined;
  if (db.prepare("SELECT 1 FROM records WHERE resource = ?").get(name) === undefined) return undefined;
  const at = db
    .prepare(`SELECT dated_at FROM records WHERE record_id = ? AND resource = ? AND ${unchanged}`)
    .pluck();
  const find = db
    .prepare(`SELECT record_id, dated_at FROM records WHERE resource = ? AND key = ? AND ${unchanged}`)
    .raw();
  const changed = new Set<number>();
  const isKeyedById = key.length === 1 && key[0] === "id";
  let next = 0;
  let misses = 0;

  function byPlace(json: string): HeldRecord | undefined {
    const dated = at.get(next, name, json) as number | null | undefined;
    return dated === undefined ? undefined : { id: next, dated };
  }

  /** The first member is only a guess at the key; what has that key and this text is the record all the same. */
  function byKey(json: string): HeldRecord | undefined {
    const id = isKeyedById ? leadingId.exec(json)?.[1] : undefined;
    const found = id && (find.get(name, id, json) as [number, number | null] | undefined);
    return found ? { id: found[0], dated: found[1] } : undefined;
  }

  return {
    recognise(json) {
      if (misses > patience && misses % patience !== 0) {
        misses += 1;
        return undefined;
      }
      const held = byPlace(json) ?? byKey(json);
      misses = held ? 0 : misses + 1;
      if (held) next = held.id + 1;
      return held;
    },
    forget: (id) => void changed.add(id),
    isStill: ({ id }) => !changed.has(id),
  };
}
