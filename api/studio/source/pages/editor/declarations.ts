/** What a template lets people set: its settings, and the fields and lists of its data, as its text declares them. */

import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/xml";
import { type Data, isObject, overlay, parse, readExample } from "../../lib/template-data";
import type { Base } from "./bases";

export interface Setting {
  name: string;
  type: string;
  label: string;
  value: string;
  /** The only values allowed; any of the type where there are none. */
  values: string[];
  /** Whether a template that this one extends does not let it change. */
  isFinal: boolean;
}

export interface FieldSpec {
  path: string[];
  /** A type of the language, or `lines` for a list of texts. */
  type: string;
  label: string;
  isRequired: boolean;
  values: string[];
}

export interface ListSpec extends FieldSpec {
  fields: FieldSpec[];
}

/** Fields of one record, such as the buyer; `name` is empty at the top. */
export interface FieldGroup {
  name: string;
  fields: FieldSpec[];
}

export interface Declarations {
  settings: Setting[];
  groups: FieldGroup[];
  lists: ListSpec[];
  /** What production renders show where the data have gaps. */
  defaults: Data;
  /** The values of the example, which previews and drafts show there. */
  example: Data;
}

interface Attribute {
  text: string;
  /** The place of the value, without its quotes. */
  from: number;
  to: number;
}

