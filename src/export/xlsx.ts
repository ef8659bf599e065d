import { constants, crc32, deflateRawSync } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import { UsageError } from "../errors.js";
import type { RowSource, RowValue } from "../query/open-rows.js";
import type { Column } from "../resources/table-shape.js";
import { pluralize } from "../util/format-text.js";
import { dayMs, daysSince1970, isTimestampText, parseTimestamp } from "../util/timestamps.js";
import type { Chunk, EncoderOptions, RowSources } from "./formats.js";

/** The maximum number of rows in a sheet, including the header row. */
const maxSheetRows = 1_048_576;
/** The number of XML characters to buffer before compressing them. */
const flushLength = 256 * 1_024;

/**
 * Encodes tables as a workbook with one sheet per table. Each sheet has a frozen header row and a filter. Strings are
 * stored in their cells, because a table of shared strings would have to be kept in memory.
 * @throws UsageError if a table has more rows than a sheet allows
 */
export function* encode(sources: RowSources, { warn }: Pick<EncoderOptions, "warn">): Iterable<Chunk> {
  for (const { name, count } of sources) if (count) checkRows(name, count());
  const zip = new ZipWriter();
  for (const [name, xml] of workbookParts(sources.map(({ name }) => name))) {
    zip.begin(name);
    zip.write(xml);
  }
  const sheets: Sheet[] = [];
  let cutTexts = 0;
  for (const [index, source] of sources.entries()) {
    zip.begin(`xl/worksheets/sheet${index + 1}.xml`);
    const sheet = yield* encodeSheet(source, zip);
    sheets.push({ table: source.name, range: sheet.range });
    cutTexts += sheet.cutTexts;
  }
  zip.begin("xl/workbook.xml");
  zip.write(workbookXml(sheets));
  zip.end();
  yield { data: zip.take() };
  if (cutTexts > 0)
    warn(
      `${pluralize(cutTexts, "cell")} truncated to 32,767 characters, the spreadsheet limit; export as CSV to get the complete text`,
    );
}

