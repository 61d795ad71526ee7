/** Output plans: sheets, marks, order and files of a batch, in a form beside the first sheets. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { ask, askAll, askJson, Failure } from "../lib/api";
import { describe, type Loaded, useLoad } from "../lib/load";
import { formatAgo, formatNumber, t } from "../lib/messages";
import { drawPage } from "../lib/previews";
import type { PlanCondition, Plan, PlanMarks, PlanSplit, StoredPlan } from "../lib/records";
import { maySee } from "../lib/rights";
import { goTo, linkTo } from "../lib/router";
import type { PageProps, Template } from "../lib/types";
import { nameTemplate } from "../messages/names";
import { Empty, Field, FormDialog, Notice, Result, Wide } from "../ui/parts";
import { PUBLIC } from "./template/read";

const MARKS = ["omr", "datamatrix", "code128", "itf"] as const;
const PRIORITIES = ["express", "normal", "night"] as const;
const OUTPUTS = ["merged", "zip", "archive"] as const;
const UNITS = ["documents", "sheets", "weight", "bytes"] as const;
const KEPT = ["result_hours", "record_days"] as const;
const MOST = { split: 2500, bundle: 300 };
const SHOWN_SHEETS = 2;
const LENGTHS = ["left", "top", "width", "height", "pitch", "clear"];

export function Plans({ account, route }: PageProps) {
  return route[2] === undefined ? <PlanList /> : <PlanPage key={route[2]} name={route[2]} seesTemplates={maySee(account, "templates")} />;
}

function Crumb({ children }: { children?: ComponentChildren }) {
  return (
    <p class="crumb">
      <a href={linkTo("batches")}>{t("batches.title")}</a>
      {children}
    </p>
  );
}

function PlanList() {
  const list = useLoad(() => askJson<{ plans: StoredPlan[] }>("GET", "/v2/plans"), []);
  const [isNew, setNew] = useState(false);
  return (
    <>
      <Crumb />
      <div class="head">
        <h1>{t("plans.title")}</h1>
        <button type="button" class="primary" onClick={() => setNew(true)}>
          {t("plans.new")}
        </button>
      </div>
      <Result of={list}>
        {({ plans }) =>
          plans.length === 0 ? (
            <Empty title={t("plans.none")}>
              <p>{t("plans.help")}</p>
            </Empty>
          ) : (
            <Wide label={t("plans.title")}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t("plans.name")}</th>
                    <th scope="col">{t("plans.version")}</th>
                    <th scope="col">{t("plans.changed")}</th>
                  </tr>
                </thead>
                <tbody>
                  {plans.map(({ name, version, created_at }) => (
                    <tr key={name}>
                      <th scope="row">
                        <a href={linkTo("batches", "plans", name)}>{name}</a>
                      </th>
                      <td>{formatNumber(version)}</td>
                      <td>{formatAgo(created_at)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )
        }
      </Result>
      {isNew && (
        <FormDialog title={t("plans.new")} action={t("plans.create")} onClose={() => setNew(false)} onSubmit={async (form) => goTo("batches", "plans", String(form.get("name")))}>
          <Field label={t("plans.name")} hint={t("plans.nameHelp")} name="name" required maxLength={60} pattern="[a-z0-9]+(-[a-z0-9]+)*" autofocus />
        </FormDialog>
      )}
    </>
  );
}

function PlanPage({ name, seesTemplates }: { name: string; seesTemplates: boolean }) {
  const path = `/v2/plans/${encodeURIComponent(name)}`;
  const stored = useLoad(async () => {
    try {
      return (await askJson<StoredPlan>("GET", path)).plan;
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 404) return {}; // a new one
      throw failure;
    }
  }, [path]);
  return (
    <>
      <Crumb>
        {" / "}
        <a href={linkTo("batches", "plans")}>{t("plans.title")}</a>
      </Crumb>
      <h1>{t("plans.plan", { name })}</h1>
      <Result of={stored}>{(plan) => <PlanForm name={name} path={path} stored={plan} seesTemplates={seesTemplates} />}</Result>
    </>
  );
}

function PlanForm({ name, path, stored, seesTemplates }: { name: string; path: string; stored: Plan; seesTemplates: boolean }) {
  const [plan, setPlan] = useState(stored);
  const [told, setTold] = useState<{ kind: "good" | "error"; text: string } | null>(null);
  const id = useId();
  const { marks, hold = {} } = stored;
  const templates = useLoad(() => (seesTemplates ? askAll<Template>("/v2/templates?include=public", "templates") : Promise.resolve([])), []);
  const covers = new Map(templates.data?.filter((each) => !each.id.startsWith(PUBLIC)).map((each) => [each.id, each.name]));
  for (const { cover } of [stored.bundle, plan.bundle].filter((each) => each !== undefined)) if (!covers.has(cover)) covers.set(cover, cover);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      const { version } = await askJson<StoredPlan>("PUT", path, { json: readForm(event.currentTarget as HTMLFormElement, stored) });
      setTold({ kind: "good", text: t("plans.saved", { n: version }) });
    } catch (failure) {
      setTold({ kind: "error", text: describe(failure) });
    }
  };
  const remove = async () => {
    try {
      await ask("DELETE", path);
      goTo("batches", "plans");
    } catch (failure) {
      setTold({ kind: "error", text: describe(failure) });
    }
  };
  return (
    <div class="plan">
      <form onSubmit={save} onInput={(event) => (setPlan(readForm(event.currentTarget, stored)), setTold(null))}>
        <fieldset>
          <legend>{t("plans.order")}</legend>
          <Lines label={t("plans.sort")} hint={t("plans.sortHelp")} name="sort" value={stored.sort} />
          <div class="field">
            <label for={`${id}-priority`}>{t("plans.priority")}</label>
            <select id={`${id}-priority`} name="priority">
              {PRIORITIES.map((each) => (
                <option key={each} value={each} selected={(stored.priority ?? "normal") === each}>
                  {t(`plans.${each}`)}
                </option>
              ))}
            </select>
          </div>
        </fieldset>
        <fieldset>
          <legend>{t("plans.files")}</legend>
          <div class="field">
            <label for={`${id}-output`}>{t("plans.output")}</label>
            <select id={`${id}-output`} name="output">
              {OUTPUTS.map((each) => (
                <option key={each} value={each} selected={(stored.output ?? "merged") === each}>
                  {t(`plans.${each}`)}
                </option>
              ))}
            </select>
          </div>
          <Cut of="split" stored={stored.split} chosen={plan.split} />
        </fieldset>
        <fieldset>
          <legend>{t("plans.bundles")}</legend>
          <div class="field">
            <label for={`${id}-cover`}>{t("plans.cover")}</label>
            <select id={`${id}-cover`} name="cover" aria-describedby={`${id}-cover-hint`} value={plan.bundle?.cover ?? ""}>
              <option value="">{t("plans.noCover")}</option>
              {[...covers].map(([reference, name]) => (
                <option key={reference} value={reference}>
                  {name}
                </option>
              ))}
            </select>
            <p class="hint" id={`${id}-cover-hint`}>
              {t("plans.coverHelp")}
            </p>
          </div>
          {plan.bundle && <Cut of="bundle" stored={stored.bundle} chosen={plan.bundle} />}
        </fieldset>
        <fieldset>
          <legend>{t("plans.sheets")}</legend>
          <div class="check">
            <input type="checkbox" id={`${id}-duplex`} name="duplex" defaultChecked={stored.duplex ?? false} />
            <label for={`${id}-duplex`}>{t("plans.duplex")}</label>
          </div>
          <Field label={t("plans.household")} hint={t("plans.householdHelp")} name="household" defaultValue={stored.household ?? ""} />
        </fieldset>
        <fieldset>
          <legend>{t("plans.marks")}</legend>
          <div class="field">
            <label for={`${id}-marks`}>{t("plans.type")}</label>
            <select id={`${id}-marks`} name="type">
              <option value="">{t("plans.noMarks")}</option>
              {MARKS.map((type) => (
                <option key={type} value={type} selected={marks?.type === type}>
                  {t(`plans.${type}`)}
                </option>
              ))}
            </select>
          </div>
          {plan.marks && (
            <>
              <Field label={t("plans.left")} name="left" type="number" min={0} max={2000} step="any" required defaultValue={String(marks?.left ?? 6)} />
              <Field label={t("plans.top")} name="top" type="number" min={0} max={2000} step="any" required defaultValue={String(marks?.top ?? 100)} />
              {plan.marks.type !== "omr" && (
                <>
                  <Field label={t("plans.format")} hint={t("plans.formatHelp")} name="format" defaultValue={marks?.format ?? "{set:06}{sheet:02}{count:02}"} />
                  <Field label={t("plans.job")} name="job" maxLength={20} defaultValue={marks?.job ?? ""} />
                </>
              )}
              <Field label={t("plans.inserts")} hint={t("plans.insertsHelp")} name="inserts" pattern="[1-4]( [1-4]){0,3}" defaultValue={marks?.inserts ?? ""} />
            </>
          )}
        </fieldset>
        <fieldset>
          <legend>{t("plans.hold")}</legend>
          <Field label={t("plans.proof")} hint={t("plans.proofHelp")} name="proof" type="number" min={1} max={1000} defaultValue={String(hold.proof ?? "")} />
          <Lines label={t("plans.warnings")} hint={t("plans.warningsHelp")} name="warnings" value={hold.warnings} />
          <Lines label={t("plans.missing")} hint={t("plans.missingHelp")} name="missing" value={hold.conditions?.filter(isMissing).map(({ value }) => value)} />
        </fieldset>
        <fieldset>
          <legend>{t("plans.index")}</legend>
          <div class="field">
            <label for={`${id}-index`}>{t("plans.indexKind")}</label>
            <select id={`${id}-index`} name="index">
              {(["csv", "ndjson", "xml"] as const).map((kind) => (
                <option key={kind} value={kind} selected={stored.index === kind}>
                  {t(`plans.${kind}`)}
                </option>
              ))}
            </select>
          </div>
          <Lines label={t("plans.fields")} hint={t("plans.fieldsHelp")} name="fields" value={stored.fields} />
        </fieldset>
        <fieldset>
          <legend>{t("plans.keep")}</legend>
          <Field label={t("plans.keep.result_hours")} hint={t("plans.keepHelp")} name="keep.result_hours" type="number" min={1} max={8760} defaultValue={String(stored.keep?.result_hours ?? "")} />
          <Field label={t("plans.keep.record_days")} hint={t("plans.keepHelp")} name="keep.record_days" type="number" min={1} max={3650} defaultValue={String(stored.keep?.record_days ?? "")} />
        </fieldset>
        {told && <Notice kind={told.kind}>{told.text}</Notice>}
        <div class="actions">
          <button type="submit" class="primary">
            {t("plans.save")}
          </button>
          <button type="button" class="danger" onClick={remove}>
            {t("plans.delete")}
          </button>
        </div>
      </form>
      {seesTemplates && <FirstSheets plan={plan} name={name} templates={templates} />}
    </div>
  );
}

/** Where another file or bundle begins: after so much, and where a value changes. */
function Cut({ of, stored = {}, chosen = {} }: { of: "split" | "bundle"; stored: PlanSplit | undefined; chosen: PlanSplit | undefined }) {
  const id = useId();
  return (
    <>
      <div class="field">
        <label for={id}>{t(`plans.${of}`)}</label>
        <select id={id} name={`${of}.unit`}>
          <option value="">{t(`plans.${of}.none`)}</option>
          {UNITS.map((unit) => (
            <option key={unit} value={unit} selected={stored[unit] !== undefined}>
              {t(`plans.after.${unit}`)}
            </option>
          ))}
        </select>
      </div>
      {UNITS.some((unit) => chosen[unit] !== undefined) && (
        <Field label={t(`plans.${of}.most`)} name={`${of}.most`} type="number" min={chosen.bytes === undefined ? 1 : 10_000} max={chosen.bytes === undefined ? 1_000_000 : 10_000_000_000} required defaultValue={String(sizeOf(stored) ?? MOST[of])} />
      )}
      <Field label={t(`plans.${of}.value`)} hint={t("plans.valueHelp")} name={`${of}.value`} defaultValue={stored.value ?? ""} />
    </>
  );
}

