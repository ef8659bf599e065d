import { bounds, type Counted } from "./bounds.js";

export const quote = 34;
export const comma = 44;
export const colon = 58;
export const openArray = 91;
export const openObject = 123;
const minus = 45;
const point = 46;
const zero = 48;
const two = 50;
const seven = 55;
const nine = 57;
const backslash = 92;
const letterU = 117;
const closeArray = 93;
const closeObject = 125;

/** Most digits that a double holds, with a sign: a longer number may not print as it was sent. */
const plainDigits = 15;

/**
 * Goes through JSON's bytes once, without building anything, and counts what they hold. It trusts nothing: text that is
 * not JSON gives places and counts without meaning.
 */
export class Scanner implements Counted {
  items = 0;
  values = 0;
  members = 0;
  depth = 0;
  digits = 0;
  readonly odd = new Set<number>();
  closed = false;
  spaced = false;
  /** Whether some character of ASCII is written by its number: `\u0041`. */
  escaped = false;
  #isOdd = false;
  /** What each open object or array holds so far, by its level. */
  readonly #entries = new Int32Array(bounds.depth + 2);

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
      if (code === backslash) {
        at += 1;
        if (bytes[at] === letterU && isAscii(bytes, at + 1)) this.escaped = true;
      }
    }
    return bytes.length;
  }

  /** From an array's bracket to just after its end; writes down where its items are, as long as there is room. */
  skipItems(from: number, places: number[], most: number): number {
    const { bytes } = this;
    this.odd.clear();
    this.items = 0;
    this.closed = true;
    let at = this.skipSpace(from + 1);
    if (bytes[at] === closeArray) return at + 1;
    while (at < bytes.length) {
      const start = at;
      this.#isOdd = false;
      at = this.skipValue(at, 2);
      this.items += 1;
      this.values += 1;
      if (this.items <= most) {
        if (this.#isOdd) this.odd.add(this.items - 1);
        places.push(start, at);
      }
      at = this.skipSpace(at);
      if (bytes[at] !== comma) break;
      at = this.skipSpace(at + 1);
    }
    this.closed = bytes[at] === closeArray;
    return at + 1;
  }

  /** From a value's first character to just after its last; `level` is how deep it stands. */
  skipValue(from: number, level: number): number {
    const { bytes } = this;
    const entries = this.#entries;
    const { length } = bytes;
    let open = 0;
    for (let at = from; at < length; at += 1) {
      const code = bytes[at] ?? 0;
      if (code === quote) {
        at = this.skipString(at) - 1;
        if (open === 0) return at + 1;
      } else if (code === openObject || code === openArray) {
        open += 1;
        this.values += 1;
        if (level + open > this.depth) this.depth = level + open;
        if (level + open > bounds.depth) return length;
        entries[open] = 1;
      } else if (code === closeObject || code === closeArray) {
        if (open === 0) return at;
        const count = entries[open] ?? 0;
        if (code === closeObject && count > this.members) this.members = count;
        open -= 1;
        if (open === 0) return at + 1;
      } else if (code <= 32) {
        if (open === 0) return at;
        this.spaced = true;
      } else if (code === comma) {
        if (open === 0) return at;
        this.values += 1;
        entries[open] = (entries[open] ?? 0) + 1;
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
    const digits = at - from;
    const last = bytes[at - 1];
    const isMinusZero = digits === 2 && last === zero && bytes[from] === minus;
    const hasExponent = code === 69 || code === 101;
    if (digits > plainDigits || hasExponent || isMinusZero || (hasPoint && last === zero)) {
      this.#isOdd = true;
      if (digits > this.digits) this.digits = digits;
    }
    return at;
  }
}

/** Whether the number of a character that begins here is that of a visible one of ASCII. */
function isAscii(bytes: Buffer, at: number): boolean {
  const digit = bytes[at + 2] ?? 0;
  return bytes[at] === zero && bytes[at + 1] === zero && digit >= two && digit <= seven;
}
