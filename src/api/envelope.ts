import { AnswerRefused, UnexpectedAnswer } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { ApiRecord, Json, JsonObject, Recognise } from "../resources/types.js";
import type { Most } from "./bounds.js";
import { Garbled } from "./faults.js";
import { exactRecords, exactText, type Slices, sliceEnvelope } from "./json.js";
import { leaksKey } from "./leaked-key.js";

/** The `pagination` of a list (API document, "Pagination object"). */
export interface Pagination {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

/** A 200, checked and taken apart. */
export interface Answer {
  readonly data: Json;
  /** The exact text of `data`, on one line. */
  readonly json: string;
  /** The records, when `data` is an array. */
  readonly items: ApiRecord[] | null;
  readonly pagination: Pagination | null;
  /** Milliseconds since 1970 when it was asked for: "as of" is never later than the truth. */
  readonly askedAt: number;
}

/**
 * A list's whole is made when it is asked for. By a class: of an object with getters of its own the engine keeps the
 * shape, and with it all that the getters see, until it collects everything. That was half of its work of a sync.
 */
class ListAnswer implements Answer {
  constructor(
    readonly items: ApiRecord[],
    readonly pagination: Pagination | null,
    readonly askedAt: number,
  ) {}

  get data(): Json {
    return this.items.map(({ value }) => value);
  }

  get json(): string {
    return `[${this.items.map(({ json }) => json).join(",")}]`;
  }
}

const mostItems = 1e9;
const mostPages = 1e7;

/** A 200 whose records are still bytes: those of pages that came early would fill the memory. */
export interface Outline {
  readonly pagination: Pagination | null;
  /**
   * Takes the records apart.
   * @param recognise which of them need not be parsed; what it throws is thrown
   * Throws `Garbled` when one is not JSON.
   */
  open(recognise?: Recognise): Answer;
}

/** What an answer is held against. */
export interface Expected {
  path: string;
  askedAt: number;
  most: Most;
  key: string;
}

/**
 * Reads an envelope (API document, "Envelope"), all but the records of a list. Members that the document does not name
 * are let through.
 * @param body UTF-8
 * Throws `Garbled` when the text is not JSON, `UnexpectedAnswer` when it is JSON of another shape, holds too much, or
 * holds the key: nothing documents that, and it must be neither stored nor printed.
 */
export function outlineEnvelope(body: Buffer, { path, askedAt, most, key }: Expected): Outline {
  const slices = sliceEnvelope(body, most);
  if (slices.excess) throw refused(path, slices.excess, checkBase);
  if (leaksKey(body, key, slices.escaped)) throw refused(path, "holds the key itself", keySeen);
  const envelope = parsed(body, () => parseOutline(body, slices));
  if (!isObject(envelope)) throw unexpected(path, "is not an object");
  if (envelope.success !== true) throw unexpected(path, `has ${named(envelope, "success")}, not true`);
  const data = envelope.data;
  if (!slices.data || typeof data !== "object" || data === null) {
    throw unexpected(path, `has ${named(envelope, "data")}, not an object or array`);
  }
  const { from, to } = slices.data;
  const pagination = readPagination(envelope.pagination, path);
  return {
    pagination,
    open(recognise) {
      if (!slices.items)
        return { data, json: exactText(body, from, to, slices.spaced), items: null, pagination, askedAt };
      const items = parsed(body, () => exactRecords(body, slices, recognise));
      return new ListAnswer(items, pagination, askedAt);
    },
  };
}

/** An envelope with an empty list in its list's place: between items the scanner has seen only commas. */
function parseOutline(body: Buffer, { closed, data, items }: Slices): Json {
  if (!data || !items) return JSON.parse(body.toString("utf8")) as Json;
  if (!closed) throw new SyntaxError("the list has no end");
  return JSON.parse(`${body.toString("utf8", 0, data.from)}[]${body.toString("utf8", data.to)}`) as Json;
}

function parsed<T>(body: Buffer, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    // Another error is no fault of the text: the mirror, asked what it holds, may be damaged.
    if (!(error instanceof SyntaxError)) throw error;
    // The engine's own message would quote the body, which may echo anything: it goes no further.
    throw new Garbled(describe(body.toString("utf8", 0, 200)));
  }
}

function describe(text: string): string {
  const start = text.trimStart().slice(0, 15).toLowerCase();
  if (start === "") return "its body is empty";
  if (start.startsWith("<")) return "its body is a web page, not JSON";
  return /^[[{]/.test(start) ? "its JSON is cut short or damaged" : "its body is not JSON";
}

function readPagination(value: Json | undefined, path: string): Pagination | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw unexpected(path, `has ${kind(value)} as \`pagination\`, not an object`);
  const pagination: Pagination = {
    page: whole(value, "page", 1, path),
    per_page: whole(value, "per_page", 1, path),
    total_items: whole(value, "total_items", 0, path),
    total_pages: whole(value, "total_pages", 0, path),
    has_next: flag(value, "has_next", path),
    has_prev: flag(value, "has_prev", path),
  };
  const { total_items, total_pages, per_page } = pagination;
  if (total_items > mostItems) throw unexpected(path, `claims an absurd \`total_items\`: ${total_items}`);
  if (total_pages >= mostPages) throw unexpected(path, `claims an absurd \`total_pages\`: ${total_pages}`);
  if (Math.abs(total_pages - Math.ceil(total_items / per_page)) > 1) {
    const claim = `${counted(total_pages, "page")} for ${counted(total_items, "item")} at ${per_page} a page`;
    throw unexpected(path, `contradicts itself: ${claim}`);
  }
  return pagination;
}

function whole(pagination: JsonObject, member: string, least: number, path: string): number {
  const value = pagination[member];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw unexpected(path, `has ${named(pagination, member)} in \`pagination\`, not a whole number`);
}

function flag(pagination: JsonObject, member: string, path: string): boolean {
  const value = pagination[member];
  if (typeof value === "boolean") return value;
  throw unexpected(path, `has ${named(pagination, member)} in \`pagination\`, not true or false`);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says what a member holds without ever printing text that the server chose. */
function named(object: JsonObject, member: string): string {
  const value = Object.hasOwn(object, member) ? object[member] : undefined;
  return value === undefined ? `no \`${member}\`` : `${kind(value)} as \`${member}\``;
}

function kind(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? "text" : "an object";
}

const checkBase = "check that the base URL is the brand API's and ends in /api/brand/v1";
const keySeen = "check the base URL, tell the platform, and create a new key: this one may have been seen";

function refused(path: string, what: string, hint: string): AnswerRefused {
  return new AnswerRefused(`The API's answer to ${path} ${what}: it is refused.`, { status: 200, hint });
}

function unexpected(path: string, what: string): UnexpectedAnswer {
  return new UnexpectedAnswer(`The API's answer to ${path} ${what}.`, {
    status: 200,
    hint: checkBase,
  });
}