interface Tag {
  name: string;
  attributes: Map<string, Attribute>;
  /** Where another attribute would stand. */
  end: number;
  parent: string;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const MOST_DEPTH = 8;

/** Read what a text declares, and what the templates that it extends or imports do, those first. */
export function readDeclarations(text: string, bases: Base[] = []): Declarations {
  const extended = [...bases.filter(({ isImported }) => !isImported).map((base) => base.text), text];
  const tags = extended.map(readTags);
  const { defaults, example } = readExample(`${findLast(extended, "json")}${findLast(extended, "sample")}`);
  const lists = lastOfPath(tags.flatMap((own) => own.filter(({ name }) => name === "dataset").map((tag) => toList(tag, own))));
  const fields = lastOfPath(tags.flat().filter(({ name, parent }) => name === "field" && parent === "data").map(toField));
  const declared = [...fields, ...lists].map(({ path }) => path.join("."));
  for (const found of findUndeclared(example, [], declared)) {
    if (follow(defaults, found.path) !== undefined) continue; // words and switches of the template
    if ("fields" in found) lists.push(found as ListSpec);
    else fields.push(found);
  }
  for (const field of fields) {
    if (field.type === "json" && isTexts(follow(example, field.path))) field.type = "lines";
  }
  return { settings: readSettings(text, bases), groups: groupFields(fields), lists, defaults, example };
}

let last: Data = {}; // the data of the last text that was well-formed: while one types, it rarely is

/** Return the names and values that expressions of a template can use, with those of a payload laid over them. */
export function readData(template: string, payload: string): Data {
  const { groups, lists, example } = readDeclarations(template);
  let data: Data = {};
  for (const [, name] of template.matchAll(/<let\b[^>]*?\bname="([A-Za-z_]\w*)"/g)) if (name) data[name] = null;
  for (const { path } of groups.flatMap(({ fields }) => fields)) data = put(data, path, null);
  for (const { path, fields } of lists) data = put(data, path, [fields.reduce((row, field) => put(row, field.path, null), {})]);
  for (const values of [example, parse(payload) ?? {}]) overlay(data, values);
  if (Object.keys(data).length > 0) last = data;
  return last;
}

/**
 * A later declaration of a setting has the attributes of the earlier one that it does not state. Of what is imported,
 * those that nothing reads which is drawn are left out: a label has no window.
 */
function readSettings(text: string, bases: Base[]): Setting[] {
  const found = new Map<string, Tag>();
  const finals = new Set<string>();
  const shown = new Set([...readTaken(text, bases).matchAll(/\bsettings\.(\w+)/g)].map(([, name]) => name));
  for (const each of [...bases, { text, isImported: false }]) {
    for (const tag of readTags(each.text).filter(({ name }) => name === "setting")) {
      const name = tag.attributes.get("name")?.text ?? "";
      if (!each.isImported) shown.add(name);
      if (finals.has(name)) continue;
      found.set(name, { ...tag, attributes: new Map([...(found.get(name)?.attributes ?? []), ...tag.attributes]) });
      if (each.text !== text && tag.attributes.get("final")?.text === "true") finals.add(name);
    }
  }
  return [...found].filter(([name]) => shown.has(name)).map(([name, tag]) => ({ ...toSetting(tag), isFinal: finals.has(name) }));
}

/** What a template draws with: its text, what it extends, and of what it imports the styles and the parts that are used. */
function readTaken(text: string, bases: Base[]): string {
  let taken = [...bases.filter(({ isImported }) => !isImported).map((base) => base.text), text].join("");
  const parts = new Map<string, string>();
  for (const base of bases.filter(({ isImported }) => isImported)) {
    taken += [...base.text.matchAll(/<(?:color|style|font)\b[^>]*>/g)].join("");
    for (const [part, name] of base.text.matchAll(/<part\b[^>]*?\bname="([^"]+)"[^]*?<\/part>/g)) if (name) parts.set(name, part);
  }
  for (let size = -1; size !== parts.size; ) {
    size = parts.size;
    for (const [name, part] of parts) {
      if (!taken.includes(`part="${name}"`)) continue;
      taken += part;
      parts.delete(name);
    }
  }
  return taken;
}

function findLast(texts: string[], tag: string): string {
  return texts.map((text) => new RegExp(`<${tag}>[^]*?</${tag}>`).exec(text)?.[0] ?? "").findLast(Boolean) ?? "";
}

function lastOfPath<T extends FieldSpec>(specs: T[]): T[] {
  return [...new Map(specs.map((each) => [each.path.join("."), each])).values()];
}

/**
 * Return data for a preview or draft: what is optional and was left empty is empty there, as in production, while
 * the example stands for what is required. Without any data the whole example is shown.
 */
export function fillGaps(data: Data, { groups, lists, defaults, example }: Declarations): Data {
  if (Object.keys(data).length === 0) return data;
  const optional = [...groups.flatMap(({ fields }) => fields), ...lists].filter(({ isRequired, path }) => {
    const isOfExample = follow(example, path) !== undefined && follow(defaults, path) === undefined;
    return !isRequired && isOfExample && follow(data, path) === undefined;
  });
  return optional.reduce((filled, { path }) => put(filled, path, null), data);
}

/** Return the change of a text that gives a setting a value; one of a base is declared again. Null without an element. */
export function changeSetting(text: string, name: string, value: string): { from: number; to: number; insert: string } | null {
  const tags = readTags(text);
  const tag = tags.find((each) => each.name === "setting" && each.attributes.get("name")?.text === name);
  const written = tag?.attributes.get("value");
  if (written) return { from: written.from, to: written.to, insert: escape(value) };
  if (tag) return { from: tag.end, to: tag.end, insert: ` value="${escape(value)}"` };
  const root = tags[0];
  const close = root ? text.indexOf(">", root.end) : -1;
  if (!root || close < 0) return null;
  const insert = `\n  <setting name="${escape(name)}" value="${escape(value)}"/>`;
  if (text[close - 1] !== "/") return { from: close + 1, to: close + 1, insert };
  return { from: close - 1, to: close + 1, insert: `>${insert}\n</${root.name}>` };
}

export function follow(data: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), data);
}

/** Return the data with another value at a path; without a value it is removed, with the records that it leaves empty. */
export function put(data: Data, path: string[], value: unknown): Data {
  const [name, ...rest] = path;
  if (name === undefined) return data;
  const inner = rest.length > 0 ? put(isObject(data[name]) ? data[name] : {}, rest, value) : value;
  const isEmpty = inner === undefined || (rest.length > 0 && isObject(inner) && Object.keys(inner).length === 0);
  if (!isEmpty) return { ...data, [name]: inner };
  const { [name]: _, ...others } = data;
  return others;
}

