import type { Field, ListField, ScalarField, ScalarType } from "./fields.js";
import type { Resource } from "./resource.js";

/**
 * A column of a table, view or query result. `ShapeColumn` also describes where the API provides the value, and
 * `AddedColumn` (`store/table-sql.ts`) how the mirror computes it.
 */
export interface Column {
  name: string;
  /** `any` means that the values can have different types, as in a query result. */
  type: ScalarType | "any";
  about: string;
  isAmount?: true | undefined;
  /**
   * True for a field that the API does not document. The column has no declared type, so each value keeps its own type.
   */
  isDiscovered?: true;
  /** True if the column is exported only when `--columns` names it. */
  isOmittedByDefault?: true;
}

/** A column whose values come from the API. */
export interface ShapeColumn extends Column {
  type: ScalarType;
  source: ScalarField["source"] | "parent" | "position";
  /**
   * The path of the value in the record, the list item or the request. For `parent`, it is the name of a column in the
   * main table.
   */
  path: readonly string[];
}

interface NestedList {
  /** The path of the list in the record. */
  path: readonly string[];
  field: ListField;
}

/** A table as declared by a resource, without the columns that are discovered later or added to every table. */
export interface TableShape {
  name: string;
  about: string;
  resource: Resource;
  /** The list whose items become rows; null for the main table. */
  list: NestedList | null;
  columns: readonly ShapeColumn[];
  discoversColumns: boolean;
  indexes: readonly (readonly string[])[];
}

/** Caches the shapes of each resource, because callers compare them by identity. */
const shapes = new WeakMap<Resource, readonly TableShape[]>();

/** Returns the main table first, followed by a child table for each list. */
export function listTableShapes(resource: Resource): readonly TableShape[] {
  const cached = shapes.get(resource);
  if (cached) return cached;
  const main: TableShape = {
    name: resource.table,
    about: resource.tableAbout,
    resource,
    list: null,
    columns: createColumns(resource.fields, []),
    discoversColumns: resource.discoversColumns,
    indexes: resource.indexes,
  };
  const tables = [main, ...findLists(resource.fields, []).map((list) => createChildShape(resource, list))];
  shapes.set(resource, tables);
  return tables;
}

/**
 * True if JSON exports contain the table's records as sent by the API. Child rows are only parts of records, and
 * monthly records do not contain their month, so both are exported as columns.
 */
export function exportsRawRecords(shape: TableShape | null): shape is TableShape {
  if (shape === null || shape.list !== null) return false;
  const hasParameters = shape.columns.some((column) => column.source === "parameter");
  return !(hasParameters && listTableShapes(shape.resource).length > 1);
}

function createChildShape(resource: Resource, list: NestedList): TableShape {
  const { field } = list;
  const parents = field.parentKey.map(
    ({ column, mainColumn }): ShapeColumn => ({
      name: column,
      type: "text",
      about: `the parent row in ${resource.table}`,
      source: "parent",
      path: [mainColumn],
    }),
  );
  const position: ShapeColumn[] = field.hasPosition
    ? [
        {
          name: "position",
          type: "integer",
          about: "0-based place in the list",
          source: "position",
          path: [],
        },
      ]
    : [];
  return {
    name: field.table,
    about: field.about,
    resource,
    list,
    columns: [...parents, ...position, ...createColumns(field.fields, [])],
    discoversColumns: field.discoversColumns,
    indexes: parents.slice(0, 1).map((parent) => [parent.name]),
  };
}

function createColumns(fields: readonly Field[], path: readonly string[], prefix = ""): ShapeColumn[] {
  return fields.flatMap((field): ShapeColumn[] => {
    if (field.kind === "list") return [];
    const fieldPath = [...path, field.name];
    const name = `${prefix}${field.name}`;
    if (field.kind === "object")
      return createColumns(field.fields, fieldPath, field.isPrefixed ? `${name}_` : prefix);
    const { type, about, source, isAmount } = field;
    return [{ name, type, about, source, path: fieldPath, isAmount }];
  });
}

function findLists(fields: readonly Field[], path: readonly string[]): NestedList[] {
  return fields.flatMap((field) => {
    if (field.kind === "object") return findLists(field.fields, [...path, field.name]);
    return field.kind === "list" ? [{ path: [...path, field.name], field }] : [];
  });
}
