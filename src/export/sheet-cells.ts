import { parseTimestamp } from "../lib/times.js";
import type { ReadableColumn, RowValue } from "../query/index.js";
import { asDay } from "./stored-types.js";

/** The styles of a workbook, by their place in it: see `workbook.ts`. */
export const styles = { general: 0, text: 1, day: 2, time: 3, header: 4, yesNo: 5 } as const;

/** A cell of a sheet as XML; empty for null. What does not fit its column's type is text. Never a formula. */
export type CellWriter = (value: RowValue) => string;

/** Longer texts are no cells to a spreadsheet, which calls the file broken. */
const longestText = 32_767;
/** Numbers as the API writes them that a spreadsheet holds to the last digit: 15 of them. */
const plainNumber = /^-?(?=(?:\d\.?){1,15}(?:[eE]|$))\d+(?:\.\d+)?(?:[eE][+-]?0?\d{1,2})?$/;

/** @param cut counts the texts that are cut */
export function cellWriter({ type }: Pick<ReadableColumn, "type">, cut: { count: number }): CellWriter {
  const text = (value: RowValue) => textCell(String(value), cut);
  const typed = typedCell[type];
  return (value) => (value === null ? "" : (typed(value) ?? text(value)));
}

type Typed = (value: Exclude<RowValue, null>) => string | undefined;

const typedCell: Readonly<Record<ReadableColumn["type"], Typed>> = {
  text: () => undefined,
  json: () => undefined,
  integer: numberCell,
  number: numberCell,
  boolean: yesNoCell,
  date: dayCell,
  timestamp: timeCell,
  any: (value) => (typeof value === "string" ? (dayCell(value) ?? utcCell(value)) : numberCell(value)),
};

/** A number that a spreadsheet would round is text. So is an integer of 16 digits, which is an id. */
function numberCell(value: RowValue): string | undefined {
  const digits = String(value);
  if (typeof value === "number" ? !Number.isFinite(value) : !plainNumber.test(digits)) return undefined;
  if (Number.isInteger(value) && Math.abs(Number(value)) >= 1e15) return undefined;
  return `<c><v>${digits}</v></c>`;
}

/** 1 and 0 that show as true and false: LibreOffice makes a formula of a cell that is a boolean. */
function yesNoCell(value: RowValue): string | undefined {
  return value === 0 || value === 1 ? `<c s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

function dayCell(value: RowValue): string | undefined {
  const day = typeof value === "string" ? asDay(value) : undefined;
  return day === undefined ? undefined : dated(day, styles.day);
}

function timeCell(value: RowValue): string | undefined {
  const ms = typeof value === "string" ? parseTimestamp(value) : undefined;
  return ms === undefined ? undefined : dated(ms / 86_400_000, styles.time);
}

/** In an answer only what looks like the API's own times is one. */
function utcCell(value: string): string | undefined {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) ? timeCell(value) : undefined;
}

/** Days since the end of 1899. Before March 1900 spreadsheets do not agree, and after 9999 there is nothing. */
function dated(days: number, style: number): string | undefined {
  const serial = days + 25_569;
  return serial < 61 || serial >= 2_958_466 ? undefined : `<c s="${style}"><v>${serial}</v></c>`;
}

export function textCell(text: string, cut: { count: number }, style: number = styles.text): string {
  let shown = text;
  if (text.length > longestText) {
    cut.count += 1;
    shown = text.slice(0, longestText);
  }
  return `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${xmlText(shown)}</t></is></c>`;
}

/** What XML cannot hold stands as `_x0000_`, and what looks so already, as it is read back as itself. */
export function xmlText(text: string): string {
  if (/^[\w ./:,+-]*$/.test(text) && !text.includes("_x")) return text;
  return text
    .toWellFormed()
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replace(/(?![\t\n])[\p{Cc}\ufffe\uffff]/gu, code)
    .replace(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function code(sign: string): string {
  return `_x${sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}_`;
}
