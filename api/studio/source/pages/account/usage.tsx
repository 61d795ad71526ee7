/** The usage of a billing period: the total against the allowance, and a bar for each day. */

import { useState } from "preact/hooks";
import { askJson } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { count, formatDate, formatNumber, t } from "../../lib/messages";
import type { Account, Usage, UsageDays, UsageTemplates } from "../../lib/types";
import { Badge, Result } from "../../ui/parts";
import { DayPlot } from "./plot";
import { TemplatePlot } from "./template-plot";

const DAY = 86_400_000;

export function UsageReport({ account }: { account: Account }) {
  const [date, setDate] = useState<string | null>(null);
  const query = date === null ? "" : `?date=${date}`;
  const report = useLoad(async () => {
    const [usage, days, templates] = await Promise.all([
      askJson<Usage>("GET", `/v2/account/usage${query}`),
      askJson<UsageDays>("GET", `/v2/account/usage/days${query}`),
      askJson<UsageTemplates>("GET", `/v2/account/usage/templates${query}`),
    ]);
    return { usage, days, templates };
  }, [query]);
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">{t("usage.title")}</h2>
      <Result of={report}>
        {({ usage, days, templates }) => (
          <>
            <div class="between">
              <p class="soft">{t("usage.period", { from: formatDate(usage.startDate), to: formatDate(dayBefore(usage.endDate)) })}</p>
              <div class="actions">
                <button type="button" onClick={() => setDate(dayBefore(usage.startDate).slice(0, 10))}>
                  {t("usage.earlier")}
                </button>
                <button
                  type="button"
                  disabled={Date.parse(usage.endDate) > Date.now()}
                  onClick={() => setDate(usage.endDate.slice(0, 10))}
                >
                  {t("usage.later")}
                </button>
              </div>
            </div>
            <div class="figures">
              <Figure
                kind="pages"
                label={t("usage.pages")}
                used={usage.pagesGenerated}
                allowed={usage.maxPagesGenerated}
                calls={usage.apiCalls}
                over={usage.overagePages}
              />
              {(usage.draft || usage.maxDraftPagesGenerated !== undefined) && (
                <Figure
                  kind="drafts"
                  label={t("usage.drafts")}
                  used={usage.draft?.pagesGenerated ?? 0}
                  allowed={usage.maxDraftPagesGenerated}
                  calls={usage.draft?.apiCalls ?? 0}
                />
              )}
              {usage.maxCpuSeconds !== undefined && (
                <Figure label={t("usage.cpu")} used={Math.round(usage.cpuSeconds)} allowed={usage.maxCpuSeconds} />
              )}
            </div>
            <DayPlot report={days} />
            <TemplatePlot report={templates} usage={usage} account={account} />
          </>
        )}
      </Result>
    </section>
  );
}

function dayBefore(timestamp: string): string {
  return new Date(Date.parse(timestamp) - DAY).toISOString();
}

function Figure({
  kind,
  label,
  used,
  allowed,
  calls,
  over,
}: {
  kind?: "pages" | "drafts";
  label: string;
  used: number;
  allowed: number | undefined;
  calls?: number;
  over?: number | undefined;
}) {
  return (
    <div class="figure">
      <p class="figure-label">
        {label}
        {kind !== undefined && <span class={`key ${kind}`} />}
      </p>
      <p class="figure-value">
        {formatNumber(used)}
        {allowed !== undefined && <span> {t("usage.of", { n: allowed })}</span>}
      </p>
      {allowed !== undefined && (
        <meter min={0} max={Math.max(allowed, 1)} high={allowed * 0.9} value={Math.min(used, allowed)} aria-label={label} />
      )}
      {calls !== undefined && (
        <p class="soft">
          {count("usage.renders", calls)} {over !== undefined && <Badge kind="bad">{count("usage.over", over)}</Badge>}
        </p>
      )}
    </div>
  );
}
