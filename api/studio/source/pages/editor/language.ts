/** Completion and hover for elements and attributes, from the engine's vocabulary. */

import { type AttrSpec, type ElementSpec, xml } from "@codemirror/lang-xml";
import { syntaxTree } from "@codemirror/language";
import { type EditorView, hoverTooltip } from "@codemirror/view";
import written from "../../vocabulary.json";

interface Attribute {
  doc: string;
  accepts: string;
  words?: string[];
  default?: string;
  required?: boolean;
}

interface Element {
  doc: string;
  children: string[];
  own: Record<string, Attribute>;
  shared: string[];
  parent?: boolean;
}

const VOCABULARY = written as unknown as { elements: Record<string, Element>; shared: Record<string, Attribute> };
const ROOT = "document";

/** The XML language with the elements of templates, each where it is allowed. */
export function templateLanguage() {
  const elements = Object.entries(VOCABULARY.elements).map(([name, element]): ElementSpec => {
    const attributes = [...Object.entries(element.own), ...element.shared.map((each) => [each, sharedOf(each)] as const)];
    return {
      name,
      top: name === ROOT,
      // An element with the content model of its parent accepts all elements.
      ...(element.parent ? {} : { children: element.children }),
      attributes: attributes.map(([attribute, spec]) => describeForCompletion(attribute, spec)),
      completion: { info: element.doc },
    };
  });
  return xml({ elements });
}

function sharedOf(name: string): Attribute {
  return VOCABULARY.shared[name] ?? { doc: "", accepts: "" };
}

function describeForCompletion(name: string, attribute: Attribute): AttrSpec {
  return {
    name,
    ...(attribute.words ? { values: attribute.words } : {}),
    completion: { info: explain(attribute), ...(attribute.required ? { boost: 2 } : {}) },
  };
}

function explain(attribute: Attribute): string {
  const standard = attribute.default === undefined ? "" : ` Default: ${attribute.default}.`;
  return `${attribute.doc}${standard} Accepts ${attribute.accepts}.`;
}

/** The description of the element or attribute under the pointer. */
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

function find(view: EditorView, at: number) {
  const node = syntaxTree(view.state).resolveInner(at, -1);
  const text = view.state.sliceDoc(node.from, node.to);
  if (node.name === "TagName") {
    const element = VOCABULARY.elements[text];
    return element ? { from: node.from, to: node.to, title: text, text: element.doc } : null;
  }
  if (node.name !== "AttributeName") return null;
  const tag = node.parent?.parent?.getChild("TagName");
  const owner = tag && VOCABULARY.elements[view.state.sliceDoc(tag.from, tag.to)];
  const attribute = owner ? (owner.own[text] ?? (owner.shared.includes(text) ? sharedOf(text) : undefined)) : undefined;
  return attribute ? { from: node.from, to: node.to, title: text, text: explain(attribute) } : null;
}
