import { constants, crc32, deflateRawSync } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import { UsageError } from "../errors.js";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/rows.js";
import type { RowSource } from "../query/select.js";
import { pluralize } from "../util/text.js";
import { daysSince1970, isTimestampText, parseTimestamp } from "../util/timestamp.js";
import type { Chunk, RowSources, WriteOptions } from "./format.js";

/** A zip holds longer files only in another form. */
const maxZipEntryBytes = 2 ** 32 - 1;
/** Sheets compress well: a higher level takes far longer and saves little. */
const compressionLevel = 3;

/** Opens a zip file. fflate lays it out; Node's own zlib compresses each piece, several times as fast. */
export function openZip() {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, data) => {
    if (error) throw error;
    made.push(data);
  });
  let file: ZipInputFile | undefined;
  const endFile = () => file?.ondata?.(null, deflateRawSync(new Uint8Array()), true);
  return {
    /** Ends the file before, and begins the next. */
    begin(name: string) {
      endFile();
      // Always the same time, because the same rows give the same bytes.
      file = { filename: name, size: 0, crc: 0, compression: 8, mtime: new Date(2000, 0, 1) };
      zip.add(file);
    },
    write(text: string) {
      const data = Buffer.from(text);
      if (!file) throw new Error("no file in the zip was begun");
      file.size += data.length;
      if (file.size > maxZipEntryBytes)
        throw new UsageError("A sheet is larger than 4 GB.", { hint: "write CSV: `-o FILE.csv`" });
      file.crc = crc32(data, file.crc);
      file.ondata?.(
        null,
        deflateRawSync(data, { level: compressionLevel, finishFlush: constants.Z_SYNC_FLUSH }),
        false,
      );
    },
    end() {
      endFile();
      zip.end();
    },
    /** Returns what was made since the last time. */
    take(): Uint8Array {
      const taken = Buffer.concat(made);
      made = [];
      return taken;
    },
  };
}

export type ZipStream = ReturnType<typeof openZip>;

/** The styles of a workbook, by their position in it: see `workbook.ts`. */
export const styles = { text: 1, day: 2, time: 3, header: 4, yesNo: 5, amount: 6 } as const;

/** A longer text makes a spreadsheet call the file broken. */
export const maxCellText = 32_767;

/**
 * Returns a cell without its opening `<c`, ready for its position; empty for null. A value that does not fit its column's
 * type is text. Never a formula.
 */
export function formatCell(value: RowValue, column: CellColumn): string {
  if (value === null) return "";
  return typedCell(value, column) ?? textCell(String(value));
}

type CellColumn = Pick<ReadableColumn, "type" | "isAmount">;

function typedCell(value: Exclude<RowValue, null>, { type, isAmount }: CellColumn): string | undefined {
  if (type === "text" || type === "json") return undefined;
  if (typeof value !== "string")
    return type === "boolean" ? booleanCell(value) : numberCell(value, isAmount === true);
  const day = type === "date" || type === "any" ? dateCell(daysSince1970(value), styles.day) : undefined;
  const isTime = type === "timestamp" || (type === "any" && isTimestampText(value));
  return (
    day ?? (isTime ? dateCell((parseTimestamp(value) ?? Number.NaN) / 86_400_000, styles.time) : undefined)
  );
}

/** A spreadsheet would round an integer of 16 digits, which is an id: it is text. */
function numberCell(value: number | bigint, isAmount: boolean): string | undefined {
  const number = Number(value);
  const isHeld = Number.isFinite(number) && !(Number.isInteger(number) && Math.abs(number) >= 1e15);
  return isHeld ? `${isAmount ? ` s="${styles.amount}"` : ""}><v>${value}</v></c>` : undefined;
}

