/** `timestamp` and `date` columns contain text. `json` columns contain an array or an object as JSON text. */
export type ScalarType = "text" | "timestamp" | "date" | "integer" | "number" | "boolean" | "json";

export interface ScalarField {
  kind: "scalar";
  name: string;
  type: ScalarType;
  about: string;
  /** The source of the value: a field of the record, or a request parameter such as the month. */
  source: "record" | "parameter";
  isAmount?: true | undefined;
  /** True for a signed URL, whose query string differs in every response. */
  isSignedUrl?: true;
}

interface ObjectField {
  kind: "object";
  name: string;
  /** True if column names are prefixed with the object's name, as in `host_id`. */
  isPrefixed: boolean;
  fields: readonly Field[];
}

export interface ListField {
  kind: "list";
  name: string;
  table: string;
  about: string;
  /**
   * The child table's columns that identify the parent row, each paired with the main table's column from which it is
   * copied.
   */
  parentKey: readonly { column: string; mainColumn: string }[];
  /** True if items have no ID and are identified by a `position` column, which starts at 0. */
  hasPosition: boolean;
  fields: readonly Field[];
  /** True if an item's undocumented fields become columns when they first appear. */
  discoversColumns: boolean;
}

export type Field = ScalarField | ObjectField | ListField;

const scalar =
  (type: ScalarType) =>
  (name: string, about = ""): ScalarField => ({ kind: "scalar", name, type, about, source: "record" });

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

/** Declares a field that contains a signed URL. Its query string is ignored when a record is checked for changes. */
export function signedUrl(name: string, about = ""): ScalarField {
  return { ...text(name, about), isSignedUrl: true };
}

export function object(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, isPrefixed: true, fields };
}

export function inlinedObject(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, isPrefixed: false, fields };
}

export function list(
  name: string,
  options: Pick<ListField, "table" | "about" | "parentKey" | "fields"> & Partial<ListField>,
): ListField {
  return { kind: "list", name, hasPosition: false, discoversColumns: false, ...options };
}

/** Declares a column for a request parameter whose value the response does not contain. */
export function requestParameter(name: string, type: ScalarType, about: string): ScalarField {
  return { kind: "scalar", name, type, about, source: "parameter" };
}
