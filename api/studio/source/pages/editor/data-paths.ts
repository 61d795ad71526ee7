/** The names that expressions of a template can use: its data, its values, and the variables of loops. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import { type Data, isObject } from "../../lib/template-data";

const LOOP = /^\s*([A-Za-z_]\w*)(?:\s*,\s*([A-Za-z_]\w*))?\s+in\s+([A-Za-z_][\w.]*)/;
const PAGE = { number: 1, count: 1, index: 1, total: 1, first: true, last: true, odd: true, even: false, blank: false, name: "" };

/** Return the value of each name at a position: those of the data, and the variables of the loops around. */
export function namesAt(state: EditorState, at: number, data: Data): Map<string, unknown> {
  const names = new Map<string, unknown>(Object.entries(data));
  for (const [, name] of state.doc.toString().matchAll(/<running\b[^>]*?\bname="([A-Za-z_]\w*)"/g)) {
    if (name) names.set("running", { ...(names.get("running") as Data | undefined), [name]: null });
  }
  names.set("page", PAGE);
  for (const loop of loopsAround(state, at)) {
    const parts = LOOP.exec(loop);
    const [, first, second, path] = parts ?? [];
    if (!first || !path) continue;
    const list = follow(names, path.split("."));
    const item = Array.isArray(list) ? mergeItems(list) : isObject(list) ? Object.values(list)[0] : undefined;
    names.set(second ?? first, item);
    if (second) names.set(first, "key");
    names.set("loop", { index: 1, first: true, last: false, length: 1 });
  }
  return names;
}

/** The `for` attributes of the elements around a position, outermost first. */
function loopsAround(state: EditorState, at: number): string[] {
  const found: string[] = [];
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, -1); node; node = node.parent) {
    const tag = node.name === "Element" ? (node.getChild("OpenTag") ?? node.getChild("SelfClosingTag")) : null;
    for (const attribute of tag?.getChildren("Attribute") ?? []) {
      const name = attribute.getChild("AttributeName");
      const value = attribute.getChild("AttributeValue");
      if (name && value && state.sliceDoc(name.from, name.to) === "for") found.unshift(state.sliceDoc(value.from + 1, value.to - 1));
    }
  }
  return found;
}

/** Return the members of a value at a path of names, as an object; null if it has none. */
export function membersAt(names: Map<string, unknown>, path: string[]): Data | null {
  const found = follow(names, path);
  if (Array.isArray(found)) return null;
  return isObject(found) ? found : null;
}

function follow(names: Map<string, unknown>, path: string[]): unknown {
  const [first, ...rest] = path;
  let value = first === undefined ? undefined : names.get(first);
  for (const name of rest) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** Items may leave out members: together they have all of them. */
function mergeItems(list: unknown[]): unknown {
  const objects = list.slice(0, 20).filter(isObject);
  return objects.length > 0 ? Object.assign({}, ...objects.toReversed()) : list[0];
}

/** Describe a value in a few words. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return `[${value.length}]`;
  if (isObject(value)) return "{…}";
  const text = JSON.stringify(value);
  return text.length > 30 ? `${text.slice(0, 29)}…` : text;
}
