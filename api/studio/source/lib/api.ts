/** Requests to the API with the session of this page. */

import { currentLanguage } from "./messages";
import type { StackTraceEntry } from "./records";

/** An error response of the API: status, message, and code if it has one. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: string | null,
    readonly stackTrace: readonly StackTraceEntry[] = [],
  ) {
    super(message);
  }
}

export interface Options {
  body?: BodyInit;
  json?: unknown;
  type?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Called when the API responds 401; the page then shows the sign-in. */
let onSignedOut: (message: string) => void = () => undefined;

export function listenForSignOut(listener: (message: string) => void): void {
  onSignedOut = listener;
}

/**
 * Request a path and return the response.
 *
 * @throws Failure if the status is 400 or above; status 0 is a network error.
 */
export async function ask(method: string, path: string, options: Options = {}): Promise<Response> {
  const headers = new Headers({ "X-Pressroom-Studio": "1", "Accept-Language": currentLanguage(), ...options.headers });
  let body = options.body;
  if (options.json !== undefined) {
    headers.set("Content-Type", "application/json");
    body = JSON.stringify(options.json);
  } else if (options.type !== undefined) {
    headers.set("Content-Type", options.type);
  }
  const request: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) request.body = body;
  if (options.signal) request.signal = options.signal;
  const answer = await reach(path, request);
  if (answer.ok) return answer;
  const failure = await readFailure(answer);
  if (answer.status === 401 && !headers.has("Authorization")) onSignedOut(failure.message);
  throw failure;
}

/** Send a request; one that changes nothing is sent again once, as browsers drop what is on its way when the network changes. */
async function reach(path: string, request: RequestInit, isAgain = false): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (isAbort(error)) throw error;
    if (request.method === "GET" && !isAgain) return reach(path, request, true);
    throw new Failure(0, "", null);
  }
}

/** Request JSON. @throws Failure, as `ask`. */
export async function askJson<T>(method: string, path: string, options?: Options): Promise<T> {
  return (await (await ask(method, path, options)).json()) as T;
}

/** Read all pages of a list, up to a number of entries. @throws Failure, as `ask`. */
export async function askAll<T>(
  path: string,
  field: string,
  { most = 5000 }: { most?: number } = {},
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const url = new URL(path, location.origin);
    url.searchParams.set("limit", "1000");
    if (cursor !== undefined) url.searchParams.set("start_after", cursor);
    const body = await askJson<Record<string, unknown>>("GET", url.pathname + url.search);
    found.push(...(body[field] as T[]));
    cursor = body.next_cursor as string | undefined;
  } while (cursor !== undefined && found.length < most);
  return found;
}

async function readFailure(answer: Response): Promise<Failure> {
  try {
    const body = await answer.json();
    return new Failure(answer.status, String(body.message), body.data?.code ?? null, body.stackTrace ?? []);
  } catch (error) {
    // A page that was left before the error was read reports nothing.
    if (isAbort(error)) throw error;
    return new Failure(answer.status, answer.statusText || String(answer.status), null);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
