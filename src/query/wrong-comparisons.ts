import { isUtcTime } from "../views/view.js";
import { declaredColumns, tableNames } from "./readable-tables.js";
import { tokenize } from "./sql-tokens.js";

const comparison = /^(?:[<>]=?|={1,2}|!=|<>|is|not|between|in|like|glob)$/i;
const dateColumn = /^(?:.*[._])?(?:date|day|month|at|utc)$/i;
const dateFunction = /^(?:date|datetime|julianday|unixepoch)$/i;

/**
 * Finds comparisons that SQLite accepts but that give wrong results: dates without quotes, dates in a format other than
 * ISO 8601, timestamps that are compared with `datetime()`, and booleans that are compared with text.
 * @returns a warning for each timestamp column, and at most one warning for each other kind of comparison
 */
export function findWrongComparisons(sql: string): string[] {
  const tokens = tokenize(sql);
  return [
    ...findDatetimeComparisons(tokens).map(
      (column) =>
        `\`${column}\` is text with \`T\` and \`Z\`, which \`datetime()\` does not return; compare \`datetime(${column})\``,
    ),
    findUnquotedDate(tokens),
    findMisformattedDate(tokens),
    findBooleanText(tokens),
  ].flatMap((warning) => warning ?? []);
}

const unquotedDate = /^\d{4}[-/]\d\d?(?:[-/]\d\d?)?$/;

/**
 * Finds an unquoted date, which SQLite evaluates as a subtraction or division, if the statement uses the result as a
 * date.
 */
function findUnquotedDate(tokens: readonly string[]): string | undefined {
  for (const [index, written] of tokens.entries()) {
    if (!unquotedDate.test(written)) continue;
    const column = comparedDateColumn(tokens, index);
    const called = tokens[index - 1] === "(" ? (tokens[index - 2] ?? "") : "";
    if (column === undefined && !dateFunction.test(called)) continue;
    const use = column === undefined ? `\`${called}()\` receives` : `\`${column}\` is compared with`;
    const [year = "", ...others] = written.split(/[-/]/);
    const operation = written.includes("/") ? "division" : "subtraction";
    const result = others.reduce(
      (rest, number) =>
        operation === "division" ? Math.trunc(rest / Number(number)) : rest - Number(number),
      Number(year),
    );
    const value = Number.isFinite(result) ? result : "null";
    const quoted = `'${[year, ...others.map((number) => number.padStart(2, "0"))].join("-")}'`;
    return `\`${written}\` without quotes is a ${operation}, so ${use} ${value}; write \`${quoted}\``;
  }
  return undefined;
}

const dayFirst = /^'\d\d?[./-]\d\d?[./-](?:\d\d){1,2}(?:[ T][^']*)?'$/;
const yearFirst = /^'(\d{4})([./-]?)(\d\d?)(?:\2(\d\d?))?(?:[ T][^']*)?'$/;
const isoDate = /^'\d{4}-\d\d(?:-\d\d(?:[ T][^']*)?)?'$/;
/** Matches functions that can return dates in formats other than ISO 8601. */
const textFunction = /^(?:format|printf|replace|strftime|substr|substring)$/i;

/**
 * Finds a date that is compared with a date column but is not in the mirror's format. Dates are compared as text, so
 * the formats must match.
 */
function findMisformattedDate(tokens: readonly string[]): string | undefined {
  if (tokens.some((token) => textFunction.test(token))) return undefined;
  for (const [index, written] of tokens.entries()) {
    const [, year, separator, month = "", day] = yearFirst.exec(written) ?? [];
    const isDate = dayFirst.test(written) || (year !== undefined && !(separator === "" && day === undefined));
    if (!isDate || isoDate.test(written)) continue;
    const column = comparedDateColumn(tokens, index);
    if (column === undefined) continue;
    // If the year comes last, the day and the month are ambiguous, so the warning shows an example instead of the
    // corrected date.
    const parts = [year, month, day].flatMap((part) => part?.padStart(2, "0") ?? []);
    const iso = year === undefined ? "'2026-10-01'" : `'${parts.join("-")}'`;
    return `\`${column}\` is compared with \`${written}\` as text, which gives a wrong result; write dates as \`${iso}\``;
  }
  return undefined;
}

