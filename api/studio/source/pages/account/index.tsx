/** The account: usage, keys, webhooks, destinations and the audit log. */

import { t } from "../../lib/messages";
import { mayChange, maySee } from "../../lib/rights";
import type { PageProps } from "../../lib/types";
import { LanguageChoice } from "../../ui/language";
import { Notice } from "../../ui/parts";
import { Audit } from "./audit";
import { Keys, listScopes } from "./keys";
import { Targets } from "./targets";
import { UsageReport } from "./usage";

export function AccountPage({ account, onLanguage }: PageProps) {
  const rate = account.rate_limit;
  return (
    <>
      <div class="head">
        <h1>{t("account.title")}</h1>
      </div>
      {maySee(account, "account") && <UsageReport account={account} />}
      {mayChange(account, "account") ? (
        <>
          <Keys own={account.scopes} />
          <Targets kind="webhooks" />
          <Targets kind="destinations" />
          <Audit />
        </>
      ) : (
        <section>
          <Notice>{t(maySee(account, "account") ? "lacks.account" : "lacks.usage")}</Notice>
        </section>
      )}
      <section aria-labelledby="terms">
        <h2 id="terms">{t("account.terms")}</h2>
        <dl class="facts">
          <dt>{t("account.user")}</dt>
          <dd>
            {account.user.name} <span class="soft">{account.user.email}</span>
          </dd>
          <dt>{t("account.id")}</dt>
          <dd class="mono">{account.id}</dd>
          <dt>{t("account.plan")}</dt>
          <dd>{t(account.plan === "free" ? "account.free" : "account.paid")}</dd>
          <dt>{t("account.scopes")}</dt>
          <dd>{listScopes(account.scopes)}</dd>
          <dt>{t("account.rate")}</dt>
          <dd>
            {rate
              ? t(rate.window_seconds === 60 ? "account.perMinute" : "account.perSecond", { n: rate.requests })
              : t("account.noRate")}
          </dd>
        </dl>
        <LanguageChoice onChange={onLanguage} />
      </section>
    </>
  );
}