/** 1 and 0 that show as true and false: LibreOffice makes a formula of a boolean cell. */
function booleanCell(value: number | bigint): string | undefined {
  return value === 0 || value === 1 ? ` s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

/** Days since the end of 1899. Spreadsheets disagree before March 1900, and have no dates after 9999. */
function dateCell(daysSince1970: number | undefined, style: number): string | undefined {
  const serial = (daysSince1970 ?? Number.NaN) + 25_569;
  return serial >= 61 && serial < 2_958_466 ? ` s="${style}"><v>${serial}</v></c>` : undefined;
}

export function textCell(text: string, style: number = styles.text): string {
  const xml = xmlText(text.slice(0, maxCellText));
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

export const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const sheetNamespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const packages = "http://schemas.openxmlformats.org/package/2006";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const contentType = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** A sheet, and the cells that its filter covers, such as `A1:K10`. */
export interface Sheet {
  table: string;
  range: string;
}

/** Returns `xl/workbook.xml`. Each filter has a hidden name, as Excel writes it. */
export function workbookXml(sheets: readonly Sheet[]): string {
  const list = sheets.map(({ table }, index) => {
    const number = index + 1;
    return `<sheet name="${xmlText(sheetName(table))}" sheetId="${number}" r:id="rId${number}"/>`;
  });
  const filters = sheets.map(({ table, range }, index) => {
    const cells = range.replace(/([A-Z]+)(\d+)/g, "$$$1$$$2");
    const head = `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">`;
    return `${head}${xmlText(`'${sheetName(table)}'!${cells}`)}</definedName>`;
  });
  return (
    `${xmlHead}<workbook xmlns="${sheetNamespace}" xmlns:r="${office}"><sheets>${list.join("")}</sheets>` +
    `<definedNames>${filters.join("")}</definedNames></workbook>`
  );
}

/** Returns the parts of a workbook besides `workbookXml` and its sheets: what an XLSX file needs (ECMA-376), and no more. */
export function workbookParts(sheets: readonly string[]): readonly (readonly [name: string, xml: string])[] {
  const each = (part: (name: string, number: number) => string) =>
    sheets.map((name, index) => part(name, index + 1)).join("");
  const override = (part: string, type: string) =>
    `<Override PartName="/xl/${part}.xml" ContentType="${contentType}.${type}+xml"/>`;
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`;
  const relations = (inner: string) =>
    `<Relationships xmlns="${packages}/relationships">${inner}</Relationships>`;
  const parts = {
    "[Content_Types].xml":
      `<Types xmlns="${packages}/content-types">` +
      `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
      `<Default Extension="xml" ContentType="application/xml"/>` +
      override("workbook", "sheet.main") +
      override("styles", "styles") +
      `${each((_, number) => override(`worksheets/sheet${number}`, "worksheet"))}</Types>`,
    "_rels/.rels": relations(relation(1, "officeDocument", "xl/workbook.xml")),
    "xl/_rels/workbook.xml.rels": relations(
      each((_, number) => relation(number, "worksheet", `worksheets/sheet${number}.xml`)) +
        relation(sheets.length + 1, "styles", "styles.xml"),
    ),
    "xl/styles.xml": styleSheet(),
  };
  return Object.entries(parts).map(([name, xml]) => [name, xmlHead + xml] as const);
}

