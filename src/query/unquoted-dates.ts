/** A date without quotes in an SQL statement, which SQLite computes as a subtraction. */
interface UnquotedDate {
  /** The date as written, such as `2026-10-01`. */
  text: string;
  /** The column that the statement compares with the result. */
  column: string;
  /** The result of the subtraction. */
  result: number;
}

/** Matches comments, strings, quoted names, dates without quotes, words and operators. */
const sqlToken =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|(?:19|20|21)\d\d-\d\d(?:-\d\d)?(?![\w.])|[\w.]+|[<>=!]+|\S/g;
const unquotedDate = /^\d{4}-\d\d(?:-\d\d)?$/;
const comparison = /^(?:[<>]=?|={1,2}|!=|<>|is|not|between|in)$/i;
const dateColumn = /^(?:.*[._])?(?:date|day|month|at|utc)$/i;

/** Finds the first date without quotes that a statement compares with a column of dates, days or months. */
export function findUnquotedDate(sql: string): UnquotedDate | undefined {
  const tokens = (sql.match(sqlToken) ?? [])
    .filter((token) => !/^(?:--|\/\*)/.test(token))
    .map((token) => token.replace(/^["`[]|["`\]]$/g, ""));
  for (const [index, text] of tokens.entries()) {
    if (!unquotedDate.test(text)) continue;
    const column = leftColumn(tokens.slice(0, index)) ?? rightColumn(tokens.slice(index + 1));
    if (column === undefined) continue;
    const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
    return { text, column, result: year - month - day };
  }
  return undefined;
}

/** Returns the date column of `column >`, `function(column) =`, `column BETWEEN` or `column IN (` at the end. */
function leftColumn(tokens: readonly string[]): string | undefined {
  let end = tokens.at(-1) === "(" ? tokens.length - 1 : tokens.length;
  if (!comparison.test(tokens[end - 1] ?? "")) return undefined;
  while (comparison.test(tokens[end - 1] ?? "")) end -= 1;
  const start = tokens[end - 1] === ")" ? tokens.lastIndexOf("(", end) : end - 1;
  return firstDateColumn(tokens.slice(Math.max(0, start), end));
}

/** Returns the date column of `< column` or `= function(column)` at the start. */
function rightColumn(tokens: readonly string[]): string | undefined {
  if (!comparison.test(tokens[0] ?? "")) return undefined;
  return firstDateColumn(tokens.slice(1, tokens[2] === "(" ? tokens.indexOf(")") : 2));
}

function firstDateColumn(tokens: readonly string[]): string | undefined {
  return tokens.find((token, index) => dateColumn.test(token) && tokens[index + 1] !== "(");
}
