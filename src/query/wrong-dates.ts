/** An unquoted date in an SQL statement. SQLite evaluates it as a subtraction or a division. */
interface UnquotedDate {
  written: string;
  operation: "subtraction" | "division";
  /** A clause that describes the comparison, such as "`day` is compared with 2015". */
  effect: string;
  /** The date as an SQL string, such as `'2026-10-01'`. */
  quoted: string;
}

/** Matches comments, strings, quoted names, unquoted dates, words and operators. */
const sqlToken =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|(?:19|20|21)\d\d([-/])\d\d?(?:\1\d\d?)?(?![\w.])|[\w.]+|[<>=!]+|\S/g;
const unquotedDate = /^\d{4}[-/]\d\d?(?:[-/]\d\d?)?$/;
const comparison = /^(?:[<>]=?|={1,2}|!=|<>|is|not|between|in|like|glob)$/i;
const dateColumn = /^(?:.*[._])?(?:date|day|month|at|utc)$/i;
const dateFunction = /^(?:date|datetime|julianday|unixepoch)$/i;

/** Finds the first unquoted date that a statement compares with a date column or passes to a date function. */
export function findUnquotedDate(sql: string): UnquotedDate | undefined {
  const tokens = tokenize(sql);
  for (const [index, written] of tokens.entries()) {
    if (!unquotedDate.test(written)) continue;
    const use = describeUse(tokens.slice(0, index), tokens.slice(index + 1));
    if (use === undefined) continue;
    const [year = "", ...others] = written.split(/[-/]/);
    const isDivision = written.includes("/");
    const result = others.reduce(
      (rest, number) => (isDivision ? Math.trunc(rest / Number(number)) : rest - Number(number)),
      Number(year),
    );
    return {
      written,
      operation: isDivision ? "division" : "subtraction",
      effect: `${use} ${Number.isFinite(result) ? result : "null"}`,
      quoted: `'${[year, ...others.map((number) => number.padStart(2, "0"))].join("-")}'`,
    };
  }
  return undefined;
}

/**
 * A string with a date in a different format than in the mirror. SQLite compares dates as text, so the result is wrong.
 */
interface MisformattedDate {
  /** The text with its quotes, such as `'01/10/2026'`. */
  written: string;
  /** The date column that is compared with the text. */
  column: string;
  /** The date as an SQL string in ISO 8601 format, or an example if the order of day and month is unknown. */
  iso: string;
}

const dayFirst = /^'\d\d?[./-]\d\d?[./-](?:\d\d){1,2}(?:[ T][^']*)?'$/;
const yearFirst = /^'(\d{4})([./-]?)(\d\d?)(?:\2(\d\d?))?(?:[ T][^']*)?'$/;
const isoDate = /^'\d{4}-\d\d(?:-\d\d(?:[ T][^']*)?)?'$/;
/** Functions that can return dates in formats other than ISO 8601. */
const textFunction = /^(?:format|printf|replace|strftime|substr|substring)$/i;

/** Finds the first date in an unsupported format that a statement compares with a date column. */
export function findMisformattedDate(sql: string): MisformattedDate | undefined {
  const tokens = tokenize(sql);
  if (tokens.some((token) => textFunction.test(token))) return undefined;
  for (const [index, written] of tokens.entries()) {
    const [, year, separator, month = "", day] = yearFirst.exec(written) ?? [];
    const isDate = dayFirst.test(written) || (year !== undefined && !(separator === "" && day === undefined));
    if (!isDate || isoDate.test(written)) continue;
    const column = leftColumn(tokens.slice(0, index)) ?? rightColumn(tokens.slice(index + 1));
    if (column === undefined) continue;
    const parts = [year, month, day].flatMap((part) => part?.padStart(2, "0") ?? []);
    return { written, column, iso: year === undefined ? "'2026-10-01'" : `'${parts.join("-")}'` };
  }
  return undefined;
}

/** Splits a statement into tokens without comments and without the quotes around names. */
function tokenize(sql: string): string[] {
  return (sql.match(sqlToken) ?? [])
    .filter((token) => !/^(?:--|\/\*)/.test(token))
    .map((token) => token.replace(/^["`[]|["`\]]$/g, ""));
}

/**
 * Describes how a value between these tokens is used as a date. The value can be compared with a date column or passed
 * to a date function.
 */
function describeUse(before: readonly string[], after: readonly string[]): string | undefined {
  const column = leftColumn(before) ?? rightColumn(after);
  if (column !== undefined) return `\`${column}\` is compared with`;
  const called = before.at(-1) === "(" ? (before.at(-2) ?? "") : "";
  return dateFunction.test(called) ? `\`${called}()\` receives` : undefined;
}

/** Returns the date column if the tokens end with `column >`, `f(column) =`, `column BETWEEN` or `column IN (`. */
function leftColumn(tokens: readonly string[]): string | undefined {
  let end = tokens.at(-1) === "(" ? tokens.length - 1 : tokens.length;
  if (!comparison.test(tokens[end - 1] ?? "")) return undefined;
  while (comparison.test(tokens[end - 1] ?? "")) end -= 1;
  const start = tokens[end - 1] === ")" ? tokens.lastIndexOf("(", end) : end - 1;
  return firstDateColumn(tokens.slice(Math.max(0, start), end));
}

/** Returns the date column if the tokens start with `< column` or `= function(column)`. */
function rightColumn(tokens: readonly string[]): string | undefined {
  if (!comparison.test(tokens[0] ?? "")) return undefined;
  return firstDateColumn(tokens.slice(1, tokens[2] === "(" ? tokens.indexOf(")") : 2));
}

function firstDateColumn(tokens: readonly string[]): string | undefined {
  return tokens.find((token, index) => dateColumn.test(token) && tokens[index + 1] !== "(");
}
