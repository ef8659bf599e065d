export interface JsonFault {
  /** The line number, starting at 1. */
  line: number;
  reason: string;
}

const whitespace = /[ \t\r\n]*/y;
const token =
  /(?<text>"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?<sign>[{}[\],:])|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/uy;

type Expected =
  | "value"
  | "value or closing bracket"
  | "name"
  | "name or closing bracket"
  | "colon"
  | "comma or closing bracket"
  | "end of file";

/**
 * Finds the first syntax error in JSON. Returns null if there is none. Unlike the messages from `JSON.parse`, the
 * reason does not depend on the Node version, and never quotes the text, which may contain a key.
 */
export function findJsonFault(text: string): JsonFault | null {
  const open: string[] = [];
  let expected: Expected = "value";
  let previousEnd = 0;
  const faultAt = (position: number, reason: string): JsonFault => ({
    line: text.slice(0, position).split("\n").length,
    reason,
  });
  for (;;) {
    whitespace.lastIndex = previousEnd;
    const start = previousEnd + (whitespace.exec(text)?.[0].length ?? 0);
    if (start === text.length)
      return expected === "end of file" ? null : faultAt(previousEnd, "unexpected end of file");
    token.lastIndex = start;
    const match = token.exec(text);
    if (!match) return faultAt(start, describeInvalid(text.slice(start)));
    const { text: quoted, sign } = match.groups ?? {};
    const closes = sign === "}" || sign === "]";
    const isValue = sign === undefined || sign === "{" || sign === "[";
    if (expected === "end of file") return faultAt(start, "unexpected text after the end of the JSON");
    if (expected === "comma or closing bracket" && sign !== "," && !closes) {
      const isLineEnd = text.slice(previousEnd, start).includes("\n");
      return faultAt(
        previousEnd,
        `a comma is missing ${isLineEnd ? "at the end of the line" : "between two values"}`,
      );
    }
    if (expected === "colon" && sign !== ":") return faultAt(start, "a colon is missing after a name");
    if (closes && (expected === "value" || expected === "name"))
      return faultAt(
        start,
        text[previousEnd - 1] === "," ? "a comma before a closing bracket" : "a value is missing",
      );
    if (closes && open.at(-1) !== (sign === "}" ? "{" : "["))
      return faultAt(start, "a closing bracket of the wrong kind");
    if (!closes && expected.startsWith("name") && quoted === undefined)
      return faultAt(start, "a name is not in double quotes");
    if (!closes && expected.startsWith("value") && !isValue) return faultAt(start, "a value is missing");

    previousEnd = start + match[0].length;
    if (sign === "{" || sign === "[") open.push(sign);
    if (closes) open.pop();
    if (sign === "{") expected = "name or closing bracket";
    else if (sign === "[") expected = "value or closing bracket";
    else if (sign === ",") expected = open.at(-1) === "{" ? "name" : "value";
    else if (sign === ":") expected = "value";
    else if (expected.startsWith("name") && !closes) expected = "colon";
    else expected = open.length === 0 ? "end of file" : "comma or closing bracket";
  }
}

function describeInvalid(rest: string): string {
  if (rest.startsWith('"')) return "a string is not closed or contains an invalid character";
  if (/^['‘’“”]/.test(rest)) return "text is not in straight double quotes";
  if (/^(?:\/\/|\/\*|#)/.test(rest)) return "JSON does not allow comments";
  return "an unexpected character, or text without double quotes";
}
