/**
 * The vocabulary in which resources are declared: pure data beside the API document's own words.
 * A resource is a tree of fields; its tables, columns, help and README rows follow from it.
 */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

/** Query parameters of a request; `undefined` leaves one out. */
export type Query = Record<string, string | number | undefined>;

/** What a scalar column holds: `timestamp` and `date` are text, `json` is an array or open object as text. */
export type ScalarType = "text" | "timestamp" | "date" | "integer" | "number" | "boolean" | "json";

export interface ScalarField {
  kind: "scalar";
  name: string;
  type: ScalarType;
  about: string;
  /** Where the value comes from: the record, or what was asked for (the month of an answer, say). */
  from: "record" | "context";
  /** Whether it is a URL whose query may be another in each answer, and mean the same file. */
  signed?: true;
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
  /** Whether the items have no id of their own, so that their 0-based `position` is part of the key. */
  position: boolean;
  fields: readonly Field[];
  /** Whether scalars that this version does not know become columns when they are first seen. */
  open: boolean;
}

export type Field = ScalarField | ObjectField | ListField;

/**
 * How a resource is read. A closed set: each is one file in sync/strategies.
 * - dated:    newest first, filtered by a date: a trailing window is read again (orders, content)
 * - full:     every page, every time
 * - details:  every page, then one request for each record that needs it
 * - monthly:  one answer a calendar month
 * - snapshot: a ranking as it stands, kept once a day
 */
export type Strategy = Dated | { kind: "full" } | Details | Monthly | { kind: "snapshot" };

export interface Dated {
  kind: "dated";
  /** The member that holds the date. */
  date: string;
  /** The API's parameters for a range, and whether the instant of `until` belongs to it; that of `from` does. */
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
  /** Filters that are only ever counted. */
  counts?: readonly Count[];
  figures?: DailyFigures;
  /** Filters that make a run partial. */
  filters?: readonly Filter[];
}

export interface Details {
  kind: "details";
  /** The path of one record's details, by the record's key. */
  path(key: string): string;
  /** Whether the details can have changed although the list's record has not. */
  open(record: JsonObject): boolean;
  /** Where details go: `merge` makes them the record; a resource keeps them beside it, with `parent` in its context. */
  into: "merge" | { resource: Resource; parent: string };
}

export interface Monthly {
  kind: "monthly";
  figures: DailyFigures;
}

/** A filter of the API, and the member that is true in the records that it should select. */
export interface Count {
  name: string;
  query: Query;
  member: string;
}

/**
 * Figures by day that move when a record of the day does: one request tells which old days to read again. Their
 * definitions are not stated, so they are compared with themselves over time, and never taken as truth.
 */
export interface DailyFigures {
  path: string;
  query: Query;
  /** Where the answer holds its points, a point's day, and the figures to compare. */
  points: string;
  day: string;
  figures: readonly string[];
}

/** A filter that makes a run partial: the API's parameter, and how many values one request takes. */
export interface Filter {
  parameter: string;
  atMost: number;
  /** The values that the document lists, where it does. */
  values?: readonly string[];
}

export interface Resource<How extends Strategy = Strategy> {
  /** The name on the command line. */
  name: string;
  about: string;
  /** The section of the API document's "Endpoints". */
  section: string;
  path: string;
  scope: string;
  /** The plan feature that the data needs, if the document names one. */
  plan: string | null;
  /** `documented`: pages of 100. `unknown`: asked bare first, paged only when `pagination` comes back. */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The paths of the members that identify a record, dots between (`host.id`). A record that lacks them is
   * keyed by its position in the answer; so is every record where the list is empty.
   */
  key: readonly string[];
  /** Parameters that every request of this resource carries. */
  query: Query;
  /** The main table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** Whether scalars that this version does not know become columns when they are first seen. */
  open: boolean;
  /** The column of the main table that `--since` and `--until` filter by, if any. */
  date: string | null;
  /** Whether what a record was before is kept: in `changes`, and for `--as-of`. */
  history: boolean;
  /** Indexes of the main table, for people's queries. */
  indexes: readonly (readonly string[])[];
}

/** Whether `--since` and `--until` say something of how a resource is read. */
export function takesDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** The resource whose records are a resource's details, kept beside it; null where there is none. */
export function detailsOf({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" && strategy.into !== "merge" ? strategy.into.resource : null;
}

/** Whether a record is made of what the list says, and of its details. */
export function isMerged({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.into === "merge";
}

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

/** A URL whose query string is only a signature: another one is no change of the record. */
export function signedUrl(name: string, about = ""): ScalarField {
  return { ...text(name, about), signed: true };
}

export function object(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: true, fields };
}

/** A nested object that the row is all about: its fields become columns under their own names. */
export function unprefixed(name: string, fields: readonly Field[]): ObjectField {
  return { kind: "object", name, prefixed: false, fields };
}

export function list(
  name: string,
  options: Pick<ListField, "table" | "about" | "parent" | "fields"> & { position?: boolean; open?: boolean },
): ListField {
  return { kind: "list", name, position: false, open: false, ...options };
}

/** A column that says what was asked for; the API's record does not carry it. */
export function context(name: string, type: ScalarType, about: string): ScalarField {
  return { kind: "scalar", name, type, about, from: "context" };
}
