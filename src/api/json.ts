import type { ApiRecord, HeldRecord, Json, Recognise } from "../resources/types.js";
import { excessOf, type Most } from "./bounds.js";
import { colon, comma, openArray, openObject, quote, Scanner } from "./scanner.js";

/** Where an envelope's `data` and its items stand in the body: `[from, to)` offsets in bytes, in order. */
export interface Slices {
  /** `null` when the text has no object at its top, or the object no member `data`. */
  data: { from: number; to: number } | null;
  /** Offsets of each item, two by two; `null` when `data` is not an array. */
  items: number[] | null;
  /** Whether the array was closed, with nothing but commas between its items. */
  closed: boolean;
  /** The items in which a number may not print as it was sent, by their place. */
  odd: ReadonlySet<number>;
  /** Whether there is whitespace outside strings, so that slices must be minified. */
  spaced: boolean;
  /** Whether some character of ASCII is written by its number: `\u0041`. */
  escaped: boolean;
  /** What the text has too much of, as the end of a sentence: then the other members mean nothing. */
  excess: string | null;
}

/**
 * Finds the raw text of `data` and of its items without parsing: numbers keep every digit that was sent. JSON's own
 * signs are single bytes in UTF-8, so the bytes are looked at as they came. One pass, no allocation per value: what
 * would cost too much as objects is known before any is made. It trusts nothing: text that is not JSON gives offsets
 * without meaning (never an endless loop), and `JSON.parse` is asked afterwards. Of duplicate members the last wins, as
 * there.
 */
export function sliceEnvelope(body: Buffer, most: Most): Slices {
  const scanner = new Scanner(body);
  const slices: Slices = {
    data: null,
    items: null,
    closed: false,
    odd: scanner.odd,
    spaced: false,
    escaped: false,
    excess: null,
  };
  let members = 0;
  let at = scanner.skipSpace(0);
  if (body[at] !== openObject) {
    scanner.skipValue(at, 0);
    return { ...slices, excess: excessOf(scanner, most) };
  }
  at = scanner.skipSpace(at + 1);
  while (body[at] === quote) {
    members += 1;
    const keyEnd = scanner.skipString(at);
    const isData = isKeyData(body, at, keyEnd);
    at = scanner.skipSpace(keyEnd);
    if (body[at] !== colon) break;
    at = scanner.skipSpace(at + 1);
    const from = at;
    if (isData && body[at] === openArray) {
      slices.items = [];
      at = scanner.skipItems(at, slices.items, most.items);
    } else {
      if (isData) slices.items = null;
      at = scanner.skipValue(at, 1);
    }
    if (isData) slices.data = { from, to: at };
    at = scanner.skipSpace(at);
    if (body[at] !== comma) break;
    at = scanner.skipSpace(at + 1);
  }
  slices.closed = scanner.closed;
  slices.spaced = scanner.spaced;
  slices.escaped = scanner.escaped;
  scanner.members = Math.max(scanner.members, members);
  slices.excess = excessOf(scanner, most);
  return slices;
}

/** The exact text of `[from, to)` of a body, on one line. */
export function exactText(body: Buffer, from: number, to: number, spaced: boolean): string {
  const slice = body.toString("utf8", from, to);
  return spaced ? minify(slice) : slice;
}

/**
 * Each item's exact text beside its value. Item by item that is faster than all at once: most are of plain letters,
 * which the engine keeps, reads and hands over in half the time. A text that is recognised is not parsed: that was
 * done when it was first read.
 * Throws what `JSON.parse` throws.
 */
export function exactRecords(
  body: Buffer,
  { items, odd, spaced }: Slices,
  recognise?: Recognise,
): ApiRecord[] {
  const records: ApiRecord[] = [];
  for (let at = 0; items && at < items.length; at += 2) {
    const json = exactText(body, items[at] ?? 0, items[at + 1] ?? 0, spaced);
    const held = recognise?.(json);
    records.push(
      held ? new HeldText(json, held) : { json, value: JSON.parse(json) as Json, plain: !odd.has(at / 2) },
    );
  }
  return records;
}

class HeldText implements ApiRecord {
  constructor(
    readonly json: string,
    readonly held: HeldRecord,
  ) {}

  get value(): Json {
    return JSON.parse(this.json) as Json;
  }
}

/** Takes the whitespace between JSON tokens away; strings and numbers stay as they are. */
export function minify(json: string): string {
  const bytes = Buffer.from(json);
  const scanner = new Scanner(bytes);
  const runs: string[] = [];
  let from = 0;
  for (let at = 0; at < bytes.length; ) {
    const code = bytes[at] ?? 0;
    if (code === quote) at = scanner.skipString(at);
    else if (code > 32) at += 1;
    else {
      runs.push(bytes.toString("utf8", from, at));
      at = scanner.skipSpace(at);
      from = at;
    }
  }
  runs.push(bytes.toString("utf8", from));
  return runs.join("");
}

function isKeyData(body: Buffer, from: number, to: number): boolean {
  if (to - from < 6 || to - from > 26) return false;
  const key = body.toString("latin1", from, to);
  if (to - from === 6) return key === '"data"';
  if (!key.includes("\\")) return false;
  try {
    return JSON.parse(key) === "data";
  } catch {
    return false;
  }
}
