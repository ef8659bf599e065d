/** The fields of a record, from which its tables and their columns follow. */

/** The type of a scalar column: `timestamp` and `date` are text, `json` is an array or open object as text. */
export type ScalarType = "text" | "timestamp" | "date" | "integer" | "number" | "boolean" | "json";

export interface ScalarField {
  kind: "scalar";
  name: string;
  type: ScalarType;
  about: string;
  /** The source of the value: the record, or the request (the month of an answer, say). */
  from: "record" | "context";
  /** True if it is an amount of money, which spreadsheets show with two decimals. */
  isAmount?: true | undefined;
  /** True if it is a URL whose query differs between answers although the file is the same. */
  isSignedUrl?: true;
}

/** A nested object: its fields become columns, prefixed with its name unless the row is all about it. */
export interface ObjectField {
  kind: "object";
  name: string;
  prefixed: boolean;
  fields: readonly Field[];
}

/** An array of objects: a child table. */
export interface ListField {
  kind: "list";
  name: string;
  table: string;
  about: string;
  /** The child's columns that name its parent, and the main table's columns that they repeat. */
  parent: readonly { column: string; from: string }[];
  /** True if the items have no id: their 0-based `position` is part of the key. */
  position: boolean;
  fields: readonly Field[];
  /** True if scalars that this version does not know become columns when they are first seen. */
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

/** An amount of money. */
export function amount(name: string, about = ""): ScalarField {
  return { ...number(name, about), isAmount: true };
}

/** A URL whose query string is only a signature: if only that differs, the record has not changed. */
export function signedUrl(name: string, about = ""): ScalarField {
  return { ...text(name, about), isSignedUrl: true };
}

export function object(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: true, fields };
}

/** A nested object that the row is all about: its fields become columns under their own names. */
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

/** A column from the request, because the API's record does not carry its value. */
export function requestParameter(name: string, type: ScalarType, about: string): ScalarField {
  return { kind: "scalar", name, type, about, from: "context" };
}
