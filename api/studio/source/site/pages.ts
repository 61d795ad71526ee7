/** The pages of the documentation: their parts, their addresses, and where their links lead. */

export interface Source {
  name: string;
  title: string;
  section: string;
  language: string;
  path: string;
  text: string;
}

/** A heading with the text below it. */
export interface Part {
  title: string;
  level: number;
  anchor: string;
  text: string;
}

/** What is shown at an address: a page, or a chapter or an element of the language. */
export interface Page {
  address: string;
  title: string;
  section: string;
  language: string;
  path: string;
  parts: Part[];
}

export interface Site {
  pages: Page[];
  /** Address of each page by its path, and of each part of the language by its anchor. */
  paths: Map<string, string>;
  anchors: Map<string, string>;
}

export const HOME = "/docs/";
export const LANGUAGE = "/docs/language";
export const ELEMENTS = "Elements";
export const CHAPTERS = "Chapters";
const FENCE = /^```.*?^```$/gms;
const HEADING = /^(#{1,6}) (.+)\n([^]*?)(?=^#{1,6} |$(?![^]))/gm;
const ANCHOR = /<a id="([^"]+)">/g;
const DOCS_FOLDER = "deploy/docs/";

export function readSite(sources: Source[]): Site {
  const pages = sources.flatMap((source) => (source.name === "language" ? readLanguage(source) : [readPage(source)]));
  const anchors = new Map<string, string>();
  for (const page of pages.filter(({ address }) => address.startsWith(LANGUAGE))) {
    page.parts.forEach((part, at) => {
      anchors.set(part.anchor, at ? `${page.address}#${part.anchor}` : page.address);
      for (const [, id] of part.text.matchAll(ANCHOR)) if (id && id !== part.anchor) anchors.set(id, `${page.address}#${id}`);
    });
  }
  return { pages, anchors, paths: new Map(sources.map(({ path, name }) => [path, HOME + name])) };
}

function readPage({ name, title, section, language, path, text }: Source): Page {
  return { address: HOME + name, title, section, language, path, parts: splitParts(text) };
}

/** The language has a page for each chapter and, in its last one, for each element. */
function readLanguage({ title, language, path, text }: Source): Page[] {
  const pages: Page[] = [];
  let inElements = false;
  for (const part of splitParts(text)) {
    if (part.level <= 2) inElements = part.anchor === "elements";
    if (part.level <= 2 || (part.level === 3 && inElements)) {
      pages.push({
        address: pages.length ? `${LANGUAGE}/${part.anchor}` : LANGUAGE,
        title: pages.length ? plain(part.title) : title,
        section: part.level === 3 ? ELEMENTS : CHAPTERS,
        language,
        path,
        parts: [part],
      });
    } else {
      pages.at(-1)?.parts.push(part);
    }
  }
  return pages;
}

function splitParts(text: string): Part[] {
  // What looks like a heading in a block of code is none.
  const hidden = text.replace(FENCE, (block) => block.replace(/^#/gm, "\0#"));
  const taken = new Map<string, number>();
  return [...hidden.matchAll(HEADING)].map(([, marks = "", title = "", body = ""]) => {
    const own = body.trimStart().replaceAll("\0", "");
    const slug = slugOf(title);
    const again = taken.get(slug) ?? 0;
    taken.set(slug, again + 1);
    const anchor = /^<a id="([^"]+)">/.exec(own)?.[1] ?? (again ? `${slug}-${again}` : slug);
    return { title, level: marks.length, anchor, text: own.replace(`<a id="${anchor}"></a>`, "") };
  });
}

/** The anchor of a heading as GitHub writes it. */
function slugOf(title: string): string {
  return plain(title)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** A text without the marks of Markdown, on one line. */
export function plain(markdown: string): string {
  return markdown
    .replace(/<[^>]+>|\]\([^)]*\)|[`*|[\\]|^-+$/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Return the page at an address; an attribute is on the page of its element. */
export function findPage(site: Site, address: string): { page: Page; anchor: string } | null {
  const whole = site.anchors.get(address.slice(LANGUAGE.length + 1)) ?? address;
  const [path, anchor = ""] = whole.split("#");
  const page = site.pages.find((each) => each.address === path);
  return page ? { page, anchor } : null;
}

/** Return where a link of a page leads, null if only to the repository. */
export function resolve(site: Site, page: Page, link: string): string | null {
  if (/^[a-z]+:|^\//.test(link)) return link;
  const [target = "", anchor = ""] = link.split("#");
  const isLanguage = page.address.startsWith(LANGUAGE);
  if (!target) return (isLanguage && site.anchors.get(anchor)) || link;
  const path = new URL(target, `file:///${page.path}`).pathname.slice(1);
  const address = site.paths.get(path) ?? site.paths.get(`${path.replace(/\/$/, "")}/README.md`);
  if (address === LANGUAGE && anchor) return site.anchors.get(anchor) ?? address;
  if (address) return anchor ? `${address}#${anchor}` : address;
  return /\.(png|json|rng)$/.test(path) ? fileOf(path) : null;
}

/** The address of a file; files of a folder below the pages have its name before their own. */
function fileOf(path: string): string {
  const below = path.startsWith(DOCS_FOLDER) ? path.slice(DOCS_FOLDER.length) : (path.split("/").at(-1) ?? path);
  return `/docs/files/${below.replace("/", "-")}`;
}
