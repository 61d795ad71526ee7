/** The editor of a template: its text, its data, and the preview. */

import { setDiagnostics } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, Failure } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { t } from "../../lib/messages";
import { mayChange } from "../../lib/rights";
import { linkTo } from "../../lib/router";
import type { Account, PageProps } from "../../lib/types";
import { TextDiff } from "../../ui/diff";
import { LookOnly, Notice, Result } from "../../ui/parts";
import { type Read, readTemplate } from "../template/read";
import { DataPane, findFlows } from "./data";
import { dropDraft, keepDraft, readDraft } from "./drafts";
import { applyFix, toDiagnostics } from "./findings";
import { FindingList, Sheet, usePreview, type Zoom, ZOOMS } from "./preview";
import { keepSamples, readSamples, type Sample } from "./samples";
import { Text } from "./text";

export function EditorPage({ account, route }: PageProps) {
  const id = route[1] ?? "";
  const read = useLoad(() => readTemplate(id), [id]);
  const [turn, setTurn] = useState(0);
  // Discards the changes at once; the current text is shown as soon as it is read.
  const restart = () => {
    setTurn(turn + 1);
    read.reload();
  };
  return (
    <>
      {read.data === null && <h1 class="visually-hidden">{t("editor.template")}</h1>}
      <Result of={read}>{(found) => <Editor key={`${found.etag} ${turn}`} account={account} read={found} onDiscard={restart} />}</Result>
    </>
  );
}

function Editor({ account, read, onDiscard }: { account: Account; read: Read; onDiscard: () => void }) {
  const { template } = read;
  const accountId = account.id;
  const mayWrite = mayChange(account, "templates");
  const [draft] = useState(() => (mayWrite ? readDraft(accountId, template.id) : null));
  const [etag, setEtag] = useState(draft?.etag ?? read.etag);
  const [saved, setSaved] = useState(template.content);
  const [text, setText] = useState(draft?.content ?? template.content);
  const [samples, setSamples] = useState(() => readSamples(accountId, template.id, t("samples.first")));
  const [zoom, setZoom] = useState<Zoom>("fit");
  const [page, setPage] = useState(1);
  const [line, setLine] = useState(1);
  const [told, setTold] = useState<{ kind: "good" | "error"; text: string } | null>(null);
  const [theirs, setTheirs] = useState<Read | null>(null); // what another user saved meanwhile
  const view = useRef<EditorView | null>(null);
  const sample = samples.sets[samples.at] as Sample;
  const payload = useRef("");
  payload.current = sample.kind === "json" ? sample.text : "";
  const flows = useMemo(() => findFlows(text), [text]);
  const { drawn, error, busy } = usePreview(text, sample, page, zoom);
  const isChanged = text !== saved;

  useEffect(() => {
    if (!mayWrite) return;
    if (isChanged) keepDraft(accountId, template.id, { etag, content: text });
    else dropDraft(accountId, template.id);
  }, [text, isChanged, etag]);
  useEffect(() => keepSamples(accountId, template.id, samples), [samples]);
  useEffect(() => {
    const editor = view.current;
    if (editor && drawn) editor.dispatch(setDiagnostics(editor.state, toDiagnostics(editor, drawn.preview.findings)));
  }, [drawn]);

  const save = async (match: string) => {
    try {
      const answer = await ask("PUT", `/v2/templates/${encodeURIComponent(template.id)}`, {
        body: text,
        type: "application/xml; charset=utf-8",
        headers: { "If-Match": match },
      });
      setEtag(answer.headers.get("ETag") ?? "*");
      setSaved(text);
      setTold({ kind: "good", text: t("editor.saved") });
      setTheirs(null);
    } catch (failure) {
      const isConflict = failure instanceof Failure && failure.status === 412;
      setTold({ kind: "error", text: isConflict ? t("editor.conflict") : describe(failure) });
      if (isConflict) await readTheirs();
    }
  };
  const readTheirs = async () => {
    try {
      setTheirs(await readTemplate(template.id));
    } catch (failure) {
      setTold({ kind: "error", text: describe(failure) });
    }
  };
  const discard = () => {
    dropDraft(accountId, template.id);
    onDiscard();
  };
  const goToLine = (to: number) => {
    const editor = view.current;
    if (!editor) return;
    const at = editor.state.doc.line(Math.min(to, editor.state.doc.lines)).from;
    editor.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    editor.focus();
  };
  const pages = drawn?.preview.pages ?? 0;
  return (
    <div class="editor">
      <div class="head">
        <div>
          <p class="crumb">
            <a href={linkTo("templates", template.id)}>{t("editor.back")}</a>
          </p>
          <h1>{template.name}</h1>
        </div>
        {mayWrite && (
          <div class="actions">
            <span class="soft" role="status">
              {t(isChanged ? "editor.changed" : "editor.unchanged")}
            </span>
            <button type="button" class="primary" disabled={!isChanged} onClick={() => save(etag)}>
              {t("editor.save")}
            </button>
          </div>
        )}
      </div>
      <LookOnly account={account} lacks="templates" />
      {draft && draft.content !== template.content && text === draft.content && (
        <Notice>
          {t("editor.restored")}{" "}
          <button type="button" class="link" onClick={discard}>
            {t("editor.discard")}
          </button>
        </Notice>
      )}
      {told && (
        <Notice kind={told.kind}>
          {told.text}{" "}
          {theirs && (
            <>
              <button type="button" class="link" onClick={discard}>
                {t("editor.theirs")}
              </button>{" "}
              <button type="button" class="link" onClick={() => save(theirs.etag)}>
                {t("editor.overwrite")}
              </button>
            </>
          )}
        </Notice>
      )}
      {theirs && <TextDiff before={theirs.template.content} after={text} label={t("editor.differences")} />}
      <div class="panes">
        <div class="texts">
          <h2>{t("editor.template")}</h2>
          <Text kind="xml" label={t("editor.template")} start={text} isFixed={!mayWrite} onChange={setText} onCursor={setLine} onReady={(made) => (view.current = made)} payload={() => payload.current} />
          <DataPane samples={samples} flows={flows} onChange={setSamples} />
        </div>
        <section class="result" aria-labelledby="result" aria-busy={busy}>
          <div class="between">
            <h2 id="result">{t("editor.preview")}</h2>
            {pages > 0 && (
              <div class="actions">
                <select aria-label={t("editor.zoom")} value={zoom} onChange={(event) => setZoom(event.currentTarget.value as Zoom)}>
                  {ZOOMS.map((each) => (
                    <option key={each} value={each}>
                      {each === "fit" ? t("editor.fit") : `${Number(each) * 100} %`}
                    </option>
                  ))}
                </select>
                <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
                  {t("editor.previous")}
                </button>
                <span>{t("editor.pageOf", { page: Math.min(page, pages), pages })}</span>
                <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
                  {t("editor.next")}
                </button>
              </div>
            )}
          </div>
          {error !== null && <Notice kind="error">{error}</Notice>}
          {drawn && (
            <FindingList
              findings={drawn.preview.findings}
              onLine={goToLine}
              onFix={mayWrite ? (finding) => view.current && applyFix(view.current, finding) : null}
            />
          )}
          {drawn && (
            <div class="desk" {...(zoom !== "fit" && { tabIndex: 0, role: "group", "aria-label": t("editor.preview") })}>
              <Sheet drawn={drawn} line={line} zoom={zoom} onLine={goToLine} />
            </div>
          )}
        </section>
      </div>
    </div>
  );
}
