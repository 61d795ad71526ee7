/** The tables of batches started in this tab, so that rows that failed can be saved with their reasons, and sent again. */

import { askJson } from "./api";
import { type Table, writeCsv } from "./csv";
import { t } from "./messages";
import type { BatchItems } from "./records";
import type { Batch, BatchItem } from "./types";

interface Started {
  table: Table;
  query: string;
}

const STARTED = new Map<string, Started>();

/** Start a batch of a table. @throws Failure */
export async function startBatch(table: Table, query: string): Promise<Batch> {
  const batch = await askJson<Batch>("POST", `/v2/batches?${query}`, { body: writeCsv(table), type: "text/csv; charset=utf-8" });
  STARTED.set(batch.id, { table, query });
  return batch;
}

export function canRepeat(batch: string): boolean {
  return STARTED.has(batch);
}

/** Start a batch of the rows that failed; only of one that `canRepeat`. @throws Failure */
export async function repeatFailed(batch: string): Promise<Batch> {
  const { table, query } = STARTED.get(batch) as Started;
  const failed = await readFailed(batch);
  return startBatch({ columns: table.columns, rows: failed.map(({ index }) => table.rows[index] ?? []) }, query);
}

/** Return the documents that failed as CSV: number, the cells of the row where they are known, and the reasons. @throws Failure */
export async function writeFailed(batch: string): Promise<string> {
  const table = STARTED.get(batch)?.table;
  const rows = (await readFailed(batch)).map(({ index, error }) => {
    const reasons = error?.stackTrace?.map(({ message }) => message) ?? [];
    const cells = table === undefined ? [] : table.columns.map((_, at) => table.rows[index]?.[at] ?? "");
    return [String(index + 1), ...cells, [...new Set([error?.message ?? "", ...reasons])].filter(Boolean).join("; ")];
  });
  return writeCsv({ columns: [t("batches.number"), ...(table?.columns ?? []), t("batches.reason")], rows });
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
