/** The history of a tag: what it pointed to, since when, and who moved it. */

import { useState } from "preact/hooks";
import { askJson } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { formatAgo, formatMoment, t } from "../../lib/messages";
import type { TagHistory as History } from "../../lib/records";
import { Result, Wide } from "../../ui/parts";

export function TagHistory({ path, tag }: { path: string; tag: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("tags.history", { tag })}</summary>
      {open && <Events path={`${path}/tags/${encodeURIComponent(tag)}/history`} label={t("tags.history", { tag })} />}
    </details>
  );
}

function Events({ path, label }: { path: string; label: string }) {
  const list = useLoad(() => askJson<History>("GET", path), [path]);
  return (
    <Result of={list}>
      {({ events, has_more }) => (
        <>
          <Wide label={label}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("tags.change")}</th>
                  <th scope="col">{t("tags.by")}</th>
                  <th scope="col">{t("tags.at")}</th>
                </tr>
              </thead>
              <tbody>
                {events.map((each, index) => (
                  <tr key={index}>
                    <th scope="row">{t(`tags.${each.action}`, { from: each.previous_version ?? "–", n: each.version ?? "–" })}</th>
                    <td>{each.by.name}</td>
                    <td title={formatMoment(each.at)}>{formatAgo(each.at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
          {has_more && <p class="soft">{t("tags.more")}</p>}
        </>
      )}
    </Result>
  );
}