function sizeOf(cut: PlanSplit): number | undefined {
  return cut.documents ?? cut.sheets ?? cut.weight ?? cut.bytes;
}

/** A list with an entry on each line. */
function Lines({ label, hint, name, value = [] }: { label: string; hint: string; name: string; value?: string[] | undefined }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} name={name} rows={3} class="mono" spellcheck={false} aria-describedby={`${id}-hint`} defaultValue={value.join("\n")} />
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

/** Whether a condition holds documents without a value, and says nothing else. */
function isMissing(condition: PlanCondition): boolean {
  return condition.missing === true && Object.keys(condition).length === 2;
}

/** Read the plan of the form; what it has no fields for stays as it was. */
function readForm(form: HTMLFormElement, stored: Plan): Plan {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  const lines = (name: string) => text(name).split("\n").map((line) => line.trim()).filter(Boolean);
  const type = text("type") as PlanMarks["type"] | "";
  const { marks: before, household: _, bundle: __, keep: ___, ...others } = stored;
  const cut = (of: "split" | "bundle") => ({
    ...(text(`${of}.unit`) && { [text(`${of}.unit`)]: Number(text(`${of}.most`) || (sizeOf(stored[of] ?? {}) ?? MOST[of])) }),
    ...(text(`${of}.value`) && { value: text(`${of}.value`) }),
  });
  const keep = Object.fromEntries(KEPT.filter((each) => text(`keep.${each}`)).map((each) => [each, Number(text(`keep.${each}`))]));
  const marks = type && {
    ...before,
    type,
    left: Number(text("left") || (before?.left ?? 6)),
    top: Number(text("top") || (before?.top ?? 100)),
    inserts: text("inserts"),
    ...(data.has("format") && { format: text("format"), job: text("job") }),
  };
  return {
    ...others,
    sort: lines("sort"),
    split: { ...cut("split"), ...(stored.split?.by_hand && { by_hand: stored.split.by_hand }) },
    ...(text("cover") && { bundle: { cover: text("cover"), ...cut("bundle") } }),
    output: OUTPUTS.find((each) => each === text("output")) ?? "merged",
    duplex: data.has("duplex"),
    ...(text("household") && { household: text("household") }),
    priority: PRIORITIES.find((each) => each === text("priority")) ?? "normal",
    ...(marks && { marks }),
    hold: {
      ...(text("proof") && { proof: Number(text("proof")) }),
      warnings: lines("warnings"),
      conditions: [...(stored.hold?.conditions ?? []).filter((each) => !isMissing(each)), ...lines("missing").map((value) => ({ value, missing: true }))],
    },
    index: text("index") as "csv" | "ndjson" | "xml",
    fields: lines("fields"),
    ...(Object.keys(keep).length > 0 && { keep }),
  };
}

