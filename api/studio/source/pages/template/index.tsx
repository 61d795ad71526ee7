/** One template: its name, its content, its versions with their tags, and its slug. */

import { useState } from "preact/hooks";
import { ask, askJson, Failure } from "../../lib/api";
import { useLoad } from "../../lib/load";
import { formatAgo, formatMoment, t } from "../../lib/messages";
import { mayChange } from "../../lib/rights";
import { goTo, linkTo } from "../../lib/router";
import type { Account, PageProps, Tag, TemplateWithContent } from "../../lib/types";
import { nameTemplate } from "../../messages/names";
import { Badge, Field, FormDialog, LookOnly, Notice, Result } from "../../ui/parts";
import { Thumbnail } from "../../ui/thumbnail";
import { readSamples, type Sample } from "../editor/samples";
import { DownloadDialog } from "./download";
import { keepDropped, PUBLIC, readTemplate } from "./read";
import { Slug } from "./slug";
import { Versions } from "./versions";

export function TemplatePage({ account, route }: PageProps) {
  const id = route[1] ?? "";
  const read = useLoad(() => readTemplate(id), [id]);
  const [asked, setAsked] = useState<"name" | "delete" | "download" | null>(null);
  const path = `/v2/templates/${encodeURIComponent(id)}`;
  const close = () => setAsked(null);
  const mayWrite = mayChange(account, "templates");
  const mayRender = mayChange(account, "render");
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (!file || !mayRender) return;
    keepDropped(file);
    goTo("templates", id, "batch");
  };
  return (
    <div class="page" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <p class="crumb">
        <a href={linkTo("templates")}>{t("templates.title")}</a>
      </p>
      {read.data === null && <h1 class="visually-hidden">{t("editor.template")}</h1>}
      <Result of={read}>
        {({ template, etag }) => {
          const isPublic = template.id.startsWith(PUBLIC);
          return (
            <>
              <div class="head">
                <div>
                  <h1>{isPublic ? nameTemplate(template.name) : template.name}</h1>
                  <p class="soft">
                    <span class="mono">{template.id}</span>
                    {" · "}
                    <span title={formatMoment(template.updated_at)}>
                      {t("template.changed", { ago: formatAgo(template.updated_at), name: template.updated_by.name })}
                    </span>
                  </p>
                </div>
                <div class="actions">
                  {isPublic ? (
                    <Badge>{t("template.public")}</Badge>
                  ) : (
                    <a class="button primary" href={linkTo("templates", template.id, "edit")}>
                      {t(mayWrite ? "editor.open" : "editor.look")}
                    </a>
                  )}
                  {mayRender && (
                    <button type="button" onClick={() => setAsked("download")}>
                      {t("download.open")}
                    </button>
                  )}
                  {mayRender && (
                    <a class="button" href={linkTo("templates", template.id, "batch")}>
                      {t("newBatch.open")}
                    </a>
                  )}
                  {!isPublic && mayWrite && (
                    <>
                      <button type="button" onClick={() => setAsked("name")}>
                        {t("template.rename")}
                      </button>
                      <button type="button" class="danger" onClick={() => setAsked("delete")}>
                        {t("template.delete")}
                      </button>
                    </>
                  )}
                </div>
              </div>
              <LookOnly account={account} lacks="templates" />
              <section aria-labelledby="content">
                <h2 id="content">{t("template.content")}</h2>
                <Content of={template} />
              </section>
              <Versions account={account} template={template} etag={etag} isFixed={isPublic || !mayWrite} onChange={read.reload} />
              {!isPublic && <UsedBy id={template.id} />}
              {!isPublic && account.has_workspace && <Slug template={template} isFixed={!mayWrite} onChange={read.reload} />}
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
              {asked === "download" && (
                <DownloadDialog account={account} id={template.id} text={template.id} sample={readSample(account, template.id)} isTyped save={null} onClose={close} />
              )}
              {asked === "delete" && <DeleteTemplate template={template} etag={etag} onClose={close} />}
            </>
          );
        }}
      </Result>
    </div>
  );
}

