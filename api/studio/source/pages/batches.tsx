/** Batches: progress, failed documents with their errors, and results. */

import { useState } from "preact/hooks";
import { ask, askAll, askJson } from "../lib/api";
import { download, saveFile } from "../lib/download";
import { describe, useLoad } from "../lib/load";
import { count, formatAgo, formatMoment, formatNumber, t } from "../lib/messages";
import { usePolling } from "../lib/poll";
import { mayChange } from "../lib/rights";
import { goTo, linkTo } from "../lib/router";
import { canRepeat, findKey, repeatFailed, writeFailed } from "../lib/started";
import type { Account, Batch, BatchItem, PageProps, Template } from "../lib/types";
import { WORKBOOK } from "../lib/workbook";
import { nameTemplate } from "../messages/names";
import { Empty, FormDialog, LookOnly, Narrow, Notice, Result, Wide } from "../ui/parts";
import { Findings, Status, StatusChoice } from "./jobs";
import { Run } from "./run";

const BATCH_STATUSES = ["queued", "running", "finished", "cancelled"] as const;
const ITEM_STATUSES = ["failed", "succeeded", "queued", "running", "cancelled"] as const;

export function Batches({ account, route }: PageProps) {
  return route[1] === undefined ? <BatchList account={account} /> : <BatchPage key={route[1]} id={route[1]} account={account} />;
}

function isGoing(batch: Batch): boolean {
  return batch.status === "queued" || batch.status === "running";
}

/** The names of the templates, by their ids. @throws Failure */
async function readNames(): Promise<Map<string, string>> {
  const templates = await askAll<Template>("/v2/templates?include=public", "templates");
  return new Map(templates.map(({ id, name }) => [id, nameTemplate(name)]));
}

/** Return a reference to a template with its name in place of its id, where that is known. */
function nameOf(reference: string, names: Map<string, string> | null): string {
  const [id = "", selector] = reference.split("@");
  return (names?.get(id) ?? id) + (selector === undefined ? "" : ` @${selector}`);
}