interface Side {
  page: string | null;
  marks: string | null;
}

/** The first sheets of a document of sample data, with the marks that the run draws on their fronts. */
function FirstSheets({ plan, name, templates }: { plan: Plan; name: string; templates: Loaded<Template[]> }) {
  const [chosen, setChosen] = useState("");
  const template = chosen || templates.data?.[0]?.id || "";
  const [sheets, setSheets] = useState<Side[][] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { duplex = false, marks } = plan;
  const id = useId();
  useEffect(() => {
    if (!template) return undefined;
    const stop = new AbortController();
    const drawn: (() => void)[] = [];
    const timer = setTimeout(async () => {
      try {
        setSheets(await drawSheets({ template, duplex, marks }, drawn, stop.signal));
        setError(null);
      } catch (failure) {
        if (!stop.signal.aborted) setError(failure instanceof MarksError ? failure.message : describe(failure));
      }
    }, 500);
    return () => {
      clearTimeout(timer);
      stop.abort();
      for (const release of drawn) release();
    };
  }, [template, duplex, JSON.stringify(marks)]);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{t("plans.first")}</h2>
      <Result of={templates}>
        {(found) => (
          <div class="field">
            <label for={`${id}-template`}>{t("plans.template")}</label>
            <select id={`${id}-template`} value={template} onChange={(event) => setChosen(event.currentTarget.value)}>
              {found.map((each) => (
                <option key={each.id} value={each.id}>
                  {nameTemplate(each.name)}
                </option>
              ))}
            </select>
          </div>
        )}
      </Result>
      {error !== null && <Notice kind="error">{error}</Notice>}
      <ol class="firsts" aria-busy={sheets === null && error === null}>
        {sheets?.flatMap((sides, sheet) =>
          sides.map((side, back) => (
            <li key={`${sheet} ${back}`}>
              <p>{t(!duplex ? "plans.sheet" : back ? "plans.back" : "plans.front", { n: sheet + 1 })}</p>
              <div class="side">
                {side.page ? <img src={side.page} alt={t("plans.page", { n: sheet + 1 })} /> : <p class="soft">{t("plans.blank")}</p>}
                {side.marks && <img src={side.marks} alt={t("plans.marks")} />}
              </div>
            </li>
          )),
        )}
      </ol>
      {template && (
        <p>
          <a class="button" href={linkTo("templates", template, "batch", name)}>
            {t("plans.start")}
          </a>
        </p>
      )}
    </section>
  );
}

