import type { Field } from "../../resources/fields.js";
import type { Resource } from "../../resources/resource.js";
import { isObject, type Json, type JsonObject } from "../../util/json-value.js";
import { jsonType } from "./column-values.js";
import type { ReportIssue } from "./schema-issues.js";

/** Limits the number of reports, because the API may send any number of new attributes. */
const maxReportedAttributes = 100;

/**
 * Reports attributes that have neither a column nor a child table, at any depth in a record. Also reports values that
 * should be objects but are not. The API can add attributes at any time (API document, "Versioning" 2). Resources
 * without documented fields are not checked.
 */
export class AttributeWatch {
  readonly #root: KnownObject | null;
  #reported = 0;

  constructor(
    private readonly resource: Resource,
    private readonly report: ReportIssue,
  ) {
    this.#root = resource.discoversColumns ? null : describeObject(resource.fields, "", false);
  }

  check(record: JsonObject): void {
    if (this.#root) this.#checkMembers(record, this.#root);
  }

  #checkMembers(value: JsonObject, known: KnownObject): void {
    for (const member in value) {
      const below = known.members.get(member);
      if (below === null) continue;
      if (below !== undefined) this.#checkValue(value[member] ?? null, below);
      else this.#reportAttribute(member, known);
    }
  }

  #checkValue(value: Json, known: KnownObject): void {
    if (known.isList) {
      // The row builder reports lists and list items that have the wrong type.
      if (Array.isArray(value)) for (const item of value) if (isObject(item)) this.#checkMembers(item, known);
    } else if (isObject(value)) this.#checkMembers(value, known);
    else if (value !== null)
      this.report({ kind: "type", table: this.resource.table, column: known.path, found: jsonType(value) });
  }

  #reportAttribute(member: string, known: KnownObject): void {
    if (this.#reported >= maxReportedAttributes) return;
    this.#reported += 1;
    known.members.set(member, null);
    const path = known.path === "" ? member : `${known.path}.${member}`;
    this.report({ kind: "attribute", table: this.resource.table, path });
  }
}

/** The known fields of an object, or of the objects in a list. Fields that map to null can have any value. */
interface KnownObject {
  /** The dotted path within the record, used in messages. */
  path: string;
  isList: boolean;
  members: Map<string, KnownObject | null>;
}

function describeObject(fields: readonly Field[], path: string, isList: boolean): KnownObject {
  const recordFields = fields.filter((field) => field.kind !== "scalar" || field.from === "record");
  const members = recordFields.map((field): [string, KnownObject | null] => {
    const isUnchecked = field.kind === "scalar" || (field.kind === "list" && field.discoversColumns);
    if (isUnchecked) return [field.name, null];
    const fieldPath = path === "" ? field.name : `${path}.${field.name}`;
    return [field.name, describeObject(field.fields, fieldPath, field.kind === "list")];
  });
  return { path, isList, members: new Map(members) };
}
