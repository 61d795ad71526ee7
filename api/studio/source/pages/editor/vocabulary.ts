/** The vocabulary of templates, as `make language` writes it from the engine's. */

import written from "../../vocabulary.json";

export interface Attribute {
  doc: string;
  accepts: string;
  words?: string[];
  default?: string;
  required?: boolean;
  expression?: boolean;
}

interface Element {
  doc: string;
  children: string[];
  own: Record<string, Attribute>;
  shared: string[];
  parent?: boolean;
}

export const VOCABULARY = written as unknown as {
  elements: Record<string, Element>;
  shared: Record<string, Attribute>;
  filters: Record<string, { usage: string; doc: string }>;
};

/** Return the attributes of an element, with the shared ones. */
export function attributesOf(element: Element): [string, Attribute][] {
  const shared = element.shared.flatMap((name): [string, Attribute][] => {
    const found = VOCABULARY.shared[name];
    return found ? [[name, found]] : [];
  });
  return [...Object.entries(element.own), ...shared];
}

export function findAttribute(tag: string, name: string): Attribute | undefined {
  const element = VOCABULARY.elements[tag];
  return element?.own[name] ?? (element?.shared.includes(name) ? VOCABULARY.shared[name] : undefined);
}

export function explain(attribute: Attribute): string {
  const standard = attribute.default === undefined ? "" : ` Default: ${attribute.default}.`;
  return `${attribute.doc}${standard} Accepts ${attribute.accepts}.`;
}
