/** The tables of batches started in this tab, so that rows that failed can be saved with their reasons, and sent again. */

import { askJson } from "./api";
import { writeCsv } from "./csv";
import { t } from "./messages";
import type { BatchItems } from "./records";
import { type Shape, toDocument } from "./template-data";
import type { Batch, BatchItem } from "./types";
import { writeWorkbook } from "./workbook";

/** Rows of a table, as cells of the columns, together for each document. */
export interface Documents {
  columns: string[];
  documents: string[][][];
  /** Null if each document is one row of single values, sent as CSV. */
  shape: Shape | null;
  /** The key of each document; null if each row is one. */
  keys: string[] | null;
}

const STARTED = new Map<string, { sent: Documents; query: string }>();

/** Start a batch of documents. @throws Failure */
export async function startBatch(sent: Documents, query: string): Promise<Batch> {
  const { columns, documents, shape } = sent;
  const body = shape === null ? writeCsv({ columns, rows: documents.flat() }) : documents.map((rows) => toDocument(rows, columns, shape)).join("\n");
  const batch = await askJson<Batch>("POST", `/v2/batches?${query}`, { body, type: shape === null ? "text/csv; charset=utf-8" : "application/x-ndjson" });
  STARTED.set(batch.id, { sent, query });
  return batch;
}

/** Return the key of a document of a batch, if it was started in this tab from rows with keys. */
export function findKey(batch: string, index: number): string | undefined {
  return STARTED.get(batch)?.sent.keys?.[index];
}

export function canRepeat(batch: string): boolean {
  return STARTED.has(batch);
}

/** Start a batch of the documents that failed; only of one that `canRepeat`. @throws Failure */
export async function repeatFailed(batch: string): Promise<Batch> {
  const { sent, query } = STARTED.get(batch) as { sent: Documents; query: string };
  const failed = await readFailed(batch);
  const keys = sent.keys && failed.map(({ index }) => sent.keys?.[index] ?? "");
  return startBatch({ ...sent, keys, documents: failed.map(({ index }) => sent.documents[index] ?? []) }, query);
}

/** Return the documents that failed as a workbook: number, the cells of the rows where they are known, and the reasons. @throws Failure */
export async function writeFailed(batch: string): Promise<Uint8Array<ArrayBuffer>> {
  const sent = STARTED.get(batch)?.sent;
  const rows = (await readFailed(batch)).flatMap(({ index, error }) => {
    const reasons = error?.stackTrace?.map(({ message }) => message) ?? [];
    const reason = [...new Set([error?.message ?? "", ...reasons])].filter(Boolean).join("; ");
    const own = sent?.documents[index] ?? [[]];
    return own.map((cells) => [String(index + 1), ...(sent?.columns ?? []).map((_, at) => cells[at] ?? ""), reason]);
  });
  return writeWorkbook(batch, [[t("batches.number"), ...(sent?.columns ?? []), t("batches.reason")], ...rows]);
}

async function readFailed(batch: string): Promise<BatchItem[]> {
  const path = `/v2/batches/${encodeURIComponent(batch)}/items?status=failed`;
  const found: BatchItem[] = [];
  for (let after = ""; ; after = `&start_after=${found.at(-1)?.index}`) {
    const { items, has_more } = await askJson<BatchItems>("GET", path + after);
    found.push(...items);
    if (!has_more || items.length === 0) return found;
  }
}
