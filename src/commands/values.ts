import { UsageError } from "../errors.js";

/** A list on the command line: commas between, or the flag again. */
export function parseList(text: string, previous: unknown): string[] {
  const values = text
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
  if (values.length === 0)
    throw new UsageError("A list is empty.", { hint: "name values with commas between them" });
  return [...(Array.isArray(previous) ? (previous as string[]) : []), ...values];
}

/** A whole number from 0. */
export function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`Not a whole number: \`${text}\`.`, { hint: "use a number such as 5" });
}
