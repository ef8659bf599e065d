import { xmlText } from "./sheet-cells.js";

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
