import type { Field, Json, JsonObject, Resource } from "../resources/types.js";

/** What a version knows of an object: each member's own, or null where anything may stand below it. */
interface Known {
  /** The path to it, with a dot behind, for messages. */
  path: string;
  members: Map<string, Known | null>;
}

/** An API that makes up names as it goes would otherwise be listed without end. */
const mostNamed = 100;

/**
 * Tells of members that no column and no child table knows, at any depth, each once (the API document, "Versioning" 2:
 * new attributes can arrive at any time). Silent where the document shows no fields at all.
 * @param tell hears the path, dots between: `line_items.tax`
 */
export function watchMembers(resource: Resource, tell: (path: string) => void): (record: JsonObject) => void {
  if (resource.open) return () => {};
  const root = compile(resource.fields, "");
  let named = 0;

  function look(value: Json, known: Known): void {
    if (Array.isArray(value)) {
      for (const item of value) look(item, known);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    for (const member in value) {
      const below = known.members.get(member);
      if (below === null) continue;
      if (below !== undefined) look(value[member] ?? null, below);
      else if (named < mostNamed) {
        named += 1;
        known.members.set(member, null);
        tell(known.path + member);
      }
    }
  }

  return (record) => look(record, root);
}

function compile(fields: readonly Field[], path: string): Known {
  const own = fields.filter((field) => field.kind !== "scalar" || field.from === "record");
  const members = own.map((field): [string, Known | null] => {
    const anything = field.kind === "scalar" || (field.kind === "list" && field.open);
    return [field.name, anything ? null : compile(field.fields, `${path}${field.name}.`)];
  });
  return { path, members: new Map(members) };
}
