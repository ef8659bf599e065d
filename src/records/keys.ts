import { UnexpectedAnswer } from "../errors.js";
import type { Json, Resource } from "../resources/types.js";
import { valueAt } from "./values.js";

/**
 * Returns a record's key in the mirror: its id as text, or `#` and its place in the answer if it has none.
 * @throws UnexpectedAnswer if a documented record lacks its id, or an id is a number that a double rounds
 */
export function keyOf(resource: Resource, value: Json, position: number): string {
  const parts = pathsOf(resource).map((path) => idAt(resource, value, path));
  if (parts.length > 0 && parts.every((part) => part !== null))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.pagination === "documented" && parts.length > 0)
    throw new UnexpectedAnswer(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the API answered with something that is not its documented shape: report it to the platform",
    });
  return `#${position}`;
}

/** Returns a record's id as text, for addresses; null if it has none, or one that is neither text nor a number. */
export function idText(resource: Resource, value: Json): string | null {
  return idAt(resource, value, pathsOf(resource)[0] ?? ["id"]);
}

function idAt(resource: Resource, value: Json, path: readonly string[]): string | null {
  const id = valueAt(value, path);
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Math.abs(id) > Number.MAX_SAFE_INTEGER)
    throw new UnexpectedAnswer(
      `A record of ${resource.path} has an id of more digits than can be kept exactly.`,
      {
        hint: "an id that large has to come as text: report it to the platform",
      },
    );
  return String(id);
}

/** Keeps a slash inside a part apart from those between parts. */
function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** Returns the paths of a resource's key, split once. */
function pathsOf(resource: Resource): readonly (readonly string[])[] {
  const known = paths.get(resource) ?? resource.key.map((path) => path.split("."));
  paths.set(resource, known);
  return known;
}

const paths = new WeakMap<Resource, readonly (readonly string[])[]>();
