/** Texts and samples of code. */

import { useId, useState } from "preact/hooks";
import { t } from "../lib/messages";
import { type Operation, valueOf } from "./description";

/** Paragraphs; what stands between backticks is code. */
export function Text({ of }: { of: string }) {
  return (
    <>
      {of
        .trim()
        .split("\n\n")
        .map((paragraph, index) => (
          <p key={index}>{paragraph.split("`").map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</p>
        ))}
    </>
  );
}

const CHOSEN = "pressroom-samples";

/** The samples of an operation, with the typed values or the examples in place of its placeholders. */
export function Samples({ of, values, body }: { of: Operation; values: Record<string, string>; body: string | null }) {
  const [chosen, choose] = useState(() => localStorage.getItem(CHOSEN) ?? "curl");
  const [copied, setCopied] = useState("");
  const id = useId();
  const sample = of.samples.find(({ label }) => label === chosen) ?? of.samples[0];
  if (!sample) return null;
  const source = of.parameters.reduce((text, parameter) => {
    const value = valueOf(parameter, values);
    return text.replaceAll(`{${parameter.name}}`, parameter.in === "header" ? value : encodeURIComponent(value));
  }, sample.source);
  const copy = async () => {
    await navigator.clipboard.writeText(source);
    setCopied(source);
  };
  return (
    <div class="samples">
      <div class="between">
        <div class="field inline">
          <label for={id}>{t("docs.sample")}</label>
          <select
            id={id}
            value={sample.label}
            onChange={({ currentTarget }) => {
              choose(currentTarget.value);
              localStorage.setItem(CHOSEN, currentTarget.value);
            }}
          >
            {of.samples.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </div>
        <button type="button" onClick={copy} aria-label={`${t("copy")}: ${of.summary}`}>
          {copied === source ? t("copied") : t("copy")}
        </button>
      </div>
      <pre lang="en" tabIndex={0} role="group" aria-label={t("docs.sampleOf", { name: of.summary })}>
        <code>{source}</code>
      </pre>
      {body !== null && <p class="hint">{t("docs.sampleBody")}</p>}
    </div>
  );
}
