/** Downloads: files are fetched with the session header, which a plain link does not send. */

import { ask } from "./api";

const KEPT_MS = 60_000;

/** Fetch a path and save the response under its Content-Disposition file name. @throws Failure */
export async function download(path: string, fallback: string): Promise<void> {
  await saveFile(await ask("GET", path), fallback);
}

/** Save a response under its Content-Disposition file name. */
export async function saveFile(answer: Response, fallback: string): Promise<void> {
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = readName(answer.headers.get("Content-Disposition")) ?? fallback;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

function readName(disposition: string | null): string | null {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? "")?.[1];
  if (encoded) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return null;
    }
  }
  return /filename="([^"]+)"/i.exec(disposition ?? "")?.[1] ?? null;
}
