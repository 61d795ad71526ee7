/** The audit log of the account: who changed what, and when. */

import { useState } from "preact/hooks";
import { askJson } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { formatAgo, formatMoment, t } from "../../lib/messages";
import type { AuditLog } from "../../lib/records";
import type { Key } from "../../lib/types";
import { Badge, Narrow, Result, Wide } from "../../ui/parts";

const STEP = 20;

export function Audit() {
  const [limit, setLimit] = useState(STEP);
  const names = useLoad(async () => new Map((await askJson<{ keys: Key[] }>("GET", "/v2/keys")).keys.map((key) => [key.id, key.name ?? key.display])), []);
  const log = useLoad(() => askJson<AuditLog>("GET", `/v2/audit?limit=${limit}`), [limit]);
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">{t("audit.title")}</h2>
      <p class="soft">{t("audit.help")}</p>
      <Result of={log}>
        {({ entries, next_cursor }) =>
          entries.length === 0 ? (
            <p class="soft">{t("audit.none")}</p>
          ) : (
            <>
              <Wide label={t("audit.title")}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t("audit.action")}</th>
                      <th scope="col">{t("audit.subject")}</th>
                      <th scope="col" class="roomy">
                        {t("audit.actor")}
                      </th>
                      <th scope="col" class="roomy">
                        {t("audit.at")}
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {entries.map(({ number, at, actor, action, subject, details }) => {
                      const who = actor.startsWith("operator") ? t("audit.operator") : (names.data?.get(actor) ?? actor);
                      return (
                        <tr key={number}>
                          <th scope="row">
                            <Badge>{action}</Badge>
                          </th>
                          <td>
                            <span class="mono break">{subject}</span> <span class="soft break">{listDetails(details)}</span>
                            <Narrow>
                              {formatAgo(at)} · {who}
                            </Narrow>
                          </td>
                          <td class="roomy" title={actor}>
                            {who}
                          </td>
                          <td class="roomy" title={formatMoment(at)}>
                            {formatAgo(at)}
                          </td>
                        </tr>
                      );
                    })}
                  </tbody>
                </table>
              </Wide>
              {next_cursor !== undefined && limit < 1000 && (
                <button type="button" onClick={() => setLimit(Math.min(limit * 4, 1000))}>
                  {t("audit.more")}
                </button>
              )}
            </>
          )
        }
      </Result>
    </section>
  );
}

/** The details for people, without digests. */
function listDetails(details: Record<string, unknown>): string {
  return Object.entries(details)
    .filter(([name]) => name !== "sha256")
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
