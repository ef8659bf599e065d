import { parseTimestamp } from "../lib/times.js";
import type { ReadableColumn, RowValue } from "../query/index.js";
import { asDay } from "./days.js";

/** The styles of a workbook, by their position in it: see `workbook.ts`. */
export const styles = { text: 1, day: 2, time: 3, header: 4, yesNo: 5 } as const;

/** A longer text makes a spreadsheet call the file broken. */
export const longestText = 32_767;

/**
 * Returns a cell without its opening `<c`, ready for its position; empty for null. A value that does not fit its column's
 * type is text. Never a formula.
 */
export function cellOf(value: RowValue, type: ReadableColumn["type"]): string {
  if (value === null) return "";
  return typedCell(value, type) ?? textCell(String(value));
}

function typedCell(value: Exclude<RowValue, null>, type: ReadableColumn["type"]): string | undefined {
  if (type === "text" || type === "json") return undefined;
  if (typeof value !== "string") return type === "boolean" ? yesNoCell(value) : numberCell(value);
  if (type === "date") return dayCell(value);
  if (type === "timestamp") return timeCell(value);
  if (type !== "any") return undefined;
  // In the answer to a query only the API's own form is a time.
  return (
    dayCell(value) ??
    (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) ? timeCell(value) : undefined)
  );
}

/** A spreadsheet would round an integer of 16 digits, which is an id: it is text. */
function numberCell(value: number | bigint): string | undefined {
  const isHeld =
    Number.isFinite(Number(value)) && !(Number.isInteger(Number(value)) && Math.abs(Number(value)) >= 1e15);
  return isHeld ? `><v>${value}</v></c>` : undefined;
}

/** 1 and 0 that show as true and false: LibreOffice makes a formula of a boolean cell. */
function yesNoCell(value: number | bigint): string | undefined {
  return value === 0 || value === 1 ? ` s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

function dayCell(value: string): string | undefined {
  const day = asDay(value);
  return day === undefined ? undefined : datedCell(day, styles.day);
}

function timeCell(value: string): string | undefined {
  const ms = parseTimestamp(value);
  return ms === undefined ? undefined : datedCell(ms / 86_400_000, styles.time);
}

/** Days since the end of 1899. Spreadsheets disagree before March 1900, and have no dates after 9999. */
function datedCell(days: number, style: number): string | undefined {
  const serial = days + 25_569;
  return serial < 61 || serial >= 2_958_466 ? undefined : ` s="${style}"><v>${serial}</v></c>`;
}

export function textCell(text: string, style: number = styles.text): string {
  const xml = xmlText(text.slice(0, longestText));
  return ` t="inlineStr" s="${style}"><is><t xml:space="preserve">${xml}</t></is></c>`;
}

/** Returns text as XML. A character that XML cannot hold is written `_x0000_`, and text that looks so is escaped. */
export function xmlText(text: string): string {
  if (/^[\w ./:,+-]*$/.test(text) && !text.includes("_x")) return text;
  return text
    .toWellFormed()
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replace(/(?![\t\n])[\p{Cc}\ufffe\uffff]/gu, code)
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function code(sign: string): string {
  return `_x${sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}_`;
}
