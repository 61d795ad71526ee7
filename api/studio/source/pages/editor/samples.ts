/** Named sets of sample data of a template, stored in this browser. */

export type DataKind = "json" | "csv" | "markdown";

export const MEDIA_TYPES: Record<DataKind, string> = {
  json: "application/json",
  csv: "text/csv",
  markdown: "text/markdown",
};

/** Sample data; `flow` names the flow that Markdown is placed into. */
export interface Sample {
  name: string;
  kind: DataKind;
  text: string;
  flow: string;
}

/** The sample sets of a template, at least one, and the index of the chosen one. */
export interface Samples {
  sets: Sample[];
  at: number;
}

export const STARTS: Record<DataKind, string> = { json: "{}\n", csv: "", markdown: "" };
export const MOST_SETS = 20;

const STORED = "pressroom-samples";
const FORMER = "pressroom-data"; // one JSON text for each template
const KINDS = new Set<unknown>(Object.keys(MEDIA_TYPES));

export function readSamples(account: string, template: string, firstName: string): Samples {
  const place = `:${account}:${template}`;
  try {
    const found = JSON.parse(localStorage.getItem(STORED + place) ?? "null");
    const sets = (found?.sets as Sample[]).filter(isSample);
    if (sets.length > 0) return { sets, at: Math.min(Math.max(Number(found.at) || 0, 0), sets.length - 1) };
  } catch {
    // Nothing is stored, or not by this page.
  }
  const text = localStorage.getItem(FORMER + place) ?? STARTS.json;
  return { sets: [{ name: firstName, kind: "json", text, flow: "" }], at: 0 };
}

export function keepSamples(account: string, template: string, samples: Samples): void {
  try {
    localStorage.setItem(`${STORED}:${account}:${template}`, JSON.stringify(samples));
  } catch {
    // The storage is full: the samples stay in the page until it is closed.
  }
}

function isSample(found: Partial<Sample> | null): boolean {
  return typeof found?.name === "string" && typeof found.text === "string" && typeof found.flow === "string" && KINDS.has(found.kind);
}

/** Return the kind of data in a file by its name, null for other files. */
export function kindOfFile(name: string): DataKind | null {
  const ending = /\.(json|csv|tsv|md|markdown)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined) return null;
  return ending === "json" ? "json" : ending === "csv" || ending === "tsv" ? "csv" : "markdown";
}

/** Return the fields of a preview request for sample data; nothing where it is empty. */
export function payloadOf({ kind, text, flow }: Sample): Record<string, string> {
  if (!text.trim()) return kind === "json" ? { payload: "{}" } : {};
  return { payload: text, payload_type: MEDIA_TYPES[kind], ...(kind === "markdown" && flow && { flow }) };
}