/** The data that the editor of this browser has for a template. */
function readSample(account: Account, template: string): Sample {
  const { sets, at } = readSamples(account.id, template, t("samples.first"));
  return sets[at] as Sample;
}

/** The deletion of a template: which templates and requests use it, and its name typed where any may. */
function DeleteTemplate({ template, etag, onClose }: { template: TemplateWithContent; etag: string; onClose: () => void }) {
  const path = `/v2/templates/${encodeURIComponent(template.id)}`;
  const uses = useLoad(async () => {
    const [{ templates }, { tags }] = await Promise.all([
      askJson<{ templates: { id: string; name: string }[] }>("GET", `${path}/dependents`),
      askJson<{ tags: Tag[] }>("GET", `${path}/tags`),
    ]);
    return { dependents: templates, tags };
  }, [path]);
  const isPublished = template.versions > 0 || template.slug !== undefined;
  return (
    <FormDialog
      title={t("template.deleteTitle")}
      action={t("template.delete")}
      danger
      blocked={uses.data === null || uses.data.dependents.length > 0}
      onClose={onClose}
      onSubmit={async (form) => {
        if (isPublished && String(form.get("name")).trim() !== template.name.trim()) throw new Failure(400, t("template.otherName"), null);
        await ask("DELETE", path, { headers: { "If-Match": etag } });
        goTo("templates");
      }}
    >
      <p>
        <b>{template.name}</b> <span class="mono soft">{template.id}</span>
      </p>
      <Result of={uses}>
        {({ dependents, tags }) =>
          dependents.length > 0 ? (
            <Notice kind="error">
              {t("template.used")}
              <ul>
                {dependents.map((each) => (
                  <li key={each.id}>
                    <a href={linkTo("templates", each.id)}>{each.name || each.id}</a>
                  </li>
                ))}
              </ul>
            </Notice>
          ) : (
            <>
              <p>{t("template.deleteHelp")}</p>
              {(tags.length > 0 || template.slug) && (
                <p>
                  {t("template.requests")}{" "}
                  {[...(template.slug ? [template.slug] : []), ...tags.map(({ tag }) => `${template.slug ?? template.id}@${tag}`)].map((each) => (
                    <Badge key={each}>{each}</Badge>
                  ))}
                </p>
              )}
              {isPublished && <Field label={t("template.typeName")} name="name" required autocomplete="off" spellcheck={false} autofocus />}
            </>
          )
        }
      </Result>
    </FormDialog>
  );
}

/** The templates that extend or import this one; nothing where there are none. */
function UsedBy({ id }: { id: string }) {
  const list = useLoad(
    () => askJson<{ templates: { id: string; name: string }[]; has_more: boolean }>("GET", `/v2/templates/${encodeURIComponent(id)}/dependents`),
    [id],
  );
  if (!list.data || list.data.templates.length === 0) return null;
  return (
    <section aria-labelledby="used-by">
      <h2 id="used-by">{t("template.usedBy")}</h2>
      <ul>
        {list.data.templates.map((each) => (
          <li key={each.id}>
            <a href={linkTo("templates", each.id)}>{each.name || each.id}</a> <span class="mono soft">{each.id}</span>
          </li>
        ))}
      </ul>
      {list.data.has_more && <p class="soft">{t("template.usedByMore")}</p>}
    </section>
  );
}

function Content({ of: template }: { of: TemplateWithContent }) {
  if (template.content === "") return <p class="soft">{t("template.noContent")}</p>;
  return (
    <>
      <Thumbnail template={template.id} version={template.sha256} />
      <details>
        <summary>XML</summary>
        <pre class="content" tabIndex={0} role="group" aria-label={t("template.content")}>
          <code>{template.content}</code>
        </pre>
      </details>
    </>
  );
}
