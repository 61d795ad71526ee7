/** Templates: the list of the account's own, and the public ones to start from. */

import { useMemo, useState } from "preact/hooks";
import { askAll, askJson } from "../lib/api";
import { useLoad } from "../lib/load";
import { count, formatAgo, formatMoment, t } from "../lib/messages";
import { mayChange } from "../lib/rights";
import { goTo, linkTo } from "../lib/router";
import type { PageProps, Template, TemplateWithContent } from "../lib/types";
import { nameTemplate } from "../messages/names";
import { Empty, Field, FormDialog, LookOnly, Result, Wide } from "../ui/parts";
import { Thumbnail } from "../ui/thumbnail";
import { PUBLIC } from "./template/read";

export function Templates({ account }: PageProps) {
  const list = useLoad(() => askAll<Template>("/v2/templates?include=public", "templates"), []);
  const [sought, setSought] = useState("");
  const [base, setBase] = useState<string | null>(null);
  const own = useMemo(
    () =>
      (list.data ?? [])
        .filter((each) => !each.id.startsWith(PUBLIC))
        .filter((each) => matches(each, sought))
        .sort((a, b) => b.updated_at.localeCompare(a.updated_at)),
    [list.data, sought],
  );
  const open = (list.data ?? []).filter((each) => each.id.startsWith(PUBLIC));
  const held = (list.data ?? []).length - open.length;
  const mayWrite = mayChange(account, "templates");
  return (
    <>
      <div class="head">
        <h1>{t("templates.title")}</h1>
        {mayWrite && (
          <button type="button" class="primary" onClick={() => setBase("")}>
            {t("templates.new")}
          </button>
        )}
      </div>
      <LookOnly account={account} lacks="templates" />
      <Result of={list}>
        {() =>
          held === 0 ? (
            <Empty title={t("templates.none")}>
              <p>{t(mayWrite ? "templates.noneHelp" : "templates.noneToSee")}</p>
            </Empty>
          ) : (
            <section>
              {held > 5 && (
                <Field
                  label={t("templates.search")}
                  type="search"
                  value={sought}
                  onInput={(event) => setSought(event.currentTarget.value)}
                />
              )}
              {own.length === 0 ? (
                <p>{t("templates.notFound", { sought })}</p>
              ) : (
                <TemplateTable templates={own} userId={account.user.id} />
              )}
            </section>
          )
        }
      </Result>
      {open.length > 0 && (
        <section>
          <h2>{t("templates.public")}</h2>
          <p class="soft">{t(mayWrite ? "templates.publicHelp" : "templates.publicToSee")}</p>
          <ul class="cards">
            {open.map((each) => (
              <li key={each.id} class="card">
                <Thumbnail template={each.id} version={each.sha256} />
                <h3>
                  <a href={linkTo("templates", each.id)}>{nameTemplate(each.name)}</a>
                </h3>
                <p class="soft mono">{each.id}</p>
                {mayWrite && (
                  <button type="button" onClick={() => setBase(each.id)} aria-label={t("templates.startFrom", { name: nameTemplate(each.name) })}>
                    {t("templates.start")}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {base !== null && <NewTemplate base={base} open={open} onClose={() => setBase(null)} />}
    </>
  );
}

function matches(template: Template, sought: string): boolean {
  const words = sought.toLowerCase();
  return [template.name, template.slug ?? "", template.id].some((text) => text.toLowerCase().includes(words));
}

function TemplateTable({ templates, userId }: { templates: Template[]; userId: string }) {
  return (
    <Wide label={t("templates.own")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("templates.name")}</th>
            <th scope="col" class="roomy">{t("templates.slug")}</th>
            <th scope="col">{t("templates.versions")}</th>
            <th scope="col">{t("templates.changed")}</th>
          </tr>
        </thead>
        <tbody>
          {templates.map((each) => (
            <tr key={each.id}>
              <th scope="row" class="pictured">
                <Thumbnail template={each.id} version={each.sha256} />
                <a href={linkTo("templates", each.id)}>{each.name}</a>
              </th>
              <td class="mono roomy">{each.slug ?? <span class="soft">–</span>}</td>
              <td>{each.versions === 0 ? <span class="soft">{t("templates.unpublished")}</span> : count("templates.versionCount", each.versions)}</td>
              <td title={formatMoment(each.updated_at)}>
                {formatAgo(each.updated_at)}
                {each.updated_by.id !== userId && <span class="soft"> · {each.updated_by.name}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function NewTemplate({ base, open, onClose }: { base: string; open: Template[]; onClose: () => void }) {
  const create = async (form: FormData) => {
    const from = String(form.get("base"));
    const content = from
      ? (await askJson<TemplateWithContent>("GET", `/v2/templates/${encodeURIComponent(from)}`)).content
      : BLANK;
    const name = encodeURIComponent(String(form.get("name")).trim());
    const made = await askJson<Template>("POST", `/v2/templates?name=${name}`, {
      body: content,
      type: "application/xml; charset=utf-8",
    });
    onClose();
    goTo("templates", made.id, "edit");
  };
  const suggested = nameTemplate(open.find((each) => each.id === base)?.name ?? "");
  return (
    <FormDialog title={t("templates.new")} action={t("templates.create")} onSubmit={create} onClose={onClose}>
      <Field label={t("templates.name")} name="name" required maxLength={200} defaultValue={suggested} autofocus />
      <div class="field">
        <label for="base">{t("templates.base")}</label>
        <select id="base" name="base">
          <option value="">{t("templates.blank")}</option>
          {open.map((each) => (
            <option key={each.id} value={each.id} selected={each.id === base}>
              {nameTemplate(each.name)}
            </option>
          ))}
        </select>
      </div>
    </FormDialog>
  );
}

const BLANK = `<document>
  <data unknown="error">
    <sample>{ "title": "Title" }</sample>
    <field name="title" required="true"/>
  </data>
  <page size="A4" margin="20mm"/>
  <flow>
    <h1>{{ title }}</h1>
    <p>Text</p>
  </flow>
</document>
`;
