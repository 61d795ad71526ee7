/** Completion inside of values: styles, colours, filters, and the data of the template. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { SyntaxNode } from "@lezer/common";
import { readData } from "../../lib/template-data";
import { describeValue, membersAt, namesAt } from "./data-paths";
import { findAttribute, VOCABULARY } from "./vocabulary";

const NAMED_COLOUR = "name of a color element";

/** Create the source of completions; `payload` returns the current sample data as JSON, empty if it is not. */
export function valueCompletion(payload: () => string) {
  return (context: CompletionContext): CompletionResult | null => {
    const { state, pos } = context;
    const node = syntaxTree(state).resolveInner(pos, -1);
    const value = node.name === "AttributeValue" ? node : null;
    const from = value ? value.from + 1 : Math.max(node.from, pos - 2000);
    const before = state.sliceDoc(from, pos);
    const open = before.lastIndexOf("{{");
    const isInBraces = open > before.lastIndexOf("}}");
    const attribute = value && describeAttribute(context, value);
    if (isInBraces) return completeExpression(context, before.slice(open + 2), payload());
    if (!value || !attribute) return null;
    if (attribute.spec?.expression) return completeExpression(context, before, payload());
    if (attribute.name === "class") return offer(context, /[\w.-]*$/, declared(context, "style"));
    if (attribute.spec?.accepts.includes(NAMED_COLOUR)) return offer(context, /[\w.-]*$/, declared(context, "color"));
    return null;
  };
}

function describeAttribute({ state }: CompletionContext, value: SyntaxNode) {
  const name = value.parent?.getChild("AttributeName");
  const tag = value.parent?.parent?.getChild("TagName");
  if (!name || !tag) return null;
  const written = state.sliceDoc(name.from, name.to);
  return { name: written, spec: findAttribute(state.sliceDoc(tag.from, tag.to), written) };
}

function offer(context: CompletionContext, word: RegExp, options: Completion[]): CompletionResult | null {
  const typed = context.matchBefore(word);
  return options.length > 0 ? { from: typed?.from ?? context.pos, options, validFor: /^[\w.-]*$/ } : null;
}

/** The names that elements of a kind declare in the template. */
function declared({ state }: CompletionContext, element: "style" | "color"): Completion[] {
  const tags = state.doc.toString().matchAll(new RegExp(`<${element}\\b([^>]*)`, "g"));
  const names = new Map<string, string>();
  for (const [, attributes = ""] of tags) {
    const name = /\bname="([\w.-]+)"/.exec(attributes)?.[1];
    if (name) names.set(name, attributes.replace(/\bname="[^"]*"/, "").replace(/\s+/g, " ").replace(/\/$/, "").trim());
  }
  return [...names].map(([label, info]) => ({ label, type: "class", ...(info && { info }) }));
}

function completeExpression(context: CompletionContext, text: string, payload: string): CompletionResult | null {
  const { state, pos } = context;
  const filter = /\|\s*([\w-]*)$/.exec(text);
  if (filter) return { from: pos - (filter[1] ?? "").length, options: FILTERS, validFor: /^[\w-]*$/ };
  const path = /([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.)?([A-Za-z_]\w*)?$/.exec(text);
  const [, parents = "", typed = ""] = path ?? [];
  if (!parents && !typed && !context.explicit && !/(?:\{\{|[\s(,|+*/-])$/.test(`{{${text}`.slice(-3))) return null;
  const names = namesAt(state, pos, readData(state.doc.toString(), payload));
  const found = parents ? Object.entries(membersAt(names, parents.slice(0, -1).split(".")) ?? {}) : [...names];
  const options = found
    .filter(([label]) => /^[A-Za-z_]\w*$/.test(label))
    .map(([label, value]) => ({ label, type: Array.isArray(value) ? "enum" : "property", detail: describeValue(value) }));
  return options.length > 0 ? { from: pos - typed.length, options, validFor: /^\w*$/ } : null;
}

const FILTERS: Completion[] = Object.entries(VOCABULARY.filters).map(([label, { usage, doc }]) => ({
  label,
  type: "function",
  detail: usage === label ? "" : usage.slice(label.length),
  info: doc,
}));
