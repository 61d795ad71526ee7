/** The data of a template: its defaults and sample values, what it declares, and a payload laid over them. */

export type Data = Record<string, unknown>;

const MOST_DEPTH = 20;
const MOST_PATHS = 1000;

let last: Data = {}; // the data of the last text that was well-formed: while one types, it rarely is

/** Return the data of a template with that of a payload laid over it. */
export function readData(template: string, payload: string): Data {
  const data: Data = {};
  for (const [, name] of template.matchAll(/<let\b[^>]*?\bname="([A-Za-z_]\w*)"/g)) if (name) data[name] = null;
  for (const { path, list } of readDeclared(template)) {
    const records = list === null || list === path ? null : follow(data, list);
    if (list === null || list === path) declare(data, path.split("."), list === null ? null : [{}]);
    else if (Array.isArray(records)) declare(records[0], path.slice(list.length + 1).split("."), null);
  }
  for (const text of [findJson(template, "json"), findJson(template, "sample"), payload]) {
    const found = parse(text);
    if (found) overlay(data, found);
  }
  if (Object.keys(data).length > 0) last = data;
  return last;
}

/** Return the default values of a template, and its example: the sample values over them. */
export function readExample(template: string): { defaults: Data; example: Data } {
  const defaults = parse(findJson(template, "json")) ?? {};
  const example: Data = structuredClone(defaults);
  overlay(example, parse(findJson(template, "sample")) ?? {});
  return { defaults, example };
}

/** A list of records in the data of a template, and the names of its fields. */
export interface List {
  path: string;
  fields: string[];
}

/** Return the lists of records that a template declares, or that its example has. */
export function findLists(template: string): List[] {
  const found = new Map<string, Set<string>>();
  for (const { path, list } of readDeclared(template)) {
    if (list === path) found.set(path, found.get(path) ?? new Set());
    else if (list !== null) found.get(list)?.add(path.slice(list.length + 1));
  }
  const { example } = readExample(template);
  for (const [name, value] of Object.entries(example)) {
    const records = Array.isArray(value) ? value.filter(isObject) : [];
    if (records.length > 0) found.set(name, new Set([...(found.get(name) ?? []), ...records.flatMap(Object.keys)]));
  }
  return [...found].map(([path, fields]) => ({ path, fields: [...fields] }));
}

/** Return the paths that a document must have, as the template declares, and that have no default; a list's fields begin with its path. */
export function findRequired(template: string): string[] {
  const { defaults } = readExample(template);
  return readDeclared(template)
    .filter(({ path, isRequired }) => isRequired && follow(defaults, path) == null)
    .map(({ path }) => path);
}

/** Return the fields and lists that a template declares, with the path of the list that each is, or is in. */
function readDeclared(template: string): { path: string; list: string | null; isRequired: boolean }[] {
  const found = [];
  let list: string | null = null;
  for (const [, closes, name, attributes = ""] of template.replace(/<!--[^]*?-->/g, "").matchAll(/<(\/?)(dataset|field)\b([^>]*)>/g)) {
    const path = /\bname="([\w.]+)"/.exec(attributes)?.[1];
    if (closes) {
      if (name === "dataset") list = null;
    } else if (path) {
      const own: string = name === "field" && list !== null ? `${list}.${path}` : path;
      found.push({ path: own, list: name === "dataset" ? own : list, isRequired: /\brequired="true"/.test(attributes) });
      if (name === "dataset" && !attributes.endsWith("/")) list = own;
    }
  }
  return found;
}

/** Return the list that a path leads into, null for a path of the document. */
export function listOf(path: string, lists: string[]): string | null {
  return lists.find((list) => path.startsWith(`${list}.`)) ?? null;
}

/** Return the JSON document of rows under paths: paths into lists make a record of each row, others are of the first row. Empty cells are omitted. */
export function toDocument(rows: string[][], paths: string[], lists: string[]): string {
  const document: Data = Object.create(null);
  for (const [number, row] of rows.entries()) {
    const records = new Map<string, Data>();
    for (const [index, path] of paths.entries()) {
      const list = listOf(path, lists);
      if (!path || !row[index] || (number > 0 && list === null)) continue;
      const record = list === null ? document : (records.get(list) ?? (Object.create(null) as Data));
      if (list !== null) records.set(list, record);
      set(record, (list === null ? path : path.slice(list.length + 1)).split("."), row[index]);
    }
    for (const [list, record] of records) {
      const before = follow(document, list);
      set(document, list.split("."), [...(Array.isArray(before) ? before : []), record]);
    }
  }
  return JSON.stringify(document);
}

function set(data: Data, path: string[], value: unknown): void {
  let at = data;
  for (const name of path.slice(0, -1)) {
    if (!isObject(at[name])) at[name] = Object.create(null);
    at = at[name] as Data;
  }
  at[path.at(-1) ?? ""] = value;
}

function follow(data: Data, path: string): unknown {
  return path.split(".").reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), data);
}

function findJson(template: string, tag: "json" | "sample"): string {
  const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(template)?.[1] ?? "";
  const inside = /^\s*<!\[CDATA\[([^]*?)\]\]>\s*$/.exec(text)?.[1];
  return inside ?? text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&apos;/g, "'").replace(/&amp;/g, "&");
}

/** Return the object that a text is in JSON, null for any other text. */
export function parse(text: string): Data | null {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) ? found : null;
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function declare(data: Data, path: string[], value: unknown): void {
  let at = data;
  for (const name of path.slice(0, -1)) {
    if (!isObject(at[name])) at[name] = {};
    at = at[name] as Data;
  }
  const name = path.at(-1);
  if (name !== undefined && !(name in at)) at[name] = value;
}

function overlay(data: Data, over: Data, depth = 0): void {
  for (const [name, value] of Object.entries(over)) {
    const below = data[name];
    if (isObject(below) && isObject(value) && depth < MOST_DEPTH) overlay(below, value, depth + 1);
    else if (value !== null || !(name in data)) data[name] = value;
  }
}

/** Return the paths of the single values of a template's data, such as `buyer.name`; those of lists are left out. */
export function findPaths(data: Data, before = "", depth = 0): string[] {
  const paths = Object.entries(data).flatMap(([name, value]) => {
    if (isObject(value) && depth < MOST_DEPTH) return findPaths(value, `${before}${name}.`, depth + 1);
    return Array.isArray(value) ? [] : [before + name];
  });
  return paths.slice(0, MOST_PATHS);
}
