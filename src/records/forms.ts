import { readInfo, writeInfo } from "../mirror/info.js";
import type { Mirror } from "../mirror/mirror.js";
import { hasId } from "./keys.js";

/**
 * What an answer of an endpoint without a documented form was: one object, a list without ids, or a list with them.
 * Where it falls back from one that says more, something else answers than before (a maintenance notice, say), and
 * that says nothing of the records that are mirrored.
 */
export const forms = ["one object", "a list without ids", "a list of records with ids"] as const;
export type Form = (typeof forms)[number];

/** The form of an answer; null of an empty list, which could be either. */
export function formOf(keys: readonly string[], isList: boolean): Form | null {
  if (!isList) return "one object";
  if (keys.length === 0) return null;
  return keys.some(hasId) ? "a list of records with ids" : "a list without ids";
}

/**
 * The form of what was last read at a path; null where nothing was. Where it was not remembered, what is mirrored
 * tells it, but for one record: that can have come alone or in a list.
 */
export function formBefore(mirror: Mirror, path: string, resource: string, keyPrefix = ""): Form | null {
  const found = readInfo(mirror, `form:${path}`);
  const known = forms.find((form) => form === found);
  if (known) return known;
  const keys = mirror.db
    .prepare("SELECT key FROM records WHERE resource = ? AND removed_at IS NULL AND substr(key, 1, ?) = ?")
    .pluck()
    .all(resource, keyPrefix.length, keyPrefix) as string[];
  return keys.length > 1
    ? formOf(
        keys.map((key) => key.slice(keyPrefix.length)),
        true,
      )
    : null;
}

export function rememberForm(mirror: Mirror, path: string, form: Form | null): void {
  if (form !== null) writeInfo(mirror, `form:${path}`, form);
}

/** Whether a form says less than the one before: nothing that was mirrored is gone because of it. */
export function saysLess(form: Form | null, before: Form | null): boolean {
  return form !== null && before !== null && forms.indexOf(form) < forms.indexOf(before);
}
