import type { Field, ListField, ScalarField, ScalarType } from "./fields.js";
import type { Resource } from "./resource.js";

export interface Column {
  name: string;
  type: ScalarType;
  about: string;
  from: ScalarField["from"] | "parent" | "position";
  /** The value's path in the record, the list item or the request. For `parent`, this is a column of the main table. */
  path: readonly string[];
  isAmount?: true | undefined;
}

export interface TableShape {
  name: string;
  about: string;
  resource: Resource;
  /** The list whose items become rows; null for the main table. */
  list: { path: readonly string[]; field: ListField } | null;
  columns: readonly Column[];
  discoversColumns: boolean;
  indexes: readonly (readonly string[])[];
}

/** Returns the main table first, followed by a child table for each list. */
export function tablesOf(resource: Resource): readonly TableShape[] {
  const cached = shapes.get(resource);
  if (cached) return cached;
  const main: TableShape = {
    name: resource.table,
    about: resource.tableAbout,
    resource,
    list: null,
    columns: columnsOf(resource.fields, []),
    discoversColumns: resource.discoversColumns,
    indexes: resource.indexes,
  };
  const tables = [main, ...listsOf(resource.fields, []).map((list) => childTable(resource, list))];
  shapes.set(resource, tables);
  return tables;
}

/**
 * True if JSON exports contain the table's records as sent by the API. Child rows are only parts of records, and
 * monthly records do not contain their month, so both are exported as columns.
 */
export function exportsRawRecords(shape: TableShape | null): shape is TableShape {
  if (shape === null || shape.list !== null) return false;
  const hasParameters = shape.columns.some((column: Column) => column.from === "context");
  return !(hasParameters && tablesOf(shape.resource).length > 1);
}

const shapes = new WeakMap<Resource, readonly TableShape[]>();

function childTable(resource: Resource, list: { path: readonly string[]; field: ListField }): TableShape {
  const { field } = list;
  const parents = field.parent.map(
    ({ column, from }): Column => ({
      name: column,
      type: "text",
      about: `the parent row in ${resource.table}`,
      from: "parent",
      path: [from],
    }),
  );
  const position: Column[] = field.position
    ? [{ name: "position", type: "integer", about: "0-based place in the list", from: "position", path: [] }]
    : [];
  return {
    name: field.table,
    about: field.about,
    resource,
    list,
    columns: [...parents, ...position, ...columnsOf(field.fields, [])],
    discoversColumns: field.discoversColumns,
    indexes: parents.slice(0, 1).map((parent) => [parent.name]),
  };
}

function columnsOf(fields: readonly Field[], path: readonly string[], prefix = ""): Column[] {
  return fields.flatMap((field): Column[] => {
    if (field.kind === "list") return [];
    const at = [...path, field.name];
    const name = `${prefix}${field.name}`;
    if (field.kind === "object") return columnsOf(field.fields, at, field.prefixed ? `${name}_` : prefix);
    const { type, about, from, isAmount } = field;
    return [{ name, type, about, from, path: at, isAmount }];
  });
}

function listsOf(
  fields: readonly Field[],
  path: readonly string[],
): { path: readonly string[]; field: ListField }[] {
  return fields.flatMap((field) => {
    if (field.kind === "object") return listsOf(field.fields, [...path, field.name]);
    return field.kind === "list" ? [{ path: [...path, field.name], field }] : [];
  });
}
