import type { Field } from "../resources/fields.js";
import { isObject, type Json, type JsonObject, type Resource } from "../resources/types.js";
import { type Complain, typeName } from "./values.js";

/** The members of an object that this version knows: each with its own, or null if anything may be below it. */
interface Known {
  /** The path to it, dots between, for messages. */
  path: string;
  isList: boolean;
  members: Map<string, Known | null>;
}

/** An API that makes up names would otherwise be listed without end. */
const mostNamed = 100;

/**
 * Returns a function that complains of members that no column and no child table has, at any depth (the API document,
 * "Versioning" 2: new attributes can arrive at any time), and of other values in place of an object. It is silent if
 * the document shows no fields at all.
 */
export function watchMembers(resource: Resource, complain: Complain): (record: JsonObject) => void {
  if (resource.open) return () => {};
  const { table } = resource;
  const root = compile(resource.fields, "", false);
  let named = 0;

  function look(value: Json, known: Known): void {
    if (known.isList) {
      // Another value in place of a list, or of its item, is noticed when the rows are written.
      if (Array.isArray(value)) for (const item of value) if (isObject(item)) lookInto(item, known);
    } else if (isObject(value)) lookInto(value, known);
    else if (value !== null) complain({ kind: "type", table, column: known.path, found: typeName(value) });
  }

  function lookInto(value: JsonObject, known: Known): void {
    for (const member in value) {
      const below = known.members.get(member);
      if (below === null) continue;
      if (below !== undefined) look(value[member] ?? null, below);
      else if (named < mostNamed) {
        named += 1;
        known.members.set(member, null);
        complain({ kind: "attribute", table, path: known.path === "" ? member : `${known.path}.${member}` });
      }
    }
  }

  return (record) => lookInto(record, root);
}

function compile(fields: readonly Field[], path: string, isList: boolean): Known {
  const own = fields.filter((field) => field.kind !== "scalar" || field.from === "record");
  const members = own.map((field): [string, Known | null] => {
    const anything = field.kind === "scalar" || (field.kind === "list" && field.open);
    if (anything) return [field.name, null];
    const at = path === "" ? field.name : `${path}.${field.name}`;
    return [field.name, compile(field.fields, at, field.kind === "list")];
  });
  return { path, isList, members: new Map(members) };
}
