import { daysSince1970, parseTimestamp } from "../lib/timestamp.js";
import type { ReadableColumn, RowValue } from "../query/index.js";

/** The styles of a workbook, by their position in it: see `workbook.ts`. */
export const styles = { text: 1, day: 2, time: 3, header: 4, yesNo: 5, amount: 6 } as const;

/** A longer text makes a spreadsheet call the file broken. */
export const longestText = 32_767;

/**
 * Returns a cell without its opening `<c`, ready for its position; empty for null. A value that does not fit its column's
 * type is text. Never a formula.
 */
export function cellOf(value: RowValue, column: CellColumn): string {
  if (value === null) return "";
  return typedCell(value, column) ?? textCell(String(value));
}

type CellColumn = Pick<ReadableColumn, "type" | "isAmount">;

function typedCell(value: Exclude<RowValue, null>, { type, isAmount }: CellColumn): string | undefined {
  if (type === "text" || type === "json") return undefined;
  if (typeof value !== "string")
    return type === "boolean" ? yesNoCell(value) : numberCell(value, isAmount === true);
  const day = type === "date" || type === "any" ? datedCell(daysSince1970(value), styles.day) : undefined;
  const isTime = type === "timestamp" || (type === "any" && isTimeOfQuery(value));
  return (
    day ?? (isTime ? datedCell((parseTimestamp(value) ?? Number.NaN) / 86_400_000, styles.time) : undefined)
  );
}

/** True for a text in the result of a query that is a time: as the API writes it, or as SQLite's `datetime()` does. */
export function isTimeOfQuery(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z| \d\d:\d\d:\d\d(?:\.\d+)?)$/.test(text);
}

/** A spreadsheet would round an integer of 16 digits, which is an id: it is text. */
function numberCell(value: number | bigint, isAmount: boolean): string | undefined {
  const number = Number(value);
  const isHeld = Number.isFinite(number) && !(Number.isInteger(number) && Math.abs(number) >= 1e15);
  return isHeld ? `${isAmount ? ` s="${styles.amount}"` : ""}><v>${value}</v></c>` : undefined;
}

/** 1 and 0 that show as true and false: LibreOffice makes a formula of a boolean cell. */
function yesNoCell(value: number | bigint): string | undefined {
  return value === 0 || value === 1 ? ` s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

/** Days since the end of 1899. Spreadsheets disagree before March 1900, and have no dates after 9999. */
function datedCell(daysSince1970: number | undefined, style: number): string | undefined {
  const serial = (daysSince1970 ?? Number.NaN) + 25_569;
  return serial >= 61 && serial < 2_958_466 ? ` s="${style}"><v>${serial}</v></c>` : undefined;
}

export function textCell(text: string, style: number = styles.text): string {
  const xml = xmlText(text.slice(0, longestText));
  return ` t="inlineStr" s="${style}"><is><t xml:space="preserve">${xml}</t></is></c>`;
}

/** Returns text as XML. A character that XML cannot hold is written `_x0000_`, and text that looks so is escaped. */
export function xmlText(text: string): string {
  if (/^[\w ./:,+-]*$/.test(text) && !text.includes("_x")) return text;
  return (
    text
      .toWellFormed()
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no place for these
      .replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (sign) => `_x${hex(sign)}_`)
      .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  );
}

const hex = (sign: string) => sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase();
