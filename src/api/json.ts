import type { ApiRecord, HeldRecord, Json, Recognise } from "../resources/types.js";

/** Deeper than this and a body is refused: the document's deepest answer has six levels. */
export const maxDepth = 100;

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
  /** Whether the text nests deeper than `maxDepth`: then the other members mean nothing. */
  tooDeep: boolean;
}

const quote = 34;
const comma = 44;
const minus = 45;
const point = 46;
const zero = 48;
const nine = 57;
const colon = 58;
const openArray = 91;
const backslash = 92;
const closeArray = 93;
const openObject = 123;
const closeObject = 125;

/**
 * Finds the raw text of `data` and of its items without parsing: numbers keep every digit that was sent. JSON's own
 * signs are single bytes in UTF-8, so the bytes are looked at as they came. One pass, no allocation per value. It trusts nothing: text that is not JSON gives offsets without meaning
 * (never an endless loop), and `JSON.parse` is asked afterwards. Of duplicate members the last wins, as there.
 */
export function sliceEnvelope(body: Buffer): Slices {
  const scanner = new Scanner(body);
  const slices: Slices = {
    data: null,
    items: null,
    closed: false,
    odd: scanner.odd,
    spaced: false,
    tooDeep: false,
  };
  let at = scanner.skipSpace(0);
  if (body[at] !== openObject) {
    scanner.skipValue(at, 0);
    return { ...slices, tooDeep: scanner.tooDeep };
  }
  at = scanner.skipSpace(at + 1);
  while (body[at] === quote) {
    const keyEnd = scanner.skipString(at);
    const isData = isKeyData(body, at, keyEnd);
    at = scanner.skipSpace(keyEnd);
    if (body[at] !== colon) break;
    at = scanner.skipSpace(at + 1);
    const from = at;
    if (isData && body[at] === openArray) {
      slices.items = [];
      at = scanner.skipItems(at, slices.items);
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
  slices.tooDeep = scanner.tooDeep;
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

class Scanner {
  readonly odd = new Set<number>();
  closed = false;
  spaced = false;
  tooDeep = false;
  #isOdd = false;

  constructor(private readonly bytes: Buffer) {}

  skipSpace(from: number): number {
    const { bytes } = this;
    let at = from;
    while (at < bytes.length && (bytes[at] ?? 0) <= 32) at += 1;
    if (at !== from) this.spaced = true;
    return at;
  }

  /** From a quote to just after the quote that closes it. */
  skipString(from: number): number {
    const { bytes } = this;
    for (let at = from + 1; at < bytes.length; at += 1) {
      const code = bytes[at];
      if (code === quote) return at + 1;
      if (code === backslash) at += 1;
    }
    return bytes.length;
  }

  /** From an array's bracket to just after its end; writes down where its items are. */
  skipItems(from: number, items: number[]): number {
    const { bytes } = this;
    this.odd.clear();
    this.closed = true;
    let at = this.skipSpace(from + 1);
    if (bytes[at] === closeArray) return at + 1;
    while (at < bytes.length) {
      const start = at;
      this.#isOdd = false;
      at = this.skipValue(at, 2);
      if (this.#isOdd) this.odd.add(items.length / 2);
      items.push(start, at);
      at = this.skipSpace(at);
      if (bytes[at] !== comma) break;
      at = this.skipSpace(at + 1);
    }
    this.closed = bytes[at] === closeArray;
    return at + 1;
  }

  /** From a value's first character to just after its last; `depth` is what it stands in. */
  skipValue(from: number, depth: number): number {
    const { bytes } = this;
    const { length } = bytes;
    let open = 0;
    for (let at = from; at < length; at += 1) {
      const code = bytes[at] ?? 0;
      if (code === quote) {
        at = this.skipString(at) - 1;
        if (open === 0) return at + 1;
      } else if (code === openObject || code === openArray) {
        open += 1;
        if (depth + open > maxDepth) {
          this.tooDeep = true;
          return length;
        }
      } else if (code === closeObject || code === closeArray) {
        if (open === 0) return at;
        open -= 1;
        if (open === 0) return at + 1;
      } else if (code <= 32) {
        if (open === 0) return at;
        this.spaced = true;
      } else if (code === comma) {
        if (open === 0) return at;
      } else if (code === minus || (code >= zero && code <= nine)) at = this.#skipNumber(at) - 1;
    }
    return length;
  }

  /** From a number's first character to just after its last; notes one that may not print as it was sent. */
  #skipNumber(from: number): number {
    const { bytes } = this;
    let hasPoint = false;
    let at = from + 1;
    let code = bytes[at] ?? 0;
    for (; (code >= zero && code <= nine) || code === point; code = bytes[++at] ?? 0)
      hasPoint ||= code === point;
    const last = bytes[at - 1];
    const isMinusZero = at - from === 2 && last === zero && bytes[from] === minus;
    const hasExponent = code === 69 || code === 101;
    if (at - from > 15 || hasExponent || isMinusZero || (hasPoint && last === zero)) this.#isOdd = true;
    return at;
  }
}
