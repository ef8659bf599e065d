/** The types `timestamp` and `date` are stored as text. `json` is an array or an object, stored as JSON text. */
export type ScalarType = "text" | "timestamp" | "date" | "integer" | "number" | "boolean" | "json";

export interface ScalarField {
  kind: "scalar";
  name: string;
  type: ScalarType;
  about: string;
  /** Where the value comes from: the record, or a request parameter such as the month. */
  from: "record" | "context";
  /** True for an amount of money, which spreadsheets show with two decimal places. */
  isAmount?: true | undefined;
  /** True for a URL whose query string contains a signature that differs between responses. */
  isSignedUrl?: true;
}

/** A nested object whose fields become columns. */
interface ObjectField {
  kind: "object";
  name: string;
  /** True if the column names start with the object's name. */
  prefixed: boolean;
  fields: readonly Field[];
}

/** An array of objects that become the rows of a child table. */
export interface ListField {
  kind: "list";
  name: string;
  table: string;
  about: string;
  /** The columns that identify the parent row, and the main table's columns that they are copied from. */
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

/** Declares a signed URL. A record does not count as changed if only the URL's query string differs. */
export function signedUrl(name: string, about = ""): ScalarField {
  return { ...text(name, about), isSignedUrl: true };
}

export function object(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: true, fields };
}

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

/** Declares a column for a request parameter that the response does not repeat. */
export function requestParameter(name: string, type: ScalarType, about: string): ScalarField {
  return { kind: "scalar", name, type, about, from: "context" };
}