class MarksError extends Error {}

async function drawSheets(of: { template: string; duplex: boolean; marks: PlanMarks | undefined }, drawn: (() => void)[], signal: AbortSignal): Promise<Side[][]> {
  const scale = 0.6 * Math.min(devicePixelRatio, 2);
  const draw = async (template: string, page: number) => {
    const { preview, url, release } = await drawPage({ template, page, scale }, signal);
    drawn.push(release);
    return { preview, url };
  };
  const first = await draw(of.template, 1);
  const { pages, width = 595, height = 842 } = first.preview;
  const sheets: Side[][] = [];
  const each = of.duplex ? 2 : 1;
  for (let sheet = 0; sheet < Math.min(SHOWN_SHEETS, Math.ceil(pages / each)); sheet += 1) {
    const front = sheet * each + 1;
    const page = sheet === 0 ? first.url : (await draw(of.template, front)).url;
    let marks: string | null = null;
    if (of.marks) {
      const { preview, url } = await draw(writeMarks(of.marks, { width, height, pages, duplex: of.duplex }), front);
      const [wrong] = preview.findings.errors;
      if (wrong) throw new MarksError(wrong.message);
      marks = url;
    }
    sheets.push([{ page, marks }]);
    if (of.duplex) sheets[sheet]?.push({ page: front < pages ? (await draw(of.template, front + 1)).url : null, marks: null });
  }
  return sheets;
}

/** Write a document of as many pages that has the marks alone. */
function writeMarks(marks: PlanMarks, { width, height, pages, duplex }: { width: number; height: number; pages: number; duplex: boolean }): string {
  const escape = (value: string) => value.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
  const attributes = Object.entries(marks)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}="${escape(String(value))}${LENGTHS.includes(name) ? "mm" : ""}"`);
  const texts = Array.from({ length: pages }, (_, at) => `<p${at ? ' break-before="page"' : ""}/>`);
  return `<document duplex="${duplex}"><page size="${width}pt ${height}pt"><marks ${attributes.join(" ")}/></page><flow>${texts.join("")}</flow></document>`;
}
