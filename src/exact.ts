/**
 * Numbers to the last digit. JavaScript reads `12.50` as 12.5 and 9007199254740993 as 9007199254740992; the books
 * want what was sent. The record's text has it, so the exact literal is looked up there, and only where it differs.
 */

const suspicious = /[:[,]-?(?:\d+\.\d*0(?=[,}\]])|\d{16,}|[\d.]{17,}|\d+(?:\.\d+)?[eE]|0(?=[,}\]])(?<=-0))/;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Whether some number in minified JSON text would not print as it was sent. */
export function hasInexactNumbers(json: string): boolean {
  if (!suspicious.test(json)) return false;
  for (const [text] of json.matchAll(token))
    if (text[0] !== '"' && String(Number(text)) !== text) return true;
  return false;
}

/** Parses JSON with every number left as an `Exact` that prints as it was sent. */
export function parseExact(json: string): unknown {
  const marked = json.replace(token, (text) => (text[0] === '"' ? `"s${text.slice(1)}` : `"n${text}"`));
  return JSON.parse(marked, (_member, value: unknown) => {
    if (typeof value !== "string") return isPlainObject(value) ? unmarkMembers(value) : value;
    return value[0] === "n" ? new Exact(value.slice(1)) : value.slice(1);
  });
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
