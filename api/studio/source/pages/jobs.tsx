/** Recorded jobs: status, errors and PDFs. */

import { useState } from "preact/hooks";
import { ask, askJson } from "../lib/api";
import { download } from "../lib/download";
import { describe, useLoad } from "../lib/load";
import { count, formatAgo, formatMoment, type Key, t } from "../lib/messages";
import { usePolling } from "../lib/poll";
import { mayChange } from "../lib/rights";
import type { ErrorBody, Job, PageProps, Warning } from "../lib/types";
import { Badge, Empty, LookOnly, Narrow, Notice, Result, Wide } from "../ui/parts";

export const STATUSES = ["queued", "running", "succeeded", "failed", "cancelled"] as const;

export function Jobs({ account }: PageProps) {
  const [status, setStatus] = useState("");
  const [limit, setLimit] = useState(50);
  const [error, setError] = useState<string | null>(null);
  const list = useLoad(
    () => askJson<{ jobs: Job[]; next_cursor?: string }>("GET", `/v2/jobs?limit=${limit}${status && `&status=${status}`}`),
    [status, limit],
  );
  const going = list.data?.jobs.some((job) => job.status === "queued" || job.status === "running") ?? false;
  usePolling(going, list.reload);
  const attempt = async (work: () => Promise<unknown>) => {
    setError(null);
    try {
      await work();
      list.reload();
    } catch (failure) {
      setError(describe(failure));
    }
  };
  return (
    <>
      <div class="head">
        <h1>{t("jobs.title")}</h1>
        <StatusChoice value={status} onChange={setStatus} />
      </div>
      <p class="soft">{t("jobs.help")}</p>
      <LookOnly account={account} lacks="render" />
      {error !== null && <Notice kind="error">{error}</Notice>}
      <section>
        <Result of={list}>
          {({ jobs, next_cursor }) =>
            jobs.length === 0 ? (
              <Empty title={t(status ? "jobs.noneOfStatus" : "jobs.none")}>
                <p>{t("jobs.noneHelp")}</p>
              </Empty>
            ) : (
              <>
                <Wide label={t("jobs.title")}>
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">{t("jobs.job")}</th>
                        <th scope="col">{t("jobs.status")}</th>
                        <th scope="col" class="roomy">
                          {t("jobs.template")}
                        </th>
                        <th scope="col" class="number roomy">
                          {t("jobs.pages")}
                        </th>
                        <th scope="col" class="roomy">
                          {t("jobs.created")}
                        </th>
                        <td />
                      </tr>
                    </thead>
                    <tbody>
                      {jobs.map((job) => (
                        <tr key={job.id}>
                          <th scope="row" class="id">
                            <span class="mono">{job.id}</span>
                            <Narrow>
                              {job.pages !== undefined && `${count("batches.pages", job.pages)} · `}
                              {formatAgo(job.created_at)}
                            </Narrow>
                            <Findings error={job.error} warnings={job.warnings} />
                          </th>
                          <td>
                            <Status of={job.status} /> {job.draft && <Badge>{t("jobs.draft")}</Badge>}
                          </td>
                          <td class="mono roomy">{job.template ?? <span class="soft">–</span>}</td>
                          <td class="number roomy">{job.pages ?? ""}</td>
                          <td class="roomy when" title={formatMoment(job.created_at)}>
                            {formatAgo(job.created_at)}
                          </td>
                          <td class="row-actions">
                            {job.status === "succeeded" && (
                              <button
                                type="button"
                                class="quiet"
                                aria-label={t("jobs.downloadThis", { id: job.id })}
                                onClick={() => attempt(() => download(`/v2/jobs/${job.id}/pdf`, "document.pdf"))}
                              >
                                {t("jobs.download")}
                              </button>
                            )}
                            {mayChange(account, "render") && (job.status === "queued" || job.status === "running") && (
                              <button
                                type="button"
                                class="quiet danger"
                                aria-label={t("jobs.cancelThis", { id: job.id })}
                                onClick={() => attempt(() => ask("DELETE", `/v2/jobs/${job.id}`))}
                              >
                                {t("jobs.cancel")}
                              </button>
                            )}
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Wide>
                {next_cursor && limit < 1000 && (
                  <button type="button" onClick={() => setLimit(Math.min(limit * 4, 1000))}>
                    {t("jobs.more")}
                  </button>
                )}
              </>
            )
          }
        </Result>
      </section>
    </>
  );
}

export function StatusChoice({ value, onChange, of: statuses = STATUSES }: { value: string; onChange: (status: string) => void; of?: readonly string[] }) {
  return (
    <div class="field inline">
      <label for="status">{t("jobs.status")}</label>
      <select id="status" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t("jobs.all")}</option>
        {statuses.map((each) => (
          <option key={each} value={each}>
            {t(`status.${each}` as Key)}
          </option>
        ))}
      </select>
    </div>
  );
}

export function Status({ of: status }: { of: string }) {
  const kind = status === "succeeded" || status === "finished" ? "good" : status === "failed" ? "bad" : status === "running" ? "accent" : "plain";
  return <Badge kind={kind}>{t(`status.${status}` as Key)}</Badge>;
}

/** The findings of a render: the error with the position of each element, and the warnings. */
export function Findings({ error, warnings }: { error?: ErrorBody | undefined; warnings?: Warning[] | undefined }) {
  if (!error && !warnings?.length) return null;
  return (
    <div class="findings">
      {error && (
        <p class="finding bad">
          {error.message}{" "}
          {error.stackTrace?.[0] && (
            <span class="soft">
              {t("finding.place", { line: error.stackTrace[0].lineStart, column: error.stackTrace[0].columnStart })}
            </span>
          )}
        </p>
      )}
      {warnings && warnings.length > 0 && (
        <details>
          <summary>
            {count(
              "finding.warnings",
              warnings.reduce((sum, each) => sum + each.count, 0),
            )}
          </summary>
          <ul>
            {warnings.map((each) => (
              <li key={each.code}>
                {each.message} <span class="soft">{each.count > 1 && `× ${each.count}`}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
