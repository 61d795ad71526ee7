/** The data of a template: its defaults and sample values, what it declares, and a payload laid over them. */

export type Data = Record<string, unknown>;

const MOST_DEPTH = 20;
const MOST_PATHS = 1000;

let last: Data = {}; // the data of the last text that was well-formed: while one types, it rarely is

/** Return the data of a template with that of a payload laid over it. */
export function readData(template: string, payload: string): Data {
  const data: Data = {};
  for (const [, name] of template.matchAll(/<let\b[^>]*?\bname="([A-Za-z_]\w*)"/g)) if (name) data[name] = null;
  for (const [, kind, path] of template.matchAll(/<(field|dataset)\b[^>]*?\bname="([\w.]+)"/g)) {
    if (path) declare(data, path.split("."), kind === "dataset" ? [{}] : null);
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

/** Return the paths of single values that a document must have, as the template declares, and that have no default. */
export function findRequired(template: string): string[] {
  const { defaults } = readExample(template);
  const found: string[] = [];
  let lists = 0;
  for (const [, closes, name, attributes = ""] of template.replace(/<!--[^]*?-->/g, "").matchAll(/<(\/?)(dataset|field)\b([^>]*)>/g)) {
    if (name === "dataset" && !attributes.endsWith("/")) lists += closes ? -1 : 1;
    const path = /\bname="([\w.]+)"/.exec(attributes)?.[1];
    if (name === "field" && lists === 0 && path && /\brequired="true"/.test(attributes) && follow(defaults, path) == null) found.push(path);
  }
  return found;
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