function readTags(text: string): Tag[] {
  const tags: Tag[] = [];
  const read = (from: number, to: number) => text.slice(from, to);
  parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.name !== "OpenTag" && node.name !== "SelfClosingTag") return;
      const name = node.getChild("TagName");
      if (!name) return;
      const attributes = new Map<string, Attribute>();
      let end = name.to;
      for (const each of node.getChildren("Attribute")) {
        const key = each.getChild("AttributeName");
        const value = each.getChild("AttributeValue");
        if (!key || !value) continue;
        end = each.to;
        attributes.set(read(key.from, key.to), { text: unescape(read(value.from + 1, value.to - 1)), from: value.from + 1, to: value.to - 1 });
      }
      tags.push({ name: read(name.from, name.to), attributes, end, parent: parentOf(node, read) });
    },
  });
  return tags;
}

/** The tag and name of the element around that of a tag, such as `dataset lines`. */
function parentOf(node: SyntaxNode, read: (from: number, to: number) => string): string {
  const open = node.parent?.parent?.getChild("OpenTag");
  const name = open?.getChild("TagName");
  if (!open || !name) return "";
  const tag = read(name.from, name.to);
  return tag === "dataset" ? `${tag} ${open.from}` : tag;
}

function unescape(text: string): string {
  return text.replace(/[\n\t]/g, " ").replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function escape(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/"/g, "&quot;")
    .replace(/'/g, "&apos;")
    .replace(/\r\n?|\n/g, "&#10;");
}

function toSetting({ attributes }: Tag): Omit<Setting, "isFinal"> {
  const read = (name: string) => attributes.get(name)?.text ?? "";
  return {
    name: read("name"),
    type: read("type") || "string",
    label: read("label") || inWords(read("name")),
    value: read("value"),
    values: splitWords(read("values")),
  };
}

function toField({ attributes }: Tag): FieldSpec {
  const read = (name: string) => attributes.get(name)?.text ?? "";
  const path = read("name").split(".");
  return {
    path,
    type: read("type") || "string",
    label: read("label") || inWords(path.at(-1) ?? ""),
    isRequired: read("required") === "true",
    values: splitWords(read("values")),
  };
}

function toList(tag: Tag, tags: Tag[]): ListSpec {
  const at = tags.indexOf(tag);
  const rest = tags.slice(at + 1);
  const owner = rest.find(({ name, parent }) => name === "field" && parent.startsWith("dataset"))?.parent;
  const until = rest.findIndex(({ name, parent }) => name !== "field" || parent !== owner);
  return { ...toField(tag), type: "list", fields: rest.slice(0, until < 0 ? undefined : until).map(toField) };
}

/** Fields that the example has, but no declaration. */
function findUndeclared(value: Data, before: string[], declared: string[]): (FieldSpec | ListSpec)[] {
  if (before.length > MOST_DEPTH) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = [...before, name];
    if (declared.includes(path.join("."))) return [];
    const base = { path, label: inWords(name), isRequired: false, values: [] };
    if (isObject(inner)) return findUndeclared(inner, path, declared);
    if (isTexts(inner)) return [{ ...base, type: "lines" }];
    if (Array.isArray(inner)) {
      const first = inner.find(isObject);
      return first ? [{ ...base, type: "list", fields: findUndeclared(first, [], []).filter((each) => !("fields" in each)) }] : [];
    }
    const type = typeof inner === "number" ? "decimal" : typeof inner === "boolean" ? "boolean" : "string";
    return [{ ...base, type }];
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
}

/** Fields by the record that they are in; those with a required one come first. */
function groupFields(fields: FieldSpec[]): FieldGroup[] {
  const groups = new Map<string, FieldSpec[]>();
  for (const field of fields) {
    const name = field.path.length > 1 ? (field.path[0] ?? "") : "";
    groups.set(name, [...(groups.get(name) ?? []), field]);
  }
  return [...groups].map(([name, inside]) => ({ name, fields: inside }));
}

function splitWords(text: string): string[] {
  return text.split(text.includes(",") ? "," : /\s+/).map((word) => word.trim()).filter(Boolean);
}

/** Return a name as words: `tax_rate` is "Tax rate". */
export function inWords(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
