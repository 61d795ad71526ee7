/** One document as a PDF: a draft or a production render, with its pages and what they cost. */

import { useEffect, useState } from "preact/hooks";
import { ask, askJson, Failure } from "../../lib/api";
import { saveFile } from "../../lib/download";
import { describe, useLoad } from "../../lib/load";
import { count, formatNumber, t } from "../../lib/messages";
import { drawPage } from "../../lib/previews";
import { mayChange, maySee } from "../../lib/rights";
import type { Account, Usage } from "../../lib/types";
import { FormDialog, Notice } from "../../ui/parts";
import { MEDIA_TYPES, payloadOf, type Sample } from "../editor/samples";

const SMALLEST = 0.1; // the scale of a page that is not shown
const PAUSE_MS = 300;
const MOST_LISTED = 20;

type Purpose = "draft" | "production";

export function DownloadDialog({
  account,
  id,
  text,
  sample: given,
  draft = given,
  isTyped = false,
  save,
  onClose,
}: {
  account: Account;
  id: string;
  /** The text of the template, or its id. */
  text: string;
  sample: Sample;
  /** The data of drafts, where they are others. */
  draft?: Sample;
  /** Whether the data are typed here. */
  isTyped?: boolean;
  /** Save the text first; null where it is saved. */
  save: (() => Promise<boolean>) | null;
  onClose: () => void;
}) {
  const [purpose, setPurpose] = useState<Purpose>("draft");
  const [sample, setSample] = useState(given);
  const [pages, setPages] = useState<number | null>(null);
  const [errors, setErrors] = useState<string[]>([]);
  const [done, setDone] = useState<string | null>(null);
  const sent = purpose === "draft" && !isTyped ? draft : sample;
  const usage = useLoad(async () => (maySee(account, "account") ? askJson<Usage>("GET", "/v2/account/usage") : null), []);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { preview, release } = await drawPage({ template: text, ...payloadOf(sent), scale: SMALLEST }, stop.signal);
        release();
        setPages(preview.pages);
        setErrors(preview.findings.errors.map(({ message }) => message));
      } catch {
        if (!stop.signal.aborted) setPages(null); // the download says what is wrong
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, sent]);
  const submit = async () => {
    setDone(null);
    setErrors([]);
    if (save && !(await save())) throw new Failure(412, t("download.unsaved"), null);
    const query = new URLSearchParams({ template: id, ...(purpose === "draft" && { draft: "true" }), ...(sent.kind === "markdown" && sent.flow && { flow: sent.flow }) });
    try {
      const answer = await ask("POST", `/v2/pdf?${query}`, {
        body: sent.text.trim() || (sent.kind === "json" ? "{}" : ""),
        type: `${MEDIA_TYPES[sent.kind]}; charset=utf-8`,
      });
      const made = Number(answer.headers.get("X-Page-Count"));
      await saveFile(answer, "document.pdf");
      setDone(count(purpose === "draft" ? "download.doneDraft" : "download.done", made));
      usage.reload();
    } catch (failure) {
      const all = failure instanceof Failure ? failure.stackTrace.flatMap(({ message }) => message ?? []) : [];
      setErrors([...new Set([describe(failure), ...all])].slice(0, MOST_LISTED));
    }
  };
  return (
    <FormDialog title={t("download.title")} action={t(save ? "download.saveAndGo" : "download.action")} closing={t("close")} blocked={!mayChange(account, "render")} onClose={onClose} onSubmit={submit}>
      <fieldset class="purposes">
        <legend class="visually-hidden">{t("download.purpose")}</legend>
        {(["draft", "production"] as const).map((each) => (
          <label key={each} class="choice">
            <input type="radio" name="purpose" value={each} checked={purpose === each} onChange={() => setPurpose(each)} />
            <span>
              <b>{t(`download.${each}`)}</b>
              <span class="soft">{t(`download.${each}Help`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {isTyped && (
        <div class="field">
          <label for="download-data">{t("download.data")}</label>
          <textarea
            id="download-data"
            class="mono"
            rows={8}
            spellcheck={false}
            value={sample.text}
            onInput={(event) => setSample({ ...sample, text: event.currentTarget.value })}
          />
          <p class="hint">{t("download.dataHelp")}</p>
        </div>
      )}
      <p class="cost" role="status">
        {pages === null ? t("download.counting") : <Cost pages={pages} purpose={purpose} usage={usage.data} />}
      </p>
      {errors.length > 0 && (
        <Notice kind="error">
          <ul>
            {errors.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </Notice>
      )}
      {done !== null && <Notice kind="good">{done}</Notice>}
    </FormDialog>
  );
}

function Cost({ pages, purpose, usage }: { pages: number; purpose: Purpose; usage: Usage | null }) {
  const [used, allowed] =
    purpose === "draft" ? [usage ? (usage.draft?.pagesGenerated ?? 0) : undefined, usage?.maxDraftPagesGenerated] : [usage?.pagesGenerated, usage?.maxPagesGenerated];
  return (
    <>
      <b>{count(purpose === "draft" ? "download.costDraft" : "download.cost", pages)}</b>
      {used !== undefined && (
        <span class="soft"> {allowed ? t("download.usedOf", { used: formatNumber(used), allowed: formatNumber(allowed) }) : t("download.used", { used: formatNumber(used) })}</span>
      )}
    </>
  );
}
