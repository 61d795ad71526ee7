/** Reading and writing of CSV (RFC 4180), as the service reads it. */

const DELIMITERS = [",", ";", "\t", "|"];

export interface Table {
  columns: string[];
  rows: string[][];
}

/** A text that is not CSV, with the line of the fault. */
export class CsvError extends Error {
  constructor(readonly line: number) {
    super();
  }
}

/** Decode the bytes of a CSV file: Unicode with or without a mark, else Windows-1252, as Excel writes it. */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  if (mark === 0xfffe || mark === 0xfeff) return new TextDecoder(mark === 0xfffe ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Read a table whose first row names the columns; blank lines are skipped. @throws CsvError */
export function readCsv(text: string): Table {
  const first = /^[^\r\n]*/.exec(text.trimStart())?.[0].replace(/"[^"]*"/g, "") ?? "";
  const delimiter = DELIMITERS.reduce((best, each) => (first.split(each).length > first.split(best).length ? each : best));
  const rows = readRows(text, delimiter);
  return { columns: (rows[0] ?? []).map((name) => name.trim()), rows: rows.slice(1) };
}

function readRows(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let line = 1;
  let at = 0;
  const endRow = () => {
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      const opened = line;
      for (;;) {
        const end = text.indexOf('"', at + 1);
        if (end < 0) throw new CsvError(opened);
        const piece = text.slice(at + 1, end);
        cell += piece;
        line += piece.split("\n").length - 1;
        at = end + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
      if (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") throw new CsvError(line);
    } else {
      const from = at;
      while (at < text.length && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") at += 1;
      cell = text.slice(from, at);
    }
    row.push(cell);
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) row.push("");
      continue;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    line += 1;
    endRow();
  }
  if (row.length > 0) endRow();
  return rows;
}

/** Write a table with commas. */
export function writeCsv({ columns, rows }: Table): string {
  const write = (cell: string) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  // A row of one empty cell would be a blank line.
  const join = (cells: string[]) => (cells.length === 1 && cells[0] === "" ? '""' : cells.map(write).join(","));
  return `${[columns, ...rows].map(join).join("\r\n")}\r\n`;
}
