/** Workbooks of one sheet (ECMA-376), whose cells are texts: nothing in them is a formula. */

import { strToU8, zipSync } from "fflate";

export const WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PARTS = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const MOST_CHARACTERS = 32_767; // of a cell
const MOST_WIDTH = 60; // of a column, in characters

/** Return a workbook with the rows in a sheet of that name; the first row stays in sight. */
export function writeWorkbook(name: string, rows: string[][]): Uint8Array<ArrayBuffer> {
  const parts = {
    "[Content_Types].xml": `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${PARTS}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${PARTS}.worksheet+xml"/></Types>`,
    "_rels/.rels": relate("officeDocument", "xl/workbook.xml"),
    "xl/_rels/workbook.xml.rels": relate("worksheet", "worksheets/sheet1.xml"),
    "xl/workbook.xml": `<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="${escape(name.slice(0, 31))}" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/worksheets/sheet1.xml": writeSheet(rows),
  };
  return zipSync(Object.fromEntries(Object.entries(parts).map(([path, part]) => [path, strToU8(HEAD + part)])));
}

function relate(type: string, target: string): string {
  return `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${OFFICE}/${type}" Target="${target}"/></Relationships>`;
}

function writeSheet(rows: string[][]): string {
  const columns = (rows[0] ?? []).map((_, at) => {
    const longest = rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 8);
    return `<col min="${at + 1}" max="${at + 1}" width="${Math.min(longest, MOST_WIDTH) + 2}" customWidth="1"/>`;
  });
  const cell = (text: string, at: string) => `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escape(text.slice(0, MOST_CHARACTERS))}</t></is></c>`;
  // Readers need no `r` by the standard; some do.
  const written = rows.map((row, at) => `<row r="${at + 1}">${row.map((text, column) => cell(text, `${nameColumn(column)}${at + 1}`)).join("")}</row>`);
  const view = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>';
  return `<worksheet ${MAIN}>${view}<cols>${columns.join("")}</cols><sheetData>${written.join("")}</sheetData></worksheet>`;
}

function nameColumn(at: number): string {
  return (at >= 26 ? nameColumn(Math.floor(at / 26) - 1) : "") + String.fromCharCode(65 + (at % 26));
}

/** Escape a text for XML 1.0, without the characters that it has no way to write. */
function escape(text: string): string {
  const allowed = text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
  return allowed.replace(/[&<>"\r]/g, (one) => `&#${one.charCodeAt(0)};`);
}
