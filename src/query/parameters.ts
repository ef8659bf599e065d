import { UsageError } from "../errors.js";
import { suggest } from "../lib/nearest.js";

/** Values by name; a whole number is a `bigint`, since SQLite would take another for a fraction. */
export type Parameters = ReadonlyMap<string, string | number | bigint>;

/** Texts, names in quotes, comments; then what stands for a value. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|[:@$](\w+)/g;

/**
 * The values of a statement's parameters (`:name`, `@name` or `$name`), as SQLite takes them.
 * @throws UsageError where one has no value, or a value no parameter
 */
export function bindable(sql: string, values: Parameters): Record<string, string | number | bigint> {
  const found = [...sql.matchAll(tokens)].filter(([token, name]) => name !== undefined || token[0] === "?");
  if (found.some(([token]) => token[0] === "?"))
    throw new UsageError("A parameter has no name: `?`.", {
      hint: "write `:name` in the statement, and give it with `-p name=value`",
    });
  const names = [...new Set(found.map(([, name = ""]) => name))];
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
  return Object.fromEntries(values);
}
