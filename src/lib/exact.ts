/**
 * Numbers to the last digit. JavaScript reads `12.50` as 12.5 and 9007199254740993 as 9007199254740992; the books
 * want what was sent. The record's text has it, so the exact literal is looked up there, and only where it differs.
 */

const suspicious = /[:[,]-?(?:\d+\.\d*0(?=[,}\]])|\d{16,}|[\d.]{17,}|\d+(?:\.\d+)?[eE]|0(?=[,}\]])(?<=-0))/;
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Whether some number in minified JSON text would not print as it was sent. */
export function hasInexactNumbers(json: string): boolean {
  if (!suspicious.test(json)) return false;
  for (let from = 0; from < json.length; ) {
    const [start, end] = nextString(json, from);
    for (const literal of json.slice(from, start).match(number) ?? [])
      if (String(Number(literal)) !== literal) return true;
    from = end;
  }
  return false;
}

/** Parses JSON with every number left as an `Exact` that prints as it was sent. */
export function parseExact(json: string): unknown {
  const marked: string[] = [];
  for (let from = 0; from < json.length; ) {
    const [start, end] = nextString(json, from);
    marked.push(json.slice(from, start).replace(number, '"n$&"'));
    if (start < end) marked.push('"s', json.slice(start + 1, end));
    from = end;
  }
  return JSON.parse(marked.join(""), (_member, value: unknown) => {
    if (typeof value !== "string") return isPlainObject(value) ? unmarkMembers(value) : value;
    return value[0] === "n" ? new Exact(value.slice(1)) : value.slice(1);
  });
}

/** Where the next string begins and ends, quotes included. A pattern would go too deep in one of some million letters. */
function nextString(json: string, from: number): [start: number, end: number] {
  const start = json.indexOf('"', from);
  if (start < 0) return [json.length, json.length];
  for (let at = json.indexOf('"', start + 1); at > 0; at = json.indexOf('"', at + 1)) {
    let before = at;
    while (json[before - 1] === "\\") before -= 1;
    // Backslashes escape one another: an odd one escapes the quote.
    if ((at - before) % 2 === 0) return [start, at + 1];
  }
  return [start, json.length];
}

/** A number as the API wrote it. */
export class Exact {
  constructor(readonly literal: string) {}
  toString(): string {
    return this.literal;
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}

/** Member names are strings too, so the marker stands before them as well. */
function unmarkMembers(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member.slice(1), inner]));
}
