/** The editor of a template: its text, its data, and the preview. */

import { isolateHistory, redo, undo } from "@codemirror/commands";
import { setDiagnostics } from "@codemirror/lint";
import { Transaction } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { ask, Failure } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { t } from "../../lib/messages";
import { mayChange } from "../../lib/rights";
import { linkTo } from "../../lib/router";
import type { Account, PageProps } from "../../lib/types";
import { TextDiff } from "../../ui/diff";
import { LookOnly, Notice, Result } from "../../ui/parts";
import { parse } from "../../lib/template-data";
import { DownloadDialog } from "../template/download";
import { type Read, readTemplate } from "../template/read";
import { findLinks, readBases } from "./bases";
import { DataPane, findFlows } from "./data";
import { DataForm } from "./data-form";
import { changeSetting, fillGaps, readDeclarations } from "./declarations";
import { dropDraft, keepDraft, readDraft } from "./drafts";
import { applyFix, findField, toDiagnostics } from "./findings";
import { InsertMenu } from "./insert";
import { FindingList, Sheet, usePreview, type Zoom, ZOOMS } from "./preview";
import { keepSamples, readSamples, type Sample, STARTS } from "./samples";
import { SettingsForm } from "./settings-form";
import { keepTab, readTab, type Tab, Tabs } from "./tabs";
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
  const result = useRef<HTMLElement>(null);
  const [isDownloading, setDownloading] = useState(false);
  const view = useRef<EditorView | null>(null);
  const sample = samples.sets[samples.at] as Sample;
  const payload = useRef("");
  payload.current = sample.kind === "json" ? sample.text : "";
  const flows = useMemo(() => findFlows(text), [text]);
  const isChanged = text !== saved;
  const links = useMemo(() => findLinks(text), [text]);
  const bases = useLoad(() => readBases(links), [JSON.stringify(links)]); // the preview tells of those that cannot be read
  const declarations = useMemo(() => readDeclarations(text, bases.data ?? []), [text, bases.data]);
  const hasForm = declarations.settings.length + declarations.groups.length + declarations.lists.length > 0 || (links.length > 0 && bases.data === null && bases.error === null);
  const [tab, setTab] = useState<Tab>(() => readTab(template.id) ?? (hasForm ? "form" : "xml"));
  const tabs = useId();
  const data = sample.kind === "json" ? parse(sample.text.trim() || "{}") : null;
  const shown = tab === "form" && data !== null ? { ...sample, text: JSON.stringify(fillGaps(data, declarations)) } : sample;
  const { drawn, error, state } = usePreview(text, shown, page, zoom);

  useEffect(() => {
    if (!mayWrite) return;
    if (isChanged) keepDraft(accountId, template.id, { etag, content: text });
    else dropDraft(accountId, template.id);
  }, [text, isChanged, etag]);
  useEffect(() => keepTab(template.id, tab), [tab]);
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
      return true;
    } catch (failure) {
      const isConflict = failure instanceof Failure && failure.status === 412;
      setTold({ kind: "error", text: isConflict ? t("editor.conflict") : describe(failure) });
      if (isConflict) await readTheirs();
      return false;
    }
  };
  const keep = useRef(() => {});
  keep.current = () => {
    if (mayWrite && isChanged) void save(etag);
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault(); // the browser would save the page
      keep.current();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  const set = (name: string, value: string, isNew: boolean) => {
    const editor = view.current;
    const changes = editor && changeSetting(editor.state.doc.toString(), name, value);
    if (!editor || !changes) return;
    // What is typed into one input is one step to undo.
    const step = isNew ? isolateHistory.of("before") : Transaction.userEvent.of("input.type.compose");
    editor.dispatch({ changes, annotations: step });
  };
  const changeSample = (fields: Partial<Sample>) =>
    setSamples({ ...samples, sets: samples.sets.map((each, index) => (index === samples.at ? { ...each, ...fields } : each)) });
  const show = (next: Tab) => {
    setTab(next);
    requestAnimationFrame(() => view.current?.requestMeasure());
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
    if (tab !== "xml") return setLine(to); // the page shows the place; the form stays
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
          {mayWrite && (
            <span class="soft" role="status">
              {t(isChanged ? "editor.changed" : "editor.unchanged")}
            </span>
          )}
          {mayChange(account, "render") && (
            <button type="button" onClick={() => setDownloading(true)}>
              {t("download.open")}
            </button>
          )}
          {mayWrite && (
            <button type="button" class="primary" disabled={!isChanged} aria-keyshortcuts="Control+S" title={t("editor.saveKeys")} onClick={() => save(etag)}>
              {t("editor.save")}
            </button>
          )}
        </div>
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
          <Tabs id={tabs} tab={tab} onShow={show} />
          <div id={`${tabs}-form-panel`} class="form-panel" role="tabpanel" aria-labelledby={`${tabs}-form`} hidden={tab !== "form"}>
            {!hasForm && <p class="soft">{t("form.none")}</p>}
            {declarations.settings.length > 0 && (
              <section class="card-form" aria-labelledby={`${tabs}-settings`}>
                <div class="between">
                  <h2 id={`${tabs}-settings`}>{t("form.settings")}</h2>
                  {mayWrite && (
                    <div class="actions">
                      <button type="button" class="quiet" onClick={() => view.current && undo(view.current)}>
                        {t("form.undo")}
                      </button>
                      <button type="button" class="quiet" onClick={() => view.current && redo(view.current)}>
                        {t("form.redo")}
                      </button>
                    </div>
                  )}
                </div>
                <SettingsForm account={account} settings={declarations.settings} isFixed={!mayWrite} onChange={set} />
              </section>
            )}
            {declarations.groups.length + declarations.lists.length > 0 && (
              <section class="card-form" aria-labelledby={`${tabs}-data`}>
                <div class="between">
                  <h2 id={`${tabs}-data`}>{t("form.data")}</h2>
                  {data !== null && (
                    <div class="actions">
                      <button type="button" class="quiet" onClick={() => changeSample({ text: `${JSON.stringify(declarations.example, null, 2)}\n` })}>
                        {t("form.useExample")}
                      </button>
                      <button type="button" class="quiet" onClick={() => changeSample({ text: STARTS.json })}>
                        {t("form.clear")}
                      </button>
                    </div>
                  )}
                </div>
                {data === null ? (
                  <p class="soft">{t("form.otherData")}</p>
                ) : (
                  <>
                    <p class="soft hint">{t("form.dataHelp")}</p>
                    <DataForm declarations={declarations} data={data} onChange={(next) => changeSample({ text: `${JSON.stringify(next, null, 2)}\n` })} />
                  </>
                )}
              </section>
            )}
          </div>
          <div id={`${tabs}-xml-panel`} class="xml-panel" role="tabpanel" aria-labelledby={`${tabs}-xml`} hidden={tab !== "xml"}>
            {mayWrite && <InsertMenu account={account} view={() => view.current} lists={declarations.lists} />}
            <Text kind="xml" label={t("editor.template")} start={text} isFixed={!mayWrite} onChange={setText} onCursor={setLine} onReady={(made) => (view.current = made)} beside={() => payload.current} />
            {tab === "xml" && <DataPane samples={samples} flows={flows} template={() => view.current?.state.doc.toString() ?? ""} onChange={setSamples} />}
          </div>
        </div>
        <section class="result" ref={result} aria-labelledby="result" aria-busy={state === "waiting"}>
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
                {pages > 1 && (
                  <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
                    {t("editor.previous")}
                  </button>
                )}
                <span>{t("editor.pageOf", { page: Math.min(page, pages), pages })}</span>
                {pages > 1 && (
                  <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
                    {t("editor.next")}
                  </button>
                )}
              </div>
            )}
          </div>
          {error !== null && <Notice kind="error">{error}</Notice>}
          {error === null && (
            <FindingList
              findings={drawn?.preview.findings ?? { errors: [], warnings: [] }}
              state={state}
              onLine={goToLine}
              inForm={(finding) => (tab === "form" ? findField(finding, declarations) : null)}
              onFix={mayWrite ? (finding) => view.current && applyFix(view.current, finding) : null}
            />
          )}
          {drawn && (
            <div class="desk" {...(zoom !== "fit" && { tabIndex: 0, role: "group", "aria-label": t("editor.preview") })}>
              <Sheet drawn={state === "empty" || state === "unreachable" ? { ...drawn, isStale: true } : drawn} line={line} zoom={zoom} onLine={goToLine} />
            </div>
          )}
        </section>
      </div>
      <button type="button" class="jump primary" onClick={() => result.current?.scrollIntoView()}>
        {t("form.showPage")}
      </button>
      {isDownloading && (
        <DownloadDialog account={account} id={template.id} text={text} sample={sample} draft={shown} save={isChanged ? () => save(etag) : null} onClose={() => setDownloading(false)} />
      )}
    </div>
  );
}