const allColumns = tableNames.flatMap(declaredColumns);

const booleanColumns = new Set(allColumns.flatMap(({ name, type }) => (type === "boolean" ? [name] : [])));

/**
 * Finds a boolean column that is compared with `'true'` or `'false'`, which is how exports write booleans. In SQL,
 * booleans are 1 and 0.
 */
function findBooleanText(tokens: readonly string[]): string | undefined {
  for (const [index, written] of tokens.entries()) {
    if (!/^'(?:true|false)'$/i.test(written)) continue;
    const column = comparedColumns(tokens, index).find((name) => booleanColumns.has(name));
    if (column === undefined) continue;
    const value = /true/i.test(written) ? 1 : 0;
    return `\`${column}\` is 1 or 0, which never equals \`${written}\`; compare the column with \`${value}\``;
  }
  return undefined;
}

/** The columns with timestamps in the API's format, which contains `T` and `Z`. */
const apiTimestamps = new Set(
  allColumns.flatMap(({ name, type }) => (type === "timestamp" && !isUtcTime(name) ? [name] : [])),
);

/**
 * Finds comparisons of `datetime()` with timestamps in the API's format, which differs from that of `datetime()`.
 * @returns the names of the timestamp columns
 */
function findDatetimeComparisons(tokens: readonly string[]): string[] {
  const columns = tokens.flatMap((token, index) =>
    /^datetime$/i.test(token) && tokens[index + 1] === "("
      ? comparedColumns(tokens, index, tokens.indexOf(")", index))
      : [],
  );
  // After `datetime(order_date) AS order_date`, the name refers to the converted value.
  const aliases = tokens.filter(
    (_, index) => tokens[index - 2] === ")" && /^as$/i.test(tokens[index - 1] ?? ""),
  );
  return [...new Set(columns)].filter((column) => apiTimestamps.has(column) && !aliases.includes(column));
}

/** Returns the date column that is compared with the value at `index`. */
function comparedDateColumn(tokens: readonly string[], index: number): string | undefined {
  return comparedOperands(tokens, index)
    .map((operand) => operand.find((token, at) => dateColumn.test(token) && operand[at + 1] !== "("))
    .find((column) => column !== undefined);
}

/**
 * Returns the operands that are compared with a value.
 * @param first the index of the value's first token
 * @param last the index of the value's last token
 */
function comparedOperands(tokens: readonly string[], first: number, last = first): (readonly string[])[] {
  return [leftOperand(tokens.slice(0, first)), rightOperand(tokens.slice(last + 1))];
}

/** Returns the names of the columns that are compared with a value, in lowercase and without table names. */
function comparedColumns(tokens: readonly string[], first: number, last = first): string[] {
  return comparedOperands(tokens, first, last).flatMap(([column = "", ...others]) =>
    others.length > 0 ? [] : column.replace(/^.*\./, "").toLowerCase(),
  );
}

/**
 * Returns the operand to the left of a comparison. The tokens must end with `column >`, `f(column) =`, `column IN (`,
 * `column BETWEEN` or `column BETWEEN value AND`.
 */
function leftOperand(tokens: readonly string[]): readonly string[] {
  let end = tokens.at(-1) === "(" ? tokens.length - 1 : tokens.length;
  if (/^and$/i.test(tokens[end - 1] ?? ""))
    end = tokens.slice(0, end - 1).findLastIndex((token) => /^(?:between|and)$/i.test(token)) + 1;
  if (!comparison.test(tokens[end - 1] ?? "")) return [];
  while (comparison.test(tokens[end - 1] ?? "")) end -= 1;
  const start = tokens[end - 1] === ")" ? tokens.lastIndexOf("(", end) : end - 1;
  return tokens.slice(Math.max(0, start), end);
}

/** Returns the operand after a comparison operator. The tokens start with the operator: `< column` or `= f(column)`. */
function rightOperand(tokens: readonly string[]): readonly string[] {
  if (!comparison.test(tokens[0] ?? "")) return [];
  return tokens.slice(1, tokens[2] === "(" ? tokens.indexOf(")") : 2);
}
