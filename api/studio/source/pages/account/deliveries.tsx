/** Deliveries to a webhook or a destination: how each went, and once more. */

import { useState } from "preact/hooks";
import { ask } from "../../lib/api";
import { describe } from "../../lib/load";
import { formatAgo, formatMoment, t } from "../../lib/messages";
import type { Delivery } from "../../lib/types";
import { Badge, Narrow, Notice, Wide } from "../../ui/parts";

export function DeliveryTable({ of: deliveries, onAgain }: { of: Delivery[]; onAgain: () => void }) {
  const [error, setError] = useState<string | null>(null);
  const redeliver = async ({ id }: Delivery) => {
    try {
      await ask("POST", `/v2/deliveries/${id}/redeliver`);
      setError(null);
      onAgain();
    } catch (failure) {
      setError(describe(failure));
    }
  };
  return (
    <>
      {error !== null && <Notice kind="error">{error}</Notice>}
      <Wide label={t("targets.log")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("targets.delivery")}</th>
              <th scope="col">{t("targets.state")}</th>
              <th scope="col" class="roomy">
                {t("targets.answer")}
              </th>
              <th scope="col" class="roomy">
                {t("targets.when")}
              </th>
            </tr>
          </thead>
          <tbody>
            {deliveries.map((each) => {
              const last = each.attempts.at(-1);
              const answer = last?.status ?? last?.error ?? each.error;
              const name = each.name ?? each.event;
              return (
                <tr key={each.id}>
                  <th scope="row">
                    <span class="mono break">{name}</span>
                    <Narrow>
                      {formatAgo(each.created_at)}
                      {answer && ` · ${answer}`}
                    </Narrow>
                  </th>
                  <td>
                    <Badge kind={each.status === "delivered" ? "good" : each.status === "failed" ? "bad" : "plain"}>{t(`delivery.${each.status}`)}</Badge>{" "}
                    {each.status !== "pending" && !each.event.endsWith(".test") && (
                      <button type="button" class="quiet" aria-label={t("targets.againThis", { name })} onClick={() => redeliver(each)}>
                        {t("targets.again")}
                      </button>
                    )}
                  </td>
                  <td class="roomy">{answer ?? <span class="soft">–</span>}</td>
                  <td class="roomy" title={formatMoment(each.created_at)}>
                    {formatAgo(each.created_at)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Wide>
    </>
  );
}
