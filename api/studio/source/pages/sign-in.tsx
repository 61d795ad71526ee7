/** The sign-in: at the provider if there is one, or with a key that is sent once, for a session cookie. */

import { useEffect, useState } from "preact/hooks";
import { ask, askJson, Failure } from "../lib/api";
import { describe } from "../lib/load";
import { t, type Key } from "../lib/messages";
import { LanguageChoice } from "../ui/language";
import { Field, Notice } from "../ui/parts";

/** Why a sign-in at the provider failed, by the word in the address. */
const PROBLEMS: ReadonlyMap<string, Key> = new Map([
  ["cancelled", "signIn.cancelled"],
  ["expired", "signIn.expired"],
  ["provider", "signIn.provider"],
  ["unverified", "signIn.unverified"],
  ["no-access", "signIn.noAccess"],
  ["several", "signIn.several"],
  ["revoked", "signIn.revoked"],
  ["account", "signIn.account"],
]);

/** The name of the provider, null without one, undefined until it is known. */
function useProvider(): string | null | undefined {
  const [provider, setProvider] = useState<string | null>();
  useEffect(() => {
    askJson<{ provider: string | null }>("GET", "/studio/sign-in").then(
      (answer) => setProvider(answer.provider),
      () => setProvider(null),
    );
  }, []);
  return provider;
}

export function SignIn({
  reason,
  route,
  onSignedIn,
  onLanguage,
}: {
  reason: string | null;
  route: string[];
  onSignedIn: () => void;
  onLanguage: () => void;
}) {
  const provider = useProvider();
  const problem = route[0] === "sign-in" ? PROBLEMS.get(route[1] ?? "") : undefined;
  const accounts = route[1] === "several" ? route.slice(2).filter((id) => /^acc_[a-z2-7]{24}$/.test(id)) : [];
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const key = String(new FormData(form).get("key")).trim();
    setBusy(true);
    setError(null);
    try {
      if (!/^[!-~]+$/.test(key)) throw new Failure(401, t("signIn.noKey"), null);
      await ask("POST", "/v2/session", { headers: { Authorization: `Bearer ${key}` } });
      form.reset();
      onSignedIn();
    } catch (failure) {
      setError(describe(failure));
    } finally {
      setBusy(false);
    }
  };
  if (provider === undefined) return <main class="wait" aria-busy="true" />;
  return (
    <main class="sign-in">
      <h1>
        Pressroom <span>Studio</span>
      </h1>
      <p class="lead">{t("signIn.lead")}</p>
      {reason !== null && error === null && <Notice>{reason}</Notice>}
      {problem && error === null && <Notice kind={accounts.length > 0 ? "info" : "error"}>{t(problem)}</Notice>}
      {!isSecureContext && <Notice kind="error">{t("signIn.insecure")}</Notice>}
      {provider && (
        <>
          <div class="providers">
            {accounts.length > 0 ? (
              accounts.map((id) => (
                <a key={id} class="button" href={`/studio/sign-in/begin?account=${id}`}>
                  <code>{id}</code>
                </a>
              ))
            ) : (
              <a class="button primary" href="/studio/sign-in/begin">
                {t("signIn.with", { provider })}
              </a>
            )}
          </div>
          <p class="or">{t("signIn.or")}</p>
        </>
      )}
      <form onSubmit={submit}>
        {/* Password managers keep a key under a name. */}
        <input type="text" name="username" autocomplete="username" value="Pressroom" hidden readOnly />
        <Field
          label={t("signIn.key")}
          hint={t("signIn.hint")}
          name="key"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          autofocus={provider === null}
          placeholder="pr_…"
        />
        {error !== null && <Notice kind="error">{error}</Notice>}
        <button type="submit" class={provider ? "" : "primary"} disabled={busy || !isSecureContext}>
          {t("signIn.action")}
        </button>
      </form>
      <details>
        <summary>{t("signIn.where")}</summary>
        <p>{t("signIn.whereLocal")}</p>
        <pre>
          <code>pressroom up --seed</code>
        </pre>
        <p>{t("signIn.whereFarm")}</p>
        <pre>
          <code>pressroom key create ACCOUNT_ID</code>
        </pre>
      </details>
      <LanguageChoice onChange={onLanguage} />
    </main>
  );
}
