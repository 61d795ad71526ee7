/** The editor of a template: its text, its data, and the preview. */

import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, Failure } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { t } from "../../lib/messages";
import { linkTo } from "../../lib/router";
import type { Finding } from "../../lib/types";
import { Notice, Result } from "../../ui/parts";
import type { PageProps } from "../pages";
import { type Read, readTemplate } from "../template";
import { showCode } from "./code";
import { dropDraft, keepData, keepDraft, readData, readDraft } from "./drafts";
import { FindingList, Sheet, usePreview } from "./preview";

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
    <Result of={read}>{(found) => <Editor key={`${found.etag} ${turn}`} accountId={account.id} read={found} onDiscard={restart} />}</Result>
  );
}

function Editor({ accountId, read, onDiscard }: { accountId: string; read: Read; onDiscard: () => void }) {
  const { template } = read;
  const [draft] = useState(() => readDraft(accountId, template.id));
  const [etag, setEtag] = useState(draft?.etag ?? read.etag);
  const [saved, setSaved] = useState(template.content);
  const [text, setText] = useState(draft?.content ?? template.content);
  const [data, setData] = useState(() => readData(accountId, template.id));
  const [page, setPage] = useState(1);
  const [line, setLine] = useState(1);
  const [told, setTold] = useState<{ kind: "good" | "error"; text: string; conflict?: boolean } | null>(null);
  const view = useRef<EditorView | null>(null);
  const { drawn, error, busy } = usePreview(text, data, page);
  const isChanged = text !== saved;

  useEffect(() => {
    if (isChanged) keepDraft(accountId, template.id, { etag, content: text });
    else dropDraft(accountId, template.id);
  }, [text, isChanged, etag]);
  useEffect(() => keepData(accountId, template.id, data), [data]);
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
    } catch (failure) {
      const conflict = failure instanceof Failure && failure.status === 412;
      setTold({ kind: "error", text: conflict ? t("editor.conflict") : describe(failure), conflict });
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
        <div class="actions">
          <span class="soft" role="status">
            {t(isChanged ? "editor.changed" : "editor.unchanged")}
          </span>
          <button type="button" class="primary" disabled={!isChanged} onClick={() => save(etag)}>
            {t("editor.save")}
          </button>
        </div>
      </div>
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
          {told.conflict && (
            <>
              <button type="button" class="link" onClick={discard}>
                {t("editor.theirs")}
              </button>{" "}
              <button type="button" class="link" onClick={() => save("*")}>
                {t("editor.overwrite")}
              </button>
            </>
          )}
        </Notice>
      )}
      <div class="panes">
        <div class="texts">
          <h2>{t("editor.template")}</h2>
          <Text kind="xml" label={t("editor.template")} start={text} onChange={setText} onCursor={setLine} onReady={(made) => (view.current = made)} />
          <h2>{t("editor.data")}</h2>
          <Text kind="json" label={t("editor.data")} start={data} onChange={setData} />
        </div>
        <section class="result" aria-labelledby="result" aria-busy={busy}>
          <div class="between">
            <h2 id="result">{t("editor.preview")}</h2>
            {pages > 0 && (
              <div class="actions">
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
          {drawn && <Sheet drawn={drawn} line={line} onLine={goToLine} />}
          {drawn && <FindingList findings={drawn.preview.findings} onLine={goToLine} />}
        </section>
      </div>
    </div>
  );
}

function Text({
  kind,
  label,
  start,
  onChange,
  onCursor,
  onReady,
}: {
  kind: "xml" | "json";
  label: string;
  start: string;
  onChange: (text: string) => void;
  onCursor?: (line: number) => void;
  onReady?: (view: EditorView) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return undefined;
    const view = showCode(place.current, { kind, label, text: start, onChange, ...(onCursor ? { onCursor } : {}) });
    onReady?.(view);
    return () => view.destroy();
  }, []);
  return <div class={`code ${kind}`} ref={place} />;
}

/** The findings in the template, at their positions in the current text. */
function toDiagnostics(view: EditorView, findings: { errors: Finding[]; warnings: Finding[] }): Diagnostic[] {
  const { doc } = view.state;
  const at = (line: number, column: number) => {
    const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return Math.min(found.from + column - 1, found.to);
  };
  const write = (finding: Finding, severity: "error" | "warning"): Diagnostic[] => {
    const { source } = finding;
    if (!source || source.origin === "payload") return [];
    const from = at(source.lineStart, source.columnStart);
    const to = Math.max(at(source.lineEnd, source.columnEnd), from);
    return [{ from, to, severity, message: finding.message }];
  };
  return [...findings.errors.flatMap((each) => write(each, "error")), ...findings.warnings.flatMap((each) => write(each, "warning"))];
}
