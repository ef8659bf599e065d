/** Matches a comment, a string, a quoted name, an unquoted date, a word or an operator. */
const sqlToken =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|(?:19|20|21)\d\d([-/])\d\d?(?:\1\d\d?)?(?![\w.])|[\w.]+|[<>=!]+|\S/g;

/** Splits a statement into tokens without comments and without the quotes around names. */
export function tokenize(sql: string): string[] {
  return (sql.match(sqlToken) ?? [])
    .filter((token) => !/^(?:--|\/\*)/.test(token))
    .map((token) => token.replace(/^["`[]|["`\]]$/g, ""));
}

/** Replaces strings, comments and names in double quotes with `''`, so that a search finds only SQL syntax. */
export function blankQuotedText(sql: string): string {
  return sql.replace(sqlToken, (token) => (/^(?:'.*'|".*"|--|\/\*)/s.test(token) ? "''" : token));
}

/** Encloses a condition in parentheses. The line break ends a `--` comment at the end of the condition. */
export function parenthesize(condition: string): string {
  return `(${condition}\n)`;
}
