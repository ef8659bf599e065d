import { expect, test } from "vitest";
import { makeMirror } from "../support/mirror.js";

/**
 * Syntax and functions that SQLite 3.26 does not support. A schema that contains any of them prevents SQLite 3.26 from
 * opening the file.
 */
const newer: readonly [name: string, form: RegExp][] = [
  [
    "GROUPS or EXCLUDE in a window (3.28)",
    /\b(GROUPS\s+(BETWEEN|UNBOUNDED|\d)|EXCLUDE\s+(CURRENT|GROUP|TIES))\b/i,
  ],
  ["FILTER of an aggregate (3.30)", /\bFILTER\s*\(/i],
  ["NULLS FIRST and NULLS LAST (3.30)", /\bNULLS\s+(FIRST|LAST)\b/i],
  ["generated columns (3.31)", /\bGENERATED\b|\bAS\s*\([^)]*\)\s*(STORED|VIRTUAL)\b/i],
  ["iif() (3.32)", /\b(iif|if)\s*\(/i],
  ["UPDATE FROM (3.33)", /\bUPDATE\b[^;]*\bSET\b[^;]*\bFROM\b/i],
  ["RETURNING (3.35)", /\bRETURNING\b/i],
  ["MATERIALIZED (3.35)", /\bMATERIALIZED\b/i],
  ["math functions (3.35)", /\b(ceil|ceiling|floor|ln|log|pow|power|sign|sqrt|trunc|mod)\s*\(/i],
  ["STRICT (3.37)", /\)[^()]*\bSTRICT\b/i],
  ["-> and ->> (3.38)", /->/],
  ["unixepoch() and format() (3.38)", /\b(unixepoch|format)\s*\(|'auto'/i],
  [
    "RIGHT JOIN, FULL JOIN and IS DISTINCT FROM (3.39)",
    /\b(RIGHT|FULL)\s+(OUTER\s+)?JOIN\b|\bDISTINCT\s+FROM\b/i,
  ],
  ["'subsec' (3.42)", /'subsec(ond)?'/i],
  ["timediff() and octet_length() (3.43)", /\b(timediff|octet_length)\s*\(/i],
  ["concat(), concat_ws() and string_agg() (3.44)", /\b(concat|concat_ws|string_agg)\s*\(/i],
  [
    "ORDER BY in an aggregate (3.44)",
    /\b(group_concat|json_group_array|json_group_object|sum|total|max|min|count)\s*\([^()]*\bORDER\s+BY\b/i,
  ],
  ["jsonb (3.45)", /\bjsonb/i],
  ["digits with underscores (3.46)", /\b\d+_\d/],
];

test("SQLite 3.26 can read all tables, views and indexes", async () => {
  const { db } = await makeMirror();
  const schema = db.prepare("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").all() as {
    name: string;
    sql: string;
  }[];
  expect(schema.length).toBeGreaterThan(60);
  const found = schema.flatMap(({ name, sql }) => {
    const code = sql.replace(/--[^\n]*/g, "");
    return newer.filter(([, form]) => form.test(code)).map(([feature]) => `${name}: ${feature}`);
  });
  expect(found).toEqual([]);
});
