import { UsageError } from "../errors.js";
import { type Mirror, quote } from "../mirror/index.js";
import type { ReadableTable } from "./tables.js";

const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[();'"`[?@:$]|[\s\S]/g;

/**
 * Checks a person's `--where`: one expression over the table's columns. It may ask other tables of the mirror in
 * subqueries; it cannot leave its brackets, end the statement or bind a parameter. The connection is read-only anyway.
 * @throws UsageError with SQLite's own message
 */
export function checkCondition(mirror: Mirror, table: ReadableTable, condition: string): void {
  const broken = structuralFault(condition);
  if (broken) throw refused(broken);
  try {
    // In brackets the text can be nothing but one expression; the line break ends a comment.
    mirror.db.prepare(`SELECT 1 FROM ${quote(table.name)} WHERE (${condition}\n)`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refused(error.message, error);
  }
}

/** What would let a condition out of the brackets it is put in. */
function structuralFault(condition: string): string | undefined {
  if (condition.trim() === "") return "it is empty";
  if (condition.includes("\0")) return "it holds a NUL character";
  let depth = 0;
  for (const [token] of condition.matchAll(tokens)) {
    if (token === ";") return "one condition is allowed, no second statement";
    if (token === "?" || token === "@" || token === ":" || token === "$")
      return "parameters have no value here";
    if (token === "'" || token === '"' || token === "`" || token === "[") return `a ${token} is never closed`;
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (depth < 0) return "a bracket is closed that was never opened";
  }
  return depth > 0 ? "a bracket is never closed" : undefined;
}

/** What SQLite says of the file that it reads, not of a statement. */
export function isOfFile(error: Error): boolean {
  return "code" in error && /^SQLITE_(?!(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$)/.test(String(error.code));
}

/**
 * What a condition that compiles can still fail at while rows are read (`json('x')`, say, or a text longer than SQLite
 * can hold); anything else as it is.
 */
export function explainRunning(error: unknown, condition: string | undefined): unknown {
  if (condition === undefined || !(error instanceof Error) || !("code" in error)) return error;
  if (!String(error.code).startsWith("SQLITE_") || isOfFile(error)) return error;
  return new UsageError(`SQLite stopped at \`--where\`: ${error.message}.`, {
    hint: "check the condition",
    cause: error,
  });
}

function refused(why: string, cause?: unknown): UsageError {
  return new UsageError(`\`--where\` is not a condition that SQLite understands: ${why}.`, {
    hint: "use for example `--where \"currency = 'EUR' AND total_amount > 100\"`",
    cause,
  });
}

/** Whether a condition asks other tables: it is then worked out once, not once a batch. */
export function asksOtherTables(condition: string): boolean {
  return /\bselect\b/i.test(condition);
}
