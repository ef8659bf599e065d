import { UsageError } from "../errors.js";
import { suggest } from "../lib/nearest.js";

/** Values by name. A whole number is a `bigint`, because SQLite takes a `number` for a fraction. */
export type Parameters = ReadonlyMap<string, string | number | bigint>;

/** Texts, quoted names and comments, none of which holds a parameter; then the parameters. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(\?)\d*|[:@$](\w+)/g;

/** Returns the names of a statement's parameters (`:name`, `@name` or `$name`); `?` for one without a name. */
export function parametersOf(sql: string): string[] {
  return [...new Set([...sql.matchAll(tokens)].flatMap(([, unnamed, name]) => unnamed ?? name ?? []))];
}

/** @throws UsageError if a parameter has no value, or a value no parameter */
export function checkParameters(sql: string, values: Parameters): void {
  const names = parametersOf(sql);
  if (names.includes("?"))
    throw new UsageError("A parameter has no name: `?`.", {
      hint: "write `:name` in the statement, and give it with `-p name=value`",
    });
  const unknown = [...values.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`The statement has no parameter \`:${unknown}\`.`, {
      hint: names.length > 0 ? suggest(unknown, names) : `write \`:${unknown}\` where its value belongs`,
    });
  const missing = names.find((name) => !values.has(name));
  if (missing !== undefined)
    throw new UsageError(`A parameter has no value: \`:${missing}\`.`, {
      hint: `add \`-p ${missing}=VALUE\``,
    });
}
