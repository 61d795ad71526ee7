/** Insertion of common elements into a template: each at a place where it is allowed, as one step to undo. */

import { isolateHistory } from "@codemirror/commands";
import { syntaxTree } from "@codemirror/language";
import type { EditorView } from "@codemirror/view";
import type { SyntaxNode } from "@lezer/common";
import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load";
import { t } from "../../lib/messages";
import type { Account } from "../../lib/types";
import { askPictures } from "../files";
import type { ListSpec } from "./declarations";

const KINDS = ["section", "table", "total", "chart", "barcode", "payment", "date", "pageNumber"] as const;
type Kind = (typeof KINDS)[number];

const OF_LISTS = new Set<Kind>(["table", "total", "chart"]);
const MOST_COLUMNS = 8;
const IMAGE = "image:";

export function InsertMenu({ account, view, lists }: { account: Account; view: () => EditorView | null; lists: ListSpec[] }) {
  const [chosen, setChosen] = useState<string>(KINDS[0]);
  const images = useLoad(async () => (account.has_workspace ? askPictures({ most: 200 }) : []), []);
  const list = lists.find(({ fields }) => fields.length > 0);
  const number = list?.fields.find(({ type }) => type === "decimal" || type === "integer");
  const isPossible = (kind: Kind) => !OF_LISTS.has(kind) || (list !== undefined && (kind === "table" || number !== undefined));
  const insert = () => {
    const editor = view();
    if (!editor) return;
    if (chosen === "pageNumber") return insertFooter(editor);
    const text = chosen.startsWith(IMAGE) ? `<img src="${chosen.slice(IMAGE.length)}" height="20mm" alt=""/>` : write(chosen as Kind, list);
    insertBlock(editor, text);
  };
  return (
    <div class="insert">
      <select aria-label={t("insert.what")} value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
        {KINDS.map((kind) => (
          <option key={kind} value={kind} disabled={!isPossible(kind)}>
            {t(`insert.${kind}`)}
          </option>
        ))}
        {images.data && images.data.length > 0 && (
          <optgroup label={t("insert.images")}>
            {images.data.map(({ name }) => (
              <option key={name} value={IMAGE + name}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </select>
      <button type="button" onClick={insert}>
        {t("insert.action")}
      </button>
    </div>
  );
}

function write(kind: Kind, list: ListSpec | undefined): string {
  const path = list?.path.join(".") ?? "";
  const fields = (list?.fields ?? []).slice(0, MOST_COLUMNS);
  const number = fields.find(({ type }) => type === "decimal" || type === "integer")?.path.join(".") ?? "";
  const name = (fields.find(({ type }) => type === "string") ?? fields[0])?.path.join(".") ?? "";
  const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;").replace(/\{\{/g, "{ {");
  const label = escape(fields.find((each) => each.path.join(".") === number)?.label ?? "");
  switch (kind) {
    case "section":
      return `<h2>${t("insert.heading")}</h2>\n<p>${t("insert.text")}</p>`;
    case "table":
      return [
        '<table cell-padding="1mm 2mm" margin-top="4mm">',
        `  <thead><tr>${fields.map((each) => `<th>${escape(each.label)}</th>`).join("")}</tr></thead>`,
        `  <tr for="row in ${path}">${fields.map((each) => `<td>{{ row.${each.path.join(".")} }}</td>`).join("")}</tr>`,
        "</table>",
      ].join("\n");
    case "total":
      return `<p text-align="end" font-weight="bold">{{ ${path} | sum('${number}') | number }}</p>`;
    case "chart":
      return `<chart type="column" data="row in ${path}" x="row.${name}" y="row.${number}" height="50mm" alt="${label}"/>`;
    case "barcode":
      return '<barcode type="qr" value="https://example.com" width="25mm" alt="https://example.com"/>';
    case "payment":
      return `<barcode type="epc-qr" width="26mm" alt="IBAN"\n  value="{{ {'name': 'Name', 'iban': 'DE02120300000000202051', 'amount': 10, 'text': 'Text'} }}"/>`;
    case "date":
      return "<p>{{ today | date('long') }}</p>";
    case "pageNumber":
      return '<p text-align="center">{{ page.number }} / {{ page.count }}</p>';
  }
}

/** Insert a block after the one at the cursor, or at the end of the first flow where the cursor is in none. */
function insertBlock(editor: EditorView, text: string): void {
  const inside = ["flow", "div"];
  for (let node: SyntaxNode | null = syntaxTree(editor.state).resolveInner(editor.state.selection.main.head, -1); node; node = node.parent) {
    if (node.name === "Element" && node.parent && inside.includes(tagOf(editor, node.parent))) return put(editor, node.to, `\n${indent(editor, node.from, text)}`);
  }
  const flow = findElement(editor, "flow");
  if (flow) append(editor, flow, "flow", text);
}

/** Insert the page number into the footer of the first page master, which is made where there is none. */
function insertFooter(editor: EditorView): void {
  const text = write("pageNumber", undefined);
  const page = findElement(editor, "page");
  const footer = page && findElement(editor, "footer", page);
  const flow = findElement(editor, "flow");
  if (footer) append(editor, footer, "footer", text);
  else if (page) append(editor, page, "page", `<footer>${text}</footer>`);
  else if (flow) put(editor, flow.from, `<page>\n  <footer>${text}</footer>\n</page>\n`);
}

/** Add text at the end of an element, which is opened if it is empty. */
function append(editor: EditorView, element: SyntaxNode, tag: string, text: string): void {
  const close = element.getChild("CloseTag");
  if (close) return put(editor, close.from, `${indent(editor, element.from, `  ${text}`)}\n`);
  const changes = { from: element.to - 2, to: element.to, insert: `>\n${indent(editor, element.from, `  ${text}`)}\n</${tag}>` };
  editor.dispatch({ changes, annotations: isolateHistory.of("full"), scrollIntoView: true });
}

function put(editor: EditorView, at: number, insert: string): void {
  const caret = at + insert.length - (insert.endsWith("\n") ? 1 : 0);
  editor.dispatch({ changes: { from: at, insert }, selection: { anchor: caret }, annotations: isolateHistory.of("full"), scrollIntoView: true });
}

/** Indent the lines of a text as the line at a position. */
function indent(editor: EditorView, at: number, text: string): string {
  const space = /^\s*/.exec(editor.state.doc.lineAt(at).text)?.[0] ?? "";
  return text.replace(/^/gm, space);
}

function findElement(editor: EditorView, tag: string, within: SyntaxNode = syntaxTree(editor.state).topNode): SyntaxNode | null {
  for (let child = within.firstChild; child; child = child.nextSibling) {
    if (child.name !== "Element") continue;
    const found: SyntaxNode | null = tagOf(editor, child) === tag ? child : within.name === "Element" && tagOf(editor, within) !== "document" ? null : findElement(editor, tag, child);
    if (found) return found;
  }
  return null;
}

function tagOf(editor: EditorView, element: SyntaxNode): string {
  const name = (element.getChild("OpenTag") ?? element.getChild("SelfClosingTag"))?.getChild("TagName");
  return name ? editor.state.sliceDoc(name.from, name.to) : "";
}
