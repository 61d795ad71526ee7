/** Pages drawn by the service, as images. */

import { askJson } from "./api";
import type { Preview } from "./types";

export interface PreviewFields {
  template: string;
  payload?: string;
  payload_type?: string;
  flow?: string;
  page?: number;
  scale?: number;
  format?: "png" | "webp";
  session?: string;
}

/** A drawn page; `url` is of its image, null if there is none, and valid until `release`. */
export interface Drawing {
  preview: Preview;
  url: string | null;
  release: () => void;
}

/** Draw a page. @throws Failure, as `ask`. */
export async function drawPage(fields: PreviewFields, signal?: AbortSignal): Promise<Drawing> {
  const preview = await askJson<Preview>("POST", "/v2/preview", { json: fields, ...(signal && { signal }) });
  const url = preview.file ? URL.createObjectURL(toBlob(preview.file)) : null;
  return { preview, url, release: () => url !== null && URL.revokeObjectURL(url) };
}

export function toBlob(file: { content_type: string; data: string }): Blob {
  return new Blob([Uint8Array.from(atob(file.data), (letter) => letter.charCodeAt(0))], { type: file.content_type });
}