function styleSheet(): string {
  const xf = (format: number, fontId = 0) =>
    `<xf numFmtId="${format}" fontId="${fontId}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`;
  // In the order of `styles`. Excel's own format 49 is text: what is typed into such a cell stays text.
  // Format 4 is `#,##0.00`.
  const cells = [xf(0), xf(49), xf(164), xf(165), xf(49, 1), xf(166), xf(4)];
  const font = (weight: string) => `<font>${weight}<sz val="11"/><name val="Calibri"/></font>`;
  return (
    `<styleSheet xmlns="${sheetNamespace}"><numFmts count="3">` +
    '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>' +
    '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/>' +
    '<numFmt numFmtId="166" formatCode="&quot;true&quot;;&quot;true&quot;;&quot;false&quot;"/></numFmts>' +
    `<fonts count="2">${font("")}${font("<b/>")}</fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${cells.length}">${cells.join("")}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}

/** Excel accepts at most 31 characters. No two tables have the same first 31. */
export function sheetName(table: string): string {
  return table.slice(0, 31);
}

/** The rows of a sheet, its header included. */
const maxSheetRows = 1_048_576;
/** Letters of XML that are compressed at a time. */
const flushLength = 256 * 1_024;

/**
 * XLSX: one sheet per table, with a frozen header and a filter. Amounts have two decimals. Dates are dates (times in UTC), numbers are numbers, ids and all other
 * text are text: no cell is a formula. Texts are written in their cells, because a table of them would have to be held.
 * @throws UsageError if a table has more rows than a sheet
 */
export function* write(sources: RowSources, { warn }: WriteOptions): Iterable<Chunk> {
  for (const source of sources) checkRows(source.name, source.count?.() ?? 0);
  const zip = openZip();
  for (const [name, xml] of workbookParts(sources.map(({ name }) => name))) {
    zip.begin(name);
    zip.write(xml);
  }
  const cut = { count: 0 };
  const sheets: Sheet[] = [];
  for (const [index, source] of sources.entries()) {
    zip.begin(`xl/worksheets/sheet${index + 1}.xml`);
    const range = yield* writeSheet(source, zip, cut);
    sheets.push({ table: source.name, range });
  }
  zip.begin("xl/workbook.xml");
  zip.write(workbookXml(sheets));
  zip.end();
  yield { data: zip.take(), rows: 0 };
  const longer = `${pluralize(cut.count, "text")} longer than a cell can be`;
  if (cut.count > 0) warn(`${longer}: cut after 32,767 letters; CSV has all of it`);
}

/** Writes a sheet. Returns the range of its cells. */
function* writeSheet(source: RowSource, zip: ZipStream, cut: { count: number }): Generator<Chunk, string> {
  const { name, columns } = source;
  const letters = columns.map((_, column) => columnLetters(column));
  let text = sheetStart(columns, letters);
  let rows = 0;
  let number = 1;
  for (const batch of source.rows())
    for (const row of batch) {
      number += 1;
      rows += 1;
      text += `<row r="${number}">`;
      for (const [column, described] of columns.entries()) {
        const value = row[column] ?? null;
        if (typeof value === "string" && value.length > maxCellText) cut.count += 1;
        if (value !== null) text += `<c r="${letters[column]}${number}"${formatCell(value, described)}`;
      }
      text += "</row>";
      if (text.length < flushLength) continue;
      checkRows(name, number - 1);
      zip.write(text);
      yield { data: zip.take(), rows, table: name };
      text = "";
      rows = 0;
    }
  checkRows(name, number - 1);
  const range = `A1:${letters.at(-1)}${number}`;
  zip.write(`${text}</sheetData><autoFilter ref="${range}"/></worksheet>`);
  yield { data: zip.take(), rows, table: name };
  return range;
}

/** Returns what a sheet has before its first row: the frozen header, and the widths of columns. */
function sheetStart(columns: readonly ReadableColumn[], letters: readonly string[]): string {
  const widths = columns.map(({ name, type }, index) => {
    const width = Math.max(name.length + 2, type === "text" || type === "timestamp" ? 20 : 12);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`;
  });
  const titles = columns.map(
    ({ name }, index) => `<c r="${letters[index]}1"${textCell(name, styles.header)}`,
  );
  return (
    `${xmlHead}<worksheet xmlns="${sheetNamespace}"><sheetViews><sheetView workbookViewId="0">` +
    `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `<cols>${widths.join("")}</cols><sheetData><row r="1">${titles.join("")}</row>`
  );
}

/** Returns `A`, `Z`, `AA` for 0, 25, 26. */
function columnLetters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? columnLetters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function checkRows(name: string, rows: number): void {
  if (rows < maxSheetRows) return;
  const hint = "take fewer with `--since` or `--limit`, or write CSV: `-o FILE.csv`";
  throw new UsageError(`\`${name}\` has more rows than a sheet holds, which are 1,048,576 with the header.`, {
    hint,
  });
}
