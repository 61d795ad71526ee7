/** One template: its name, its content, its versions with their tags, and its slug. */

import { useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { formatAgo, formatMoment, t } from "../../lib/messages";
import { goTo, linkTo } from "../../lib/router";
import type { TemplateWithContent } from "../../lib/types";
import { Badge, Field, FormDialog, Result } from "../../ui/parts";
import type { PageProps } from "../pages";
import { Slug } from "./slug";
import { Versions } from "./versions";

export const PUBLIC = "service-";

/** A template with the ETag of its state, which a change sends as If-Match. */
export interface Read {
  template: TemplateWithContent;
  etag: string;
}

let dropped: File | null = null;

/** Return the CSV file that was dropped on a template, once. */
export function takeDropped(): File | null {
  const file = dropped;
  dropped = null;
  return file;
}

export async function readTemplate(id: string): Promise<Read> {
  const answer = await ask("GET", `/v2/templates/${encodeURIComponent(id)}`);
  return { template: await answer.json(), etag: answer.headers.get("ETag") ?? "*" };
}

export function TemplatePage({ account, route }: PageProps) {
  const id = route[1] ?? "";
  const read = useLoad(() => readTemplate(id), [id]);
  const [asked, setAsked] = useState<"name" | "delete" | null>(null);
  const path = `/v2/templates/${encodeURIComponent(id)}`;
  const close = () => setAsked(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    dropped = event.dataTransfer?.files[0] ?? null;
    if (dropped) goTo("templates", id, "batch");
  };
  return (
    <div class="page" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <p class="crumb">
        <a href={linkTo("templates")}>{t("templates.title")}</a>
      </p>
      <Result of={read}>
        {({ template, etag }) => {
          const isPublic = template.id.startsWith(PUBLIC);
          return (
            <>
              <div class="head">
                <div>
                  <h1>{template.name}</h1>
                  <p class="soft">
                    <span class="mono">{template.id}</span>
                    {" · "}
                    <span title={formatMoment(template.updated_at)}>
                      {t("template.changed", { ago: formatAgo(template.updated_at), name: template.updated_by.name })}
                    </span>
                  </p>
                </div>
                {isPublic ? (
                  <div class="actions">
                    <Badge>{t("template.public")}</Badge>
                    <a class="button" href={linkTo("templates", template.id, "batch")}>
                      {t("newBatch.open")}
                    </a>
                  </div>
                ) : (
                  <div class="actions">
                    <a class="button primary" href={linkTo("templates", template.id, "edit")}>
                      {t("editor.open")}
                    </a>
                    <a class="button" href={linkTo("templates", template.id, "batch")}>
                      {t("newBatch.open")}
                    </a>
                    <button type="button" onClick={() => setAsked("name")}>
                      {t("template.rename")}
                    </button>
                    <button type="button" class="danger" onClick={() => setAsked("delete")}>
                      {t("template.delete")}
                    </button>
                  </div>
                )}
              </div>
              <section aria-labelledby="content">
                <h2 id="content">{t("template.content")}</h2>
                <Content of={template} />
              </section>
              <Versions template={template} etag={etag} isPublic={isPublic} onChange={read.reload} />
              {!isPublic && account.has_workspace && <Slug template={template} onChange={read.reload} />}
              {asked === "name" && (
                <FormDialog
                  title={t("template.rename")}
                  action={t("template.renameAction")}
                  onClose={close}
                  onSubmit={async (form) => {
                    await askJson("PATCH", path, { json: { name: String(form.get("name")).trim() }, headers: { "If-Match": etag } });
                    close();
                    read.reload();
                  }}
                >
                  <Field label={t("templates.name")} name="name" required maxLength={200} defaultValue={template.name} autofocus />
                </FormDialog>
              )}
              {asked === "delete" && (
                <FormDialog
                  title={t("template.deleteTitle")}
                  action={t("template.delete")}
                  danger
                  onClose={close}
                  onSubmit={async () => {
                    await ask("DELETE", path, { headers: { "If-Match": etag } });
                    goTo("templates");
                  }}
                >
                  <p>
                    <b>{template.name}</b> <span class="mono soft">{template.id}</span>
                  </p>
                  <p>{t("template.deleteHelp")}</p>
                </FormDialog>
              )}
            </>
          );
        }}
      </Result>
    </div>
  );
}

function Content({ of: template }: { of: TemplateWithContent }) {
  if (template.content === "") return <p class="soft">{t("template.noContent")}</p>;
  return (
    <pre class="content" tabIndex={0} role="group" aria-label={t("template.content")}>
      <code>{template.content}</code>
    </pre>
  );
}
