/** The language of templates in the editor: completion, and descriptions under the pointer. */

import { type Completion, startCompletion } from "@codemirror/autocomplete";
import { type AttrSpec, type ElementSpec, xml, xmlLanguage } from "@codemirror/lang-xml";
import { syntaxTree } from "@codemirror/language";
import { type EditorView, hoverTooltip, keymap } from "@codemirror/view";
import type { SyntaxNode } from "@lezer/common";
import { valueCompletion } from "./completion";
import { type Attribute, attributesOf, explain, findAttribute, VOCABULARY } from "./vocabulary";

const ROOT = "document";

/** The XML language with the elements of templates, each where it is allowed, and completion of values. */
export function templateLanguage(payload: () => string) {
  const elements = Object.entries(VOCABULARY.elements).map(
    ([name, element]): ElementSpec => ({
      name,
      top: name === ROOT,
      // An element with the content model of its parent accepts all elements.
      ...(element.parent ? {} : { children: element.children }),
      attributes: attributesOf(element).map(([attribute, spec]) => describeForCompletion(attribute, spec)),
      completion: { info: element.doc },
    }),
  );
  return [xml({ elements }), xmlLanguage.data.of({ autocomplete: valueCompletion(payload) })];
}

function describeForCompletion(name: string, attribute: Attribute): AttrSpec {
  return {
    name,
    ...(attribute.words ? { values: attribute.words } : {}),
    completion: { info: explain(attribute), apply: insertAttribute, ...(attribute.required ? { boost: 2 } : {}) },
  };
}

/** Insert an attribute with an empty value, and offer the values for it. */
function insertAttribute(view: EditorView, { label }: Completion, from: number, to: number): void {
  const isWritten = view.state.sliceDoc(to, to + 1) === "=";
  const insert = isWritten ? label : `${label}=""`;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length - (isWritten ? 0 : 1) }, userEvent: "input.complete" });
  if (!isWritten) startCompletion(view);
}

/** The description of the element, attribute or filter under the pointer. */
export const descriptions = hoverTooltip((view, at) => {
  const found = find(view, at);
  if (!found) return null;
  return {
    pos: found.from,
    end: found.to,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "description";
      const title = document.createElement("b");
      title.textContent = found.title;
      dom.append(title, ` ${found.text}`);
      return { dom };
    },
  };
});

/** F1 opens the page of the language about the element at the cursor, else about its beginning. */
export const help = keymap.of([
  {
    key: "F1",
    run: ({ state }) => {
      let node: SyntaxNode | null = syntaxTree(state).resolveInner(state.selection.main.head, -1);
      while (node && !node.getChild("TagName") && !node.firstChild?.getChild("TagName")) node = node.parent;
      const tag = node?.getChild("TagName") ?? node?.firstChild?.getChild("TagName");
      const name = tag ? state.sliceDoc(tag.from, tag.to) : "";
      open(`/docs/language${name in VOCABULARY.elements ? `/${name}` : ""}`, "_blank", "noopener");
      return true;
    },
  },
]);

function find(view: EditorView, at: number) {
  const node = syntaxTree(view.state).resolveInner(at, -1);
  const text = view.state.sliceDoc(node.from, node.to);
  if (node.name === "TagName") {
    const element = VOCABULARY.elements[text];
    return element ? { from: node.from, to: node.to, title: text, text: element.doc } : null;
  }
  if (node.name !== "AttributeName") return findFilter(view, at);
  const tag = node.parent?.parent?.getChild("TagName");
  const attribute = tag && findAttribute(view.state.sliceDoc(tag.from, tag.to), text);
  return attribute ? { from: node.from, to: node.to, title: text, text: explain(attribute) } : null;
}

function findFilter(view: EditorView, at: number) {
  const line = view.state.doc.lineAt(at);
  for (const each of line.text.matchAll(/\|\s*([\w-]+)/g)) {
    const name = each[1] ?? "";
    const from = line.from + each.index + each[0].length - name.length;
    const filter = from <= at && at <= from + name.length ? VOCABULARY.filters[name] : undefined;
    if (filter) return { from, to: from + name.length, title: filter.usage, text: filter.doc };
  }
  return null;
}