function BatchList({ account }: { account: Account }) {
  const [status, setStatus] = useState("");
  const list = useLoad(
    () => askJson<{ batches: Batch[] }>("GET", `/v2/batches?limit=100${status && `&status=${status}`}`),
    [status],
  );
  const templates = useLoad(readNames, []);
  usePolling(list.data?.batches.some(isGoing) ?? false, list.reload);
  return (
    <>
      <div class="head">
        <h1>{t("batches.title")}</h1>
        <div class="actions">
          <StatusChoice value={status} onChange={setStatus} of={BATCH_STATUSES} />
          {mayChange(account, "render") && (
            <a class="button" href={linkTo("batches", "plans")}>
              {t("plans.title")}
            </a>
          )}
        </div>
      </div>
      <LookOnly account={account} lacks="render" />
      <section>
        <Result of={list}>
          {({ batches }) =>
            batches.length === 0 ? (
              <Empty title={t(status ? "jobs.noneOfStatus" : "batches.none")}>
                <p>{t("batches.noneHelp")}</p>
              </Empty>
            ) : (
              <Wide label={t("batches.title")}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t("batches.batch")}</th>
                      <th scope="col">{t("jobs.status")}</th>
                      <th scope="col">{t("batches.progress")}</th>
                      <th scope="col" class="number roomy">
                        {t("jobs.pages")}
                      </th>
                      <th scope="col" class="roomy">
                        {t("jobs.created")}
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {batches.map((batch) => (
                      <tr key={batch.id}>
                        <th scope="row" class="id">
                          <a href={linkTo("batches", batch.id)}>{nameOf(batch.template, templates.data)}</a>
                          <p class="soft mono">{batch.id}</p>
                          <Narrow>
                            {count("batches.pages", batch.pages)} · {formatAgo(batch.created_at)}
                          </Narrow>
                        </th>
                        <td>
                          <Status of={batch.error ? "failed" : batch.status} />
                        </td>
                        <td>
                          <Progress of={batch} />
                        </td>
                        <td class="number roomy">{formatNumber(batch.pages)}</td>
                        <td class="roomy when" title={formatMoment(batch.created_at)}>
                          {formatAgo(batch.created_at)}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Wide>
            )
          }
        </Result>
      </section>
    </>
  );
}

function Progress({ of: batch }: { of: Batch }) {
  const ended = batch.succeeded + batch.failed;
  return (
    <div class="progress">
      <progress max={Math.max(batch.total, 1)} value={ended} aria-label={t("batches.progress")} />
      <span>
        {t("batches.of", { ended, total: batch.total })}
        {batch.failed > 0 && <span class="bad">, {count("batches.failed", batch.failed)}</span>}
      </span>
    </div>
  );
}

function BatchPage({ id, account }: { id: string; account: Account }) {
  const path = `/v2/batches/${encodeURIComponent(id)}`;
  const batch = useLoad(() => askJson<Batch>("GET", path), [path]);
  const [status, setStatus] = useState("");
  const items = useLoad(
    () => askJson<{ items: BatchItem[]; has_more: boolean }>("GET", `${path}/items${status && `?status=${status}`}`),
    [path, status],
  );
  const [cancelling, setCancelling] = useState(false);
  const [error, setError] = useState<string | null>(null);
  usePolling(batch.data !== null && isGoing(batch.data), () => {
    batch.reload();
    items.reload();
  });
  const attempt = async (act: () => Promise<void>) => {
    setError(null);
    try {
      await act();
    } catch (failure) {
      setError(describe(failure));
    }
  };
  const save = (from: string, name: string) => attempt(() => download(from, name));
  // With a byte order mark: without it Excel reads Windows-1252.
  const saveFailed = async () => saveFile(new Response(await writeFailed(id), { headers: { "Content-Type": WORKBOOK } }), "failed.xlsx");
  return (
    <>
      <p class="crumb">
        <a href={linkTo("batches")}>{t("batches.title")}</a>
      </p>
      {batch.data === null && <h1 class="visually-hidden">{t("batches.batch")}</h1>}
      <Result of={batch}>
        {(record) => (
          <>
            <div class="head">
              <div>
                <h1>{t("batches.batch")}</h1>
                <p class="soft mono">{record.id}</p>
              </div>
              <div class="actions">
                {record.status === "finished" && !record.plan && (
                  <button type="button" class="primary" onClick={() => save(`${path}/result`, "batch")}>
                    {t("batches.result")}
                  </button>
                )}
                {!isGoing(record) && record.failed > 0 && (
                  <button type="button" onClick={() => attempt(saveFailed)}>
                    {t("batches.saveFailed")}
                  </button>
                )}
                {!isGoing(record) && record.failed > 0 && canRepeat(id) && mayChange(account, "render") && (
                  <button type="button" onClick={() => attempt(async () => goTo("batches", (await repeatFailed(id)).id))}>
                    {count("batches.repeat", record.failed)}
                  </button>
                )}
                {isGoing(record) && mayChange(account, "render") && (
                  <button type="button" class="danger" onClick={() => setCancelling(true)}>
                    {t("jobs.cancel")}
                  </button>
                )}
              </div>
            </div>
            {error !== null && <Notice kind="error">{error}</Notice>}
            {record.error && <Notice kind="error">{record.error.message}</Notice>}
            <section class="panel">
              <p>
                <Status of={record.status} /> {count("batches.pages", record.pages)}
                {record.expires_at && <span class="soft"> · {t("batches.expires", { ago: formatAgo(record.expires_at) })}</span>}
              </p>
              <Progress of={record} />
            </section>
            {record.plan && <Run batch={record} isGoing={isGoing(record)} mayDecide={mayChange(account, "render")} onSave={save} onDecide={batch.reload} />}
          </>
        )}
      </Result>
      <section aria-labelledby="documents">
        <div class="head">
          <h2 id="documents">{t("batches.documents")}</h2>
          <StatusChoice value={status} onChange={setStatus} of={ITEM_STATUSES} />
        </div>
        <Result of={items}>
          {(page) =>
            page.items.length === 0 ? (
              <p class="soft">{t("jobs.noneOfStatus")}</p>
            ) : (
              <>
                <Wide label={t("batches.documents")}>
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">{t("batches.number")}</th>
                        <th scope="col">{t("jobs.status")}</th>
                        <th scope="col" class="number roomy">
                          {t("jobs.pages")}
                        </th>
                        <td />
                      </tr>
                    </thead>
                    <tbody>
                      {page.items.map((item) => (
                        <tr key={item.index}>
                          <th scope="row" class="id">
                            {formatNumber(item.index + 1)} <span class="soft">{findKey(id, item.index) ?? item.filename}</span>
                            {item.pages !== undefined && <Narrow>{count("batches.pages", item.pages)}</Narrow>}
                            <Findings error={item.error} warnings={item.warnings} />
                          </th>
                          <td>
                            <Status of={item.status} />
                          </td>
                          <td class="number roomy">{item.pages ?? ""}</td>
                          <td class="row-actions">
                            {item.status === "succeeded" && (
                              <button
                                type="button"
                                class="quiet"
                                aria-label={t("jobs.downloadThis", { id: String(item.index + 1) })}
                                onClick={() => save(`/v2/jobs/${item.job_id}/pdf`, item.filename ?? `${item.index + 1}.pdf`)}
                              >
                                {t("jobs.download")}
                              </button>
                            )}
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Wide>
                {page.has_more && <p class="soft">{t("batches.more")}</p>}
              </>
            )
          }
        </Result>
      </section>
      {cancelling && (
        <FormDialog
          title={t("batches.cancelTitle")}
          action={t("batches.cancelAction")}
          danger
          onClose={() => setCancelling(false)}
          onSubmit={async () => {
            await ask("DELETE", path);
            setCancelling(false);
            batch.reload();
            items.reload();
          }}
        >
          <p>{t("batches.cancelHelp")}</p>
        </FormDialog>
      )}
    </>
  );
}
