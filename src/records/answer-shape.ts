import { forgetInfo, type Mirror, readInfo, writeInfo } from "../mirror/index.js";
import { hasId } from "./keys.js";

/**
 * What an answer of an endpoint without a documented shape was: one object, a list without ids, or a list with them.
 * Where it falls back from one that says more, something else answers than before (a maintenance notice, say), and
 * that says nothing of the records that are mirrored.
 */
const shapes = ["one object", "a list without ids", "a list of records with ids"] as const;
export type Shape = (typeof shapes)[number];

/** The shape of an answer; null of an empty list, which could be either. */
export function shapeOf(keys: readonly string[], isList: boolean): Shape | null {
  if (!isList) return "one object";
  if (keys.length === 0) return null;
  return keys.some(hasId) ? "a list of records with ids" : "a list without ids";
}

/**
 * The shape of what was last read at a path; null where nothing was. Where it was not remembered, what is mirrored
 * tells it, but for one record: that can have come alone or in a list.
 */
export function shapeBefore(mirror: Mirror, path: string, resource: string, keyPrefix = ""): Shape | null {
  const found = readInfo(mirror, infoName(path));
  const known = shapes.find((shape) => shape === found);
  if (known) return known;
  const keys = mirror.db
    .prepare("SELECT key FROM records WHERE resource = ? AND removed_at IS NULL AND substr(key, 1, ?) = ?")
    .pluck()
    .all(resource, keyPrefix.length, keyPrefix) as string[];
  return keys.length > 1
    ? shapeOf(
        keys.map((key) => key.slice(keyPrefix.length)),
        true,
      )
    : null;
}

/**
 * An empty list says nothing of it.
 * @param perPage how many a page has; null: there are no pages; undefined: as before
 */
export function rememberShape(
  mirror: Mirror,
  path: string,
  shape: Shape | null,
  perPage: number | null | undefined,
): void {
  if (shape === null) return;
  writeInfo(mirror, infoName(path), shape);
  if (perPage === null) forgetInfo(mirror, pagesName(path));
  else if (perPage !== undefined) writeInfo(mirror, pagesName(path), String(perPage));
}

/** How many a page had of what was last read at a path; null where it had no pages. */
export function perPageBefore(mirror: Mirror, path: string): number | null {
  const found = readInfo(mirror, pagesName(path));
  return found === null ? null : Number(found);
}

/** Whether a shape says less than the one before: nothing that was mirrored is gone because of it. */
export function saysLess(shape: Shape | null, before: Shape | null): boolean {
  return shape !== null && before !== null && shapes.indexOf(shape) < shapes.indexOf(before);
}

function pagesName(path: string): string {
  return `pages:${path}`;
}

/** Mirrors have it under this name since before it was called a shape. */
function infoName(path: string): string {
  return `form:${path}`;
}
