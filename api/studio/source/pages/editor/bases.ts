/** The templates that a template extends or imports. */

import { askJson } from "../../lib/api";
import type { Tag, Version } from "../../lib/types";
import { HEADER, readTemplate } from "../template/read";

export interface Base {
  text: string;
  /** Whether only its settings and other declarations are taken, not its data. */
  isImported: boolean;
}

const MOST_DEPTH = 8;

interface Link {
  reference: string;
  isImported: boolean;
}

/** Return the links of a text: what it extends, then its imports. */
export function findLinks(text: string): Link[] {
  const plain = text.replace(/<!--[^]*?-->/g, "");
  const extended = /<document\b[^>]*?\sextends="([^"]+)"/.exec(plain)?.[1];
  const imported = [...plain.matchAll(/<import\b[^>]*?\stemplate="([^"]+)"/g)].map(([, reference = ""]) => ({ reference, isImported: true }));
  return [...(extended ? [{ reference: extended, isImported: false }] : []), ...imported];
}

/** Read the templates that links lead to, each after those that it is made of. @throws Failure */
export async function readBases(links: Link[], depth = 0): Promise<Base[]> {
  if (depth === MOST_DEPTH) return [];
  const found: Base[] = [];
  for (const { reference, isImported } of links) {
    const text = await readReference(reference);
    const below = await readBases(findLinks(text), depth + 1);
    found.push(...below.map((base) => ({ ...base, isImported: base.isImported || isImported })), { text, isImported });
  }
  return found;
}

async function readReference(reference: string): Promise<string> {
  const [id = "", selector = "live"] = reference.split("@");
  const { template } = await readTemplate(id);
  if (selector === "live") return template.content;
  const path = `/v2/templates/${encodeURIComponent(template.id)}`;
  const { content } = await askJson<{ content: string }>("GET", `${path}/versions/${await findVersion(path, selector)}`);
  return content.replace(HEADER, "");
}

async function findVersion(path: string, selector: string): Promise<string | number> {
  if (/^\d+$/.test(selector)) return selector;
  if (selector !== "latest") {
    const { tags } = await askJson<{ tags: Tag[] }>("GET", `${path}/tags`);
    return tags.find(({ tag }) => tag === selector)?.version ?? selector;
  }
  const { versions } = await askJson<{ versions: Version[] }>("GET", `${path}/versions`);
  return Math.max(...versions.map(({ version }) => version));
}
