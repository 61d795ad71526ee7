/** One search over all pages, the attributes and errors of the language, and the calls of the API. */

import MiniSearch from "minisearch";
import { type Description, listOperations } from "../docs/description";
import { currentLanguage } from "../lib/messages";
import { ELEMENTS, LANGUAGE, plain, type Site } from "./pages";

export interface Entry {
  address: string;
  title: string;
  place: string;
  text: string;
  language: string;
}

const SHOWN = 20;
const FINDING = "finding";
const FENCE = /^```.*?^```$/gms;
const ROW = /^\| <a id="([^"]+)"><\/a>`([^`]+)`[^|]*\|(.*)\|$/gm;
const NAMED_ROW = /^\| `([\w.-]+)`[^|]*\|(.*)\|$/gm;
const ERROR = /^- (?:error|warning) `([a-z0-9-]+)`: (.+)$/gm;

export function makeIndex(site: Site, description: Description | null): MiniSearch<Entry> {
  const index = new MiniSearch<Entry>({
    idField: "id",
    fields: ["title", "place", "text"],
    storeFields: ["address", "title", "place", "text", "language"],
    searchOptions: { boost: { title: 8, place: 2 }, prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), combineWith: "AND" },
  });
  const entries = [...listEntries(site), ...(description ? listCalls(description) : [])];
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return index;
}

export function find(index: MiniSearch<Entry>, words: string): Entry[] {
  const sought = words.trim().toLowerCase();
  if (!sought) return [];
  // A name typed as it is stands before what contains it, and an attribute before a finding of its name.
  const boostDocument = (_: unknown, __: string, stored?: Record<string, unknown>) =>
    String(stored?.title).toLowerCase() !== sought ? 1 : String(stored?.place).endsWith(FINDING) ? 5 : 10;
  return index.search(sought, { boostDocument }).slice(0, SHOWN) as unknown as Entry[];
}

function* listEntries(site: Site): Generator<Entry> {
  for (const page of site.pages) {
    const { language } = page;
    const place = page.address.startsWith(LANGUAGE) ? (page.section === ELEMENTS ? "element" : "language") : page.section;
    for (const [at, part] of page.parts.entries()) {
      const address = at ? `${page.address}#${part.anchor}` : page.address;
      const title = at ? plain(part.title) : page.title;
      const isIndex = part.anchor === "index-of-attributes"; // has everything once more
      const text = isIndex ? "" : plain(part.text.replace(FENCE, "").replace(ROW, "").replace(ERROR, ""));
      yield { address, title, place: at ? `${place} · ${page.title}` : place, text, language };
      for (const [, anchor, name = "", rest = ""] of part.text.matchAll(ROW)) {
        yield { address: `${page.address}#${anchor}`, title: name, place: `${page.title} · attribute`, text: plain(rest), language };
      }
      for (const [, name = "", rest = ""] of isIndex ? [] : part.text.matchAll(NAMED_ROW)) {
        yield { address: `${page.address}#${part.anchor}`, title: name, place: `${place} · ${page.title}`, text: plain(rest), language };
      }
      for (const [, code = "", message = ""] of part.text.matchAll(ERROR)) {
        yield { address, title: code, place: `${page.title} · ${FINDING}`, text: plain(message), language };
      }
    }
  }
}

function* listCalls(description: Description): Generator<Entry> {
  const language = currentLanguage();
  for (const { id, method, path, summary, description: text } of listOperations(description)) {
    yield { address: `/docs#${id}`, title: summary, place: `API · ${method.toUpperCase()} ${path}`, text: `${id} ${plain(text)}`, language };
  }
}