/** Encodes a sheet. Returns its cell range and the number of truncated strings. */
function* encodeSheet(
  source: RowSource,
  zip: ZipWriter,
): Generator<Chunk, { range: string; cutTexts: number }> {
  const { name, columns } = source;
  const letters = columns.map((_, column) => columnLetters(column));
  let text = sheetStart(columns, letters);
  let rows = 0;
  let number = 1;
  let cutTexts = 0;
  for (const batch of source.batches())
    for (const row of batch) {
      number += 1;
      rows += 1;
      text += `<row r="${number}">`;
      for (const [column, described] of columns.entries()) {
        const value = row[column] ?? null;
        if (typeof value === "string" && value.length > maxCellText) cutTexts += 1;
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
  return { range, cutTexts };
}

function sheetStart(columns: readonly Column[], letters: readonly string[]): string {
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

/** Returns a column's letters: `A` for 0, `Z` for 25, `AA` for 26. */
function columnLetters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? columnLetters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function checkRows(name: string, rows: number): void {
  if (rows < maxSheetRows) return;
  const hint = "select fewer with `--since` or `--limit`, or write CSV: `-o FILE.csv`";
  throw new UsageError(`\`${name}\` has more rows than a sheet can hold (1,048,576, including the header).`, {
    hint,
  });
}

/** The maximum length of a cell's text. Spreadsheets report files with longer text as damaged. */
const maxCellText = 32_767;

/**
 * Returns a cell's XML without the opening `<c` and the cell reference, or an empty string for null. A value that does
 * not fit the column's type is written as text.
 */
export function formatCell(value: RowValue, column: CellColumn): string {
  if (value === null) return "";
  return typedCell(value, column) ?? textCell(String(value));
}

type CellColumn = Pick<Column, "type" | "isAmount">;

function typedCell(value: Exclude<RowValue, null>, { type, isAmount }: CellColumn): string | undefined {
  if (type === "text" || type === "json") return undefined;
  if (typeof value !== "string")
    return type === "boolean" ? booleanCell(value) : numberCell(value, isAmount === true);
  const day = type === "date" || type === "any" ? dateCell(daysSince1970(value), styles.day) : undefined;
  const isTime = type === "timestamp" || (type === "any" && isTimestampText(value));
  return day ?? (isTime ? dateCell((parseTimestamp(value) ?? Number.NaN) / dayMs, styles.time) : undefined);
}

/** Returns undefined for integers with 16 or more digits, because spreadsheets would round them. */
function numberCell(value: number | bigint, isAmount: boolean): string | undefined {
  const number = Number(value);
  const fits = Number.isFinite(number) && !(Number.isInteger(number) && Math.abs(number) >= 1e15);
  return fits ? `${isAmount ? ` s="${styles.amount}"` : ""}><v>${value}</v></c>` : undefined;
}

/**
 * Encodes a boolean as a number that is displayed as true or false, because LibreOffice turns boolean cells into
 * formulas.
 */
function booleanCell(value: number | bigint): string | undefined {
  return value === 0 || value === 1 ? ` s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

/**
 * Spreadsheets count days from the end of 1899. They disagree about dates before March 1900, and support none after
 * 9999.
 */
function dateCell(daysSince1970: number | undefined, style: number): string | undefined {
  const serial = (daysSince1970 ?? Number.NaN) + 25_569;
  return serial >= 61 && serial < 2_958_466 ? ` s="${style}"><v>${serial}</v></c>` : undefined;
}

function textCell(text: string, style: number = styles.text): string {
  const xml = escapeXml(text.slice(0, maxCellText));
  return ` t="inlineStr" s="${style}"><is><t xml:space="preserve">${xml}</t></is></c>`;
}

/** The maximum size of a ZIP entry without the ZIP64 extension. */
const maxEntryBytes = 2 ** 32 - 1;
/** Higher compression levels are much slower and save little space. */
const compressionLevel = 3;

/**
 * Writes a ZIP file with fflate, but compresses its entries with Node's zlib, which is several times faster than
 * fflate.
 */
class ZipWriter {
  #output: Uint8Array[] = [];
  #entry: ZipInputFile | undefined;
  readonly #zip = new Zip((error, data) => {
    if (error) throw error;
    this.#output.push(data);
  });

  begin(name: string): void {
    this.#endEntry();
    // A fixed modification time makes the file reproducible.
    this.#entry = { filename: name, size: 0, crc: 0, compression: 8, mtime: new Date(2000, 0, 1) };
    this.#zip.add(this.#entry);
  }

  write(text: string): void {
    const entry = this.#entry;
    if (!entry) throw new Error("no entry has been started");
    const data = Buffer.from(text);
    entry.size += data.length;
    if (entry.size > maxEntryBytes)
      throw new UsageError("A sheet is larger than 4 GB.", { hint: "write CSV: `-o FILE.csv`" });
    entry.crc = crc32(data, entry.crc);
    const compressed = deflateRawSync(data, {
      level: compressionLevel,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    entry.ondata?.(null, compressed, false);
  }

  end(): void {
    this.#endEntry();
    this.#zip.end();
  }

  /** Returns the bytes written since the previous call. */
  take(): Uint8Array {
    const bytes = Buffer.concat(this.#output);
    this.#output = [];
    return bytes;
  }

  #endEntry(): void {
    this.#entry?.ondata?.(null, deflateRawSync(new Uint8Array()), true);
  }
}

const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const sheetNamespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const packages = "http://schemas.openxmlformats.org/package/2006";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const contentType = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** The index of each cell style in `xl/styles.xml`. */
const styles = { text: 1, day: 2, time: 3, header: 4, yesNo: 5, amount: 6 } as const;

/** A sheet and the range that its filter covers, such as `A1:K10`. */
interface Sheet {
  table: string;
  range: string;
}

/** Returns the sheet name for a table. Excel allows 31 characters, which are enough to distinguish all tables. */
export function sheetName(table: string): string {
  return table.slice(0, 31);
}

/** Returns `xl/workbook.xml`. Excel requires a hidden defined name for each filter. */
function workbookXml(sheets: readonly Sheet[]): string {
  const list = sheets.map(({ table }, index) => {
    const number = index + 1;
    return `<sheet name="${escapeXml(sheetName(table))}" sheetId="${number}" r:id="rId${number}"/>`;
  });
  const filters = sheets.map(({ table, range }, index) => {
    const cells = range.replace(/([A-Z]+)(\d+)/g, "$$$1$$$2");
    const head = `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">`;
    return `${head}${escapeXml(`'${sheetName(table)}'!${cells}`)}</definedName>`;
  });
  return (
    `${xmlHead}<workbook xmlns="${sheetNamespace}" xmlns:r="${office}"><sheets>${list.join("")}</sheets>` +
    `<definedNames>${filters.join("")}</definedNames></workbook>`
  );
}

/**
 * Returns the files that every workbook must contain in addition to its sheets (ECMA-376).
 * @param sheets the names of the tables
 */
function workbookParts(sheets: readonly string[]): readonly (readonly [name: string, xml: string])[] {
  const forEachSheet = (part: (name: string, number: number) => string) =>
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
      `${forEachSheet((_, number) => override(`worksheets/sheet${number}`, "worksheet"))}</Types>`,
    "_rels/.rels": relations(relation(1, "officeDocument", "xl/workbook.xml")),
    "xl/_rels/workbook.xml.rels": relations(
      forEachSheet((_, number) => relation(number, "worksheet", `worksheets/sheet${number}.xml`)) +
        relation(sheets.length + 1, "styles", "styles.xml"),
    ),
    "xl/styles.xml": styleSheet(),
  };
  return Object.entries(parts).map(([name, xml]) => [name, xmlHead + xml] as const);
}

function styleSheet(): string {
  const xf = (format: number, fontId = 0) =>
    `<xf numFmtId="${format}" fontId="${fontId}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`;
  // The number formats, in the order of `styles`. Format 49 is text, and format 4 is `#,##0.00`.
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

/**
 * Escapes text for XML. Characters that XML does not allow are written as `_x0000_`, with their code in hexadecimal.
 */
function escapeXml(text: string): string {
  if (/^[\w ./:,+-]*$/.test(text) && !text.includes("_x")) return text;
  return (
    text
      .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: matches the control characters that XML 1.0 forbids
      .replace(/[\0-\x08\x0b-\x1f\ufffe\uffff]/g, (sign) => `_x${hex(sign)}_`)
      .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  );
}

const hex = (sign: string) => sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase();
