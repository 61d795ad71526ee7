/** The data of a template: its defaults and sample values, and documents of a table's rows. */

export type Data = Record<string, unknown>;

const MOST_DEPTH = 20;
const MOST_PATHS = 1000;

/** Return the default values of a template, and its example: the sample values over them. */
export function readExample(template: string): { defaults: Data; example: Data } {
  const defaults = parse(findJson(template, "json")) ?? {};
  const example: Data = structuredClone(defaults);
  overlay(example, parse(findJson(template, "sample")) ?? {});
  return { defaults, example };
}

/** Return the list that a path leads into, null for a path of the document. */
export function listOf(path: string, lists: string[]): string | null {
  return lists.find((list) => path.startsWith(`${list}.`)) ?? null;
}

/** The paths of a template that are no single values: lists of records, and lists of texts. */
export interface Shape {
  lists: string[];
  texts: string[];
}

/**
 * Return the JSON document of rows under paths: paths into lists make a record of each row, others are of the first row.
 * A cell of a list of texts has one a line. Empty cells are omitted.
 */
export function toDocument(rows: string[][], paths: string[], { lists, texts }: Shape): string {
  const document: Data = Object.create(null);
  for (const [number, row] of rows.entries()) {
    const records = new Map<string, Data>();
    for (const [index, path] of paths.entries()) {
      const list = listOf(path, lists);
      if (!path || !row[index] || (number > 0 && list === null)) continue;
      const record = list === null ? document : (records.get(list) ?? (Object.create(null) as Data));
      if (list !== null) records.set(list, record);
      set(record, (list === null ? path : path.slice(list.length + 1)).split("."), texts.includes(path) ? row[index].split(/\r?\n/) : row[index]);
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

/** Lay values over data, record by record. */
export function overlay(data: Data, over: Data, depth = 0): void {
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
