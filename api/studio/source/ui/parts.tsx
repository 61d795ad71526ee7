/** The components shared by the pages. */

import type { ComponentChildren, TargetedInputEvent } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { describe } from "../lib/load";
import { t } from "../lib/messages";
import { mayChange } from "../lib/rights";
import type { Account } from "../lib/types";

export function Notice({ kind = "info", children }: { kind?: "info" | "error" | "good"; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** The sentence of a page on which the session may look only; nothing where it may do more. */
export function LookOnly({ account, lacks }: { account: Account; lacks: "templates" | "render" }) {
  return mayChange(account, lacks) ? null : <Notice>{t(`lacks.${lacks}`)}</Notice>;
}

/** What columns of class `roomy` say, below the name of a row where there is no room for them. */
export function Narrow({ children }: { children: ComponentChildren }) {
  return <span class="narrow soft">{children}</span>;
}

/** An empty state: a title, and how to start. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      {t("loading")}
    </p>
  );
}

/** A part of a page that is loading: its error, a placeholder, or the content. */
export function Result<T>({
  of,
  children,
}: {
  of: { data: T | null; error: string | null; reload: () => void };
  children: (data: T) => ComponentChildren;
}) {
  return (
    <>
      {of.error !== null && (
        <Notice kind="error">
          <span>{of.error}</span>{" "}
          <button type="button" class="link" onClick={of.reload}>
            {t("again")}
          </button>
        </Notice>
      )}
      {of.data !== null ? children(of.data) : of.error === null && <Loading />}
    </>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  name?: string;
  type?: "text" | "search" | "password" | "url" | "date" | "number";
  min?: number;
  max?: number;
  step?: "any";
  value?: string;
  defaultValue?: string;
  placeholder?: string;
  required?: boolean;
  maxLength?: number;
  pattern?: string;
  autofocus?: boolean;
  autocomplete?: "off" | "current-password";
  spellcheck?: boolean;
  onInput?: (event: TargetedInputEvent<HTMLInputElement>) => void;
}

export function Field({ label, hint, ...input }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} {...(hint ? { "aria-describedby": `${id}-hint` } : {})} {...(input as object)} />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A form in a modal dialog: traps the focus, closes with Escape, and shows the error of a failed request. */
export function FormDialog({
  title,
  action,
  danger = false,
  blocked = false,
  closing = t("cancel"),
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  action: string;
  danger?: boolean;
  /** Whether the action is not possible at the moment. */
  blocked?: boolean;
  /** The text of the button that closes it. */
  closing?: string;
  onSubmit: (form: FormData) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const id = useId();
  // Removing an open dialog loses the focus: restore it to the previous element.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onSubmit(new FormData(event.target as HTMLFormElement));
    } catch (failure) {
      setError(describe(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={id}>{title}</h2>
        {children}
        {error !== null && <Notice kind="error">{error}</Notice>}
        <div class="actions end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {closing}
          </button>
          <button type="submit" class={danger ? "danger" : "primary"} disabled={busy || blocked}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A secret that is shown once, with a copy button. */
export function Secret({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  return (
    <div class="secret">
      <p>{label}</p>
      <div class="secret-line">
        <code>{value}</code>
        <button type="button" onClick={copy}>
          {copied ? t("copied") : t("copy")}
        </button>
      </div>
    </div>
  );
}

export function Badge({ kind = "plain", children }: { kind?: "plain" | "good" | "bad" | "accent"; children: ComponentChildren }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

/** A table that scrolls horizontally on narrow pages, also by keyboard. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="wide" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
