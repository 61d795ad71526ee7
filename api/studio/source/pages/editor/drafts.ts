/** Unsaved changes, stored in this browser. */

/** Text that was edited from the state with this `etag`. */
export interface Draft {
  etag: string;
  content: string;
}

const DRAFT = "pressroom-draft";

function keyOf(account: string, template: string): string {
  return `${DRAFT}:${account}:${template}`;
}

export function readDraft(account: string, template: string): Draft | null {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(account, template)) ?? "null");
    return typeof found?.content === "string" && typeof found?.etag === "string" ? found : null;
  } catch {
    return null;
  }
}

export function keepDraft(account: string, template: string, draft: Draft): void {
  store(keyOf(account, template), JSON.stringify(draft));
}

export function dropDraft(account: string, template: string): void {
  localStorage.removeItem(keyOf(account, template));
}

function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // The storage is full: the changes stay in the page until they are saved.
  }
}
