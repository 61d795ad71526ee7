/** The sign-in: the key is sent once and exchanged for a session cookie. */

import { useState } from "preact/hooks";
import { ask, Failure } from "../lib/api";
import { describe } from "../lib/load";
import { t } from "../lib/messages";
import { LanguageChoice } from "../ui/language";
import { Field, Notice } from "../ui/parts";

export function SignIn({
  reason,
  onSignedIn,
  onLanguage,
}: {
  reason: string | null;
  onSignedIn: () => void;
  onLanguage: () => void;
}) {
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
  return (
    <main class="sign-in">
      <h1>
        Pressroom <span>Studio</span>
      </h1>
      <p class="lead">{t("signIn.lead")}</p>
      {reason !== null && error === null && <Notice>{reason}</Notice>}
      {!isSecureContext && <Notice kind="error">{t("signIn.insecure")}</Notice>}
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
          autofocus
          placeholder="pr_…"
        />
        {error !== null && <Notice kind="error">{error}</Notice>}
        <button type="submit" class="primary" disabled={busy || !isSecureContext}>
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
