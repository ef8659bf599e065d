import { createViewSql } from "../../src/store/rebuild.js";
import { views } from "../../src/views/all-views.js";

const heading =
  "-- Generated from all-views.ts by `npm run docs`: the views of a new mirror. The statements in the mirror differ from\n" +
  "-- these only in white space.";

const width = 110;

export function formatViews(): string {
  const statements = views.map((view) => {
    const about = view.about.replace(/(.{1,117})(?: |$)/g, "-- $1\n");
    const line = createViewSql(view)
      .replace(/\s*\n\s*/g, " ")
      .replace(/\( /g, "(")
      .replace(/ \)/g, ")");
    return `\n${about}${indentSql(`${line};`, "")}\n`;
  });
  return `${heading}\n${statements.join("")}`;
}

const clauses =
  / (?=(?:SELECT|UNION|FROM|LEFT JOIN|(?<!LEFT )JOIN|WHERE|GROUP BY|HAVING|ORDER BY|WITH|WHEN|ELSE) )/g;
const listItems = /(?<=,|^WITH) /g;
const conditions = / (?=(?:AND|OR|THEN) )/g;

/**
 * Splits SQL that is too long for one line into clauses, list items or conditions. If the SQL consists of only one of
 * these, puts the contents of the longest parentheses or CASE expression on separate lines.
 */
function indentSql(sql: string, indent: string): string {
  if (indent.length + sql.length <= width) return indent + sql;
  const masked = maskGroups(sql);
  const deeper = `${indent}  `;

  const parts = splitAt(clauses);
  if (parts.length > 1) return parts.map((part) => indentSql(part, indent)).join("\n");

  // Within parentheses, all items have the same indentation. After a keyword, the first item is on the keyword's line.
  const others = /^(?!CASE)[A-Z]+ /.test(sql) ? deeper : indent;
  for (const lines of [joinShort(splitAt(listItems), width - others.length), splitAt(conditions)])
    if (lines.length > 1)
      return lines.map((line, nth) => indentSql(line, nth === 0 ? indent : others)).join("\n");

  const [group] = [...masked.matchAll(/•+/g)].sort((a, b) => b[0].length - a[0].length);
  if (group === undefined) return indent + sql;
  const [open, close] = sql[group.index] === "(" ? ["(", ")"] : ["CASE ", " END"];
  const start = group.index + open.length;
  const end = group.index + group[0].length - close.length;
  return [
    indent + sql.slice(0, start).trimEnd(),
    indentSql(sql.slice(start, end), deeper),
    indentSql(sql.slice(end).trimStart(), indent),
  ].join("\n");

  function splitAt(separator: RegExp): string[] {
    const ends = [...masked.matchAll(separator)].map(({ index }) => index);
    return [...ends, sql.length].map((end, nth) => sql.slice((ends[nth - 1] ?? -1) + 1, end));
  }
}

/** Replaces parentheses and CASE expressions, with everything inside them, by a filler of the same length. */
function maskGroups(sql: string): string {
  const innermost = /\([^()]*\)|\bCASE (?:(?!CASE )[^()])*? END\b/g;
  const masked = sql.replace(innermost, (group) => "•".repeat(group.length));
  return masked === sql ? sql : maskGroups(masked);
}

function joinShort(items: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const item of items) {
    const joined = `${lines.at(-1) ?? ""} ${item}`.trimStart();
    if (joined.length <= room) lines.splice(-1, 1, joined);
    else lines.push(item);
  }
  return lines;
}
