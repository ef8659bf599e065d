/**
 * The types of values. `timestamp` and `date` are stored as text; `json` is an array or an object, stored as JSON text.
 */
export type ScalarType = "text" | "timestamp" | "date" | "integer" | "number" | "boolean" | "json";

export interface ScalarField {
  kind: "scalar";
  name: string;
  type: ScalarType;
  about: string;
  /** The source of the value: the record, or a parameter of the request, such as the month of a response. */
  from: "record" | "context";
  /** True for an amount of money, which spreadsheets display with two decimals. */
  isAmount?: true | undefined;
  /** True for a URL with a signature in its query, which differs between responses for the same file. */
  isSignedUrl?: true;
}

/** A nested object, whose fields become columns. If `prefixed`, their names start with the name of the object. */
export interface ObjectField {
  kind: "object";
  name: string;
  prefixed: boolean;
  fields: readonly Field[];
}

/** An array of objects, which become the rows of a child table. */
export interface ListField {
  kind: "list";
  name: string;
  table: string;
  about: string;
  /** The columns that identify the parent row, and the columns of the main table that they are copied from. */
  parent: readonly { column: string; from: string }[];
  /** True if items have no ID and are identified by their 0-based `position`. */
  position: boolean;
  fields: readonly Field[];
  /** True if undocumented scalars get a column when they first appear. */
  discoversColumns: boolean;
}

export type Field = ScalarField | ObjectField | ListField;

const scalar =
  (type: ScalarType) =>
  (name: string, about = ""): ScalarField => ({ kind: "scalar", name, type, about, from: "record" });

export const text = scalar("text");
export const timestamp = scalar("timestamp");
export const date = scalar("date");
export const integer = scalar("integer");
export const number = scalar("number");
export const boolean = scalar("boolean");
export const json = scalar("json");

export function amount(name: string, about = ""): ScalarField {
  return { ...number(name, about), isAmount: true };
}

/** Declares a URL with a signature in its query. A different query alone does not count as a change of the record. */
export function signedUrl(name: string, about = ""): ScalarField {
  return { ...text(name, about), isSignedUrl: true };
}

export function object(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: true, fields };
}

/** Declares a nested object whose fields become columns without a prefix. */
export function inlinedObject(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: false, fields };
}

export function list(
  name: string,
  options: Pick<ListField, "table" | "about" | "parent" | "fields"> & {
    position?: boolean;
    discoversColumns?: boolean;
  },
): ListField {
  return { kind: "list", name, position: false, discoversColumns: false, ...options };
}

/** Declares a column for a parameter of the request that the response does not repeat. */
export function requestParameter(name: string, type: ScalarType, about: string): ScalarField {
  return { kind: "scalar", name, type, about, from: "context" };
}
