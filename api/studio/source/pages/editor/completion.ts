/** Completion inside of values: styles, colours, filters, and the data of the template. */

import { type Completion, type CompletionContext, type CompletionResult, insertCompletionText } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { EditorView } from "@codemirror/view";
import type { SyntaxNode } from "@lezer/common";
import { askAll } from "../../lib/api";
import { isObject } from "../../lib/template-data";
import { readData } from "./declarations";
import { describeValue, membersAt, namesAt } from "./data-paths";
import { findAttribute, VOCABULARY } from "./vocabulary";

const KEPT_MILLISECONDS = 20_000;
const NAMED_COLOUR = "name of a color element";

/** Create the source of completions; `payload` returns the current sample data as JSON, empty if it is not. */
export function valueCompletion(payload: () => string) {
  return (context: CompletionContext): CompletionResult | null | Promise<CompletionResult | null> => {
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
    const stored = STORED.find((kind) => attribute.spec?.accepts.includes(`stored ${kind}`));
    if (stored) return offerStored(context, stored);
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

const STORED = ["image", "font"] as const;
const kept = new Map<string, { until: number; names: Promise<string[]> }>();

/** Offer the images or fonts of the workspace; nothing where they cannot be read. */
async function offerStored(context: CompletionContext, kind: (typeof STORED)[number]): Promise<CompletionResult | null> {
  const now = Date.now();
  const known = kept.get(kind);
  const names = known && known.until > now ? known.names : askAll<{ name: string }>(`/v2/${kind}s`, `${kind}s`).then((all) => all.map(({ name }) => name), () => []);
  kept.set(kind, { until: known && known.until > now ? known.until : now + KEPT_MILLISECONDS, names });
  return offer(context, /[\w-]*$/, (await names).map((label) => ({ label, type: "constant" })));
}

/** Create the source of completions of a sample in JSON: the members that the data of the template have at the place. */
export function memberCompletion(template: () => string) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const node = syntaxTree(state).resolveInner(pos, -1);
    const typed = node.name === "PropertyName" ? node : null;
    const object = typed ? typed.parent?.parent : node.name === "Object" || node.name === "{" ? (node.name === "{" ? node.parent : node) : null;
    if (object?.name !== "Object" || (!typed && !explicit)) return null;
    const nameOf = (property: SyntaxNode) => state.sliceDoc((property.firstChild?.from ?? 0) + 1, (property.firstChild?.to ?? 0) - 1);
    const path: string[] = [];
    for (let outer = object.parent; outer; outer = outer.parent) if (outer.name === "Property") path.unshift(nameOf(outer));
    let at: unknown = readData(template(), "");
    for (const name of path) {
      at = isObject(at) ? at[name] : undefined;
      if (Array.isArray(at)) at = Object.assign({}, ...at.filter(isObject));
    }
    if (!isObject(at)) return null;
    const written = object.getChildren("Property").map(nameOf);
    const follows = typed && /^\s*:/.test(state.sliceDoc(typed.to, typed.to + 20));
    const options = Object.entries(at)
      .filter(([name]) => !written.includes(name))
      .map(([name, value]) => {
        const label = JSON.stringify(name);
        const insert = follows ? label : `${label}: `;
        // The quote that closes what is typed was inserted with the one that opens it.
        const apply = (view: EditorView, _: Completion, from: number, to: number) =>
          view.dispatch(insertCompletionText(view.state, insert, from, view.state.sliceDoc(to, to + 1) === '"' ? to + 1 : to));
        return { label, type: "property", detail: describeValue(value), apply };
      });
    return options.length > 0 ? { from: typed?.from ?? pos, options } : null;
  };
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
