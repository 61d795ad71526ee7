/** The account's API keys: creation, list, and revocation. */

import { useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { formatAgo, formatDate, formatMoment, t } from "../../lib/messages";
import { type Key, SCOPES, type Scope } from "../../lib/types";
import { Badge, Field, FormDialog, Notice, Result, Secret, Wide } from "../../ui/parts";

export function Keys({ own }: { own: Scope[] }) {
  const list = useLoad(async () => (await askJson<{ keys: Key[] }>("GET", "/v2/keys")).keys, []);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const [made, setMade] = useState<string | null>(null);
  return (
    <section aria-labelledby="keys">
      <div class="head">
        <h2 id="keys">{t("keys.title")}</h2>
        <button type="button" onClick={() => setMaking(true)}>
          {t("keys.make")}
        </button>
      </div>
      <p class="soft">{t("keys.help")}</p>
      {made !== null && (
        <Notice kind="good">
          <Secret label={t("keys.made")} value={made} />
        </Notice>
      )}
      <Result of={list}>
        {(keys) => (
          <Wide label={t("keys.title")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("keys.key")}</th>
                  <th scope="col">{t("keys.state")}</th>
                  <th scope="col" class="roomy">
                    {t("keys.since")}
                  </th>
                  <td />
                </tr>
              </thead>
              <tbody>
                {keys.map((key) => (
                  <tr key={key.id} class={isLive(key) ? "" : "past"}>
                    <th scope="row">
                      {key.name ?? <span class="soft">{t("keys.unnamed")}</span>} <span class="mono soft">{key.display}</span>
                      <span class="scopes soft">{listScopes(key.scopes)}</span>
                    </th>
                    <td>
                      <KeyState of={key} />
                    </td>
                    <td class="roomy" title={formatMoment(key.created_at)}>
                      {formatAgo(key.created_at)}
                    </td>
                    <td class="row-actions">
                      {!key.revoked_at && (
                        <button
                          type="button"
                          class="quiet danger"
                          aria-label={t("keys.revokeThis", { name: key.name ?? key.display })}
                          onClick={() => setRevoking(key)}
                        >
                          {t("keys.revoke")}
                        </button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Result>
      {making && (
        <MakeKey
          own={own}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            list.reload();
          }}
        />
      )}
      {revoking && (
        <FormDialog
          title={t("keys.revokeTitle")}
          action={t("keys.revoke")}
          danger
          onClose={() => setRevoking(null)}
          onSubmit={async () => {
            await ask("DELETE", `/v2/keys/${revoking.id}`);
            setRevoking(null);
            setMade(null);
            list.reload();
          }}
        >
          <p>
            {revoking.name ?? ""} <span class="mono">{revoking.display}</span>
          </p>
          <p>{t(revoking.is_own ? "keys.revokeOwn" : revoking.display === "sign-in" ? "keys.revokePerson" : "keys.revokeHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}

function MakeKey({ own, onMade, onClose }: { own: Scope[]; onMade: (key: string) => void; onClose: () => void }) {
  const [scopes, setScopes] = useState(own);
  const submit = async (form: FormData) => {
    const name = String(form.get("name")).trim();
    const day = String(form.get("day"));
    const fields = { scopes, ...(name && { name }), ...(day && { expires_at: `${day}T00:00:00Z` }) };
    onMade((await askJson<{ key: string }>("POST", "/v2/keys", { json: fields })).key);
  };
  return (
    <FormDialog title={t("keys.make")} action={t("keys.makeAction")} blocked={scopes.length === 0} onSubmit={submit} onClose={onClose}>
      <Field label={t("keys.name")} hint={t("keys.nameHint")} name="name" required maxLength={200} autofocus />
      <fieldset>
        <legend>{t("keys.scopes")}</legend>
        {SCOPES.filter((scope) => own.includes(scope)).map((scope) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ currentTarget }) =>
                setScopes(SCOPES.filter((each) => (each === scope ? currentTarget.checked : scopes.includes(each))))
              }
            />
            <span>
              {t(`scope.${scope}`)} <span class="soft">{t(`scope.${scope}Help`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field label={t("keys.expiry")} hint={t("keys.expiryHint")} name="day" type="date" />
    </FormDialog>
  );
}

/** Return what a key may be used for, in words. */
export function listScopes(scopes: readonly Scope[]): string {
  return scopes.map((scope) => t(`scope.${scope}`)).join(", ");
}

function isLive(key: Key): boolean {
  return !key.revoked_at && !(key.expires_at && Date.parse(key.expires_at) <= Date.now());
}

function KeyState({ of: key }: { of: Key }) {
  if (key.revoked_at) return <Badge kind="bad">{t("keys.revoked")}</Badge>;
  if (!isLive(key)) return <Badge kind="bad">{t("keys.expired")}</Badge>;
  if (key.is_own) return <Badge kind="accent">{t("keys.own")}</Badge>;
  if (key.expires_at) return <Badge>{t("keys.until", { day: formatDate(key.expires_at) })}</Badge>;
  return <Badge kind="good">{t("keys.live")}</Badge>;
}
