/** The data beside a template: sample sets of JSON, CSV or Markdown. */

import { useState } from "preact/hooks";
import { t } from "../../lib/messages";
import { Field, FormDialog } from "../../ui/parts";
import { type DataKind, kindOfFile, MEDIA_TYPES, MOST_SETS, type Sample, type Samples, STARTS } from "./samples";
import { Text } from "./text";

const KINDS = Object.keys(MEDIA_TYPES) as DataKind[];

export function DataPane({ samples, flows, template, onChange }: { samples: Samples; flows: string[]; template: () => string; onChange: (samples: Samples) => void }) {
  const { sets, at } = samples;
  const chosen = sets[at] as Sample;
  const [asked, setAsked] = useState<"new" | "rename" | "delete" | null>(null);
  const [turn, setTurn] = useState(0); // a new one shows the text of another set
  const close = () => setAsked(null);
  const change = (fields: Partial<Sample>) => onChange({ sets: sets.map((each, index) => (index === at ? { ...each, ...fields } : each)), at });
  const show = (next: Samples) => {
    onChange(next);
    setTurn(turn + 1);
  };
  const add = (sample: Sample) => show({ sets: [...sets, sample], at: sets.length });
  const drop = async (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    const kind = file && kindOfFile(file.name);
    if (!file || !kind || sets.length >= MOST_SETS) return;
    event.preventDefault();
    event.stopPropagation();
    add({ name: file.name, kind, text: await file.text(), flow: flows[0] ?? "" });
  };
  return (
    <section class="data" aria-labelledby="data" onDropCapture={drop}>
      <div class="between">
        <h2 id="data">{t("editor.data")}</h2>
        <div class="actions">
          <select
            aria-label={t("samples.set")}
            value={String(at)}
            onChange={(event) => show({ sets, at: Number(event.currentTarget.value) })}
          >
            {sets.map((each, index) => (
              <option key={index} value={String(index)}>
                {each.name}
              </option>
            ))}
          </select>
          <select
            aria-label={t("samples.kind")}
            value={chosen.kind}
            onChange={(event) => {
              const kind = event.currentTarget.value as DataKind;
              const isUntouched = chosen.text.trim() === STARTS[chosen.kind].trim();
              change({ kind, ...(isUntouched && { text: STARTS[kind] }), ...(kind === "markdown" && !chosen.flow && { flow: flows[0] ?? "" }) });
              setTurn(turn + 1);
            }}
          >
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t(`samples.${kind}`)}
              </option>
            ))}
          </select>
          {chosen.kind === "markdown" && flows.length > 0 && (
            <select aria-label={t("samples.flow")} value={chosen.flow} onChange={(event) => change({ flow: event.currentTarget.value })}>
              {flows.map((flow) => (
                <option key={flow} value={flow}>
                  {flow}
                </option>
              ))}
            </select>
          )}
          <button type="button" class="quiet" disabled={sets.length >= MOST_SETS} onClick={() => setAsked("new")}>
            {t("samples.new")}
          </button>
          <button type="button" class="quiet" onClick={() => setAsked("rename")}>
            {t("samples.rename")}
          </button>
          <button type="button" class="quiet danger" disabled={sets.length < 2} onClick={() => setAsked("delete")}>
            {t("samples.delete")}
          </button>
        </div>
      </div>
      <Text
        key={`${at} ${turn}`}
        kind={chosen.kind}
        label={t("editor.data")}
        start={chosen.text}
        onChange={(text) => change({ text })}
        beside={template}
      />
      {asked === "new" && (
        <FormDialog
          title={t("samples.newTitle")}
          action={t("samples.create")}
          onClose={close}
          onSubmit={async (form) => {
            close();
            add({ ...chosen, name: String(form.get("name")).trim() });
          }}
        >
          <p>{t("samples.newHelp")}</p>
          <Field label={t("templates.name")} name="name" required maxLength={100} autofocus />
        </FormDialog>
      )}
      {asked === "rename" && (
        <FormDialog
          title={t("samples.renameTitle")}
          action={t("samples.rename")}
          onClose={close}
          onSubmit={async (form) => {
            close();
            change({ name: String(form.get("name")).trim() });
          }}
        >
          <Field label={t("templates.name")} name="name" required maxLength={100} defaultValue={chosen.name} autofocus />
        </FormDialog>
      )}
      {asked === "delete" && (
        <FormDialog
          title={t("samples.deleteTitle", { name: chosen.name })}
          action={t("samples.delete")}
          danger
          onClose={close}
          onSubmit={async () => {
            close();
            show({ sets: sets.filter((_, index) => index !== at), at: Math.max(at - 1, 0) });
          }}
        >
          <p>{t("samples.deleteHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}

/** The names of the flows in a template, which Markdown can be placed into. */
export function findFlows(template: string): string[] {
  const names = [...template.matchAll(/<flow\b([^>]*)/g)].map(([, attributes = ""]) => /\bname="([\w.-]+)"/.exec(attributes)?.[1] ?? "body");
  return [...new Set(names)];
}
