/** The slug of a template: a readable name for requests. */

import { useState } from "preact/hooks";
import { ask } from "../../lib/api";
import { t } from "../../lib/messages";
import type { Template } from "../../lib/types";
import { Field, FormDialog } from "../../ui/parts";

export function Slug({ template, isFixed, onChange }: { template: Template; isFixed: boolean; onChange: () => void }) {
  const [asked, setAsked] = useState<"set" | "release" | null>(null);
  const close = () => setAsked(null);
  const done = () => {
    close();
    onChange();
  };
  const { slug } = template;
  return (
    <section aria-labelledby="slug">
      <div class="head">
        <h2 id="slug">{t("slug.title")}</h2>
        {!isFixed && (
          <div class="actions">
            <button type="button" onClick={() => setAsked("set")}>
              {t(slug ? "slug.change" : "slug.assign")}
            </button>
            {slug && (
              <button type="button" class="danger" onClick={() => setAsked("release")}>
                {t("slug.release")}
              </button>
            )}
          </div>
        )}
      </div>
      {slug ? (
        <p>
          <code>{slug}</code> <span class="soft">{t("slug.help", { slug })}</span>
        </p>
      ) : (
        <p class="soft">{t("slug.none")}</p>
      )}
      {asked === "set" && (
        <FormDialog
          title={t(slug ? "slug.change" : "slug.assign")}
          action={t("slug.assign")}
          onClose={close}
          onSubmit={async (form) => {
            await ask("POST", "/v2/slugs", { json: { slug: String(form.get("slug")).trim(), template: template.id } });
            done();
          }}
        >
          <Field
            label={t("slug.title")}
            hint={t("slug.hint")}
            name="slug"
            required
            maxLength={64}
            {...(slug ? { defaultValue: slug } : {})}
            autofocus
          />
        </FormDialog>
      )}
      {asked === "release" && slug && (
        <FormDialog
          title={t("slug.releaseTitle", { slug })}
          action={t("slug.release")}
          danger
          onClose={close}
          onSubmit={async () => {
            await ask("DELETE", `/v2/slugs/${encodeURIComponent(slug)}`);
            done();
          }}
        >
          <p>{t("slug.releaseHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}
