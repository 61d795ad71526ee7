/** Reading of a template, and the file that was dropped on one. */

import { ask } from "../../lib/api";
import type { TemplateWithContent } from "../../lib/types";

export const PUBLIC = "service-";

/** A template with the ETag of its state, which a change sends as If-Match. */
export interface Read {
  template: TemplateWithContent;
  etag: string;
}

// The content of a version begins with a header comment (/docs, readVersion).
export const HEADER = /^<!-- Service template version [^]*?-->/;

let dropped: File | null = null;

export function keepDropped(file: File): void {
  dropped = file;
}

/** Return the CSV file that was dropped on a template, once. */
export function takeDropped(): File | null {
  const file = dropped;
  dropped = null;
  return file;
}

export async function readTemplate(id: string): Promise<Read> {
  const answer = await ask("GET", `/v2/templates/${encodeURIComponent(id)}`);
  return { template: await answer.json(), etag: answer.headers.get("ETag") ?? "*" };
}
