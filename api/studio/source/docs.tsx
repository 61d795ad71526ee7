/** The page at /docs: every operation of the API with a search, samples of code, and a form to send it. */

import { render } from "preact";
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { askJson } from "./lib/api";
import { useLoad } from "./lib/load";
import { count, currentLanguage, t } from "./lib/messages";
import { Try } from "./docs/attempt";
import { type Description, listOperations, type Operation, type Schema } from "./docs/description";
import { Samples, Text } from "./docs/parts";
import { LanguageChoice } from "./ui/language";
import { Badge, Field, Result, Wide } from "./ui/parts";

function Docs() {
  const read = useLoad(() => askJson<Description>("GET", "/docs/openapi.json"), [currentLanguage()]);
  const [, redraw] = useState(0);
  const [key, setKey] = useState("");
  const [sought, setSought] = useState("");
  const operations = useMemo(() => (read.data === null ? [] : listOperations(read.data)), [read.data]);
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter((each) => words.every((word) => each.text.includes(word)));
  // What the address names is there only now.
  useEffect(() => {
    if (read.data !== null) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [read.data]);
  return (
    <Result of={read}>
      {(description) => (
        <div class="reference">
          <a class="skip" href="#main">
            {t("nav.skip")}
          </a>
          <header class="bar">
            <a class="brand" href="/docs">
              Press<span>room</span>
            </a>
            <nav aria-label={t("docs.other")}>
              <a href="/docs/">{t("site.title")}</a>
              <a href="/docs/language">{t("docs.language")}</a>
              <a href="/docs/openapi.json">openapi.json</a>
              <a href="/studio/">Studio</a>
            </nav>
            <LanguageChoice onChange={() => redraw((n) => n + 1)} />
          </header>
          <nav class="contents" aria-label={t("docs.operations")} tabIndex={0}>
            <search>
              <Field label={t("docs.search")} type="search" value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
              <p class="hint" role="status">
                {count("docs.found", found.length)}
              </p>
            </search>
            {description.tags.map(({ name, "x-displayName": title }) => {
              const own = found.filter((each) => each.tag === name);
              return (
                own.length > 0 && (
                  <div key={name}>
                    <h2>{title}</h2>
                    <ul>
                      {own.map((each) => (
                        <li key={each.id}>
                          <a href={`#${each.id}`}>
                            {each.summary} <span class={`method ${each.method}`}>{each.method}</span>
                          </a>
                        </li>
                      ))}
                    </ul>
                  </div>
                )
              );
            })}
          </nav>
          <main id="main" tabIndex={-1}>
            <h1>
              {description.info.title} API <Badge>{description.info.version}</Badge>
            </h1>
            <Text of={description.info.description} />
            <section class="panel">
              <Field
                label={t("docs.key")}
                hint={t("docs.keyHelp")}
                type="password"
                autocomplete="off"
                value={key}
                onInput={(event) => setKey(event.currentTarget.value)}
              />
            </section>
            {found.map((each) => (
              <OperationPart key={each.id} of={each} sendWith={key} />
            ))}
            {words.length === 0 && (
              <>
                <h2>{t("docs.events")}</h2>
                {Object.entries(description.webhooks).map(([name, { post }]) => (
                  <section key={name} id={post.operationId}>
                    <h3>{name}</h3>
                    <Text of={post.description} />
                    <Fields of={Object.values(post.requestBody?.content ?? {})[0]?.schema ?? {}} label={name} />
                  </section>
                ))}
                <h2>{t("docs.objects")}</h2>
                {Object.entries(description.components.schemas)
                  .filter(([, schema]) => schema.properties)
                  .map(([name, schema]) => (
                    <section key={name} id={name}>
                      <h3>{name}</h3>
                      <Fields of={schema} label={name} />
                    </section>
                  ))}
              </>
            )}
          </main>
        </div>
      )}
    </Result>
  );
}

function OperationPart({ of: operation, sendWith }: { of: Operation; sendWith: string }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [body, setBody] = useState<string | null>(null);
  const title = useId();
  return (
    <section class="operation" id={operation.id} aria-labelledby={title}>
      <div>
        <h2 id={title}>{operation.summary}</h2>
        <p class="call">
          <span class={`method ${operation.method}`}>{operation.method}</span> <code>{operation.path}</code>
        </p>
        <Text of={operation.description} />
        {operation.scopes.length > 0 && (
          <p class="soft">
            {t("docs.scope")}: {operation.scopes.map((each) => <Badge key={each}>{each}</Badge>)}
          </p>
        )}
        {operation.parameters.length > 0 && (
          <Rows
            title={t("docs.parameters")}
            of={operation.parameters.map((each) => ({ ...each, rules: each.schema, optional: !each.required }))}
          />
        )}
        {operation.body && (
          <>
            <h3>{t("docs.body")}</h3>
            <Text of={operation.body.description ?? ""} />
            <ul class="media">
              {Object.entries(operation.body.content).map(([media, { schema }]) => (
                <li key={media}>
                  <code>{media}</code> <SchemaName of={schema} />
                </li>
              ))}
            </ul>
          </>
        )}
        <Rows
          title={t("docs.responses")}
          of={operation.responses.map(([name, { description, content }]) => ({
            name,
            description,
            rules: Object.values(content)[0]?.schema ?? {},
            optional: false,
          }))}
        />
      </div>
      <Samples of={operation} values={values} body={body} />
      <Try operation={operation} sendWith={sendWith} values={values} setValues={setValues} body={body} setBody={setBody} />
    </section>
  );
}

interface Row {
  name: string;
  description: string;
  rules: Schema;
  optional: boolean;
}

function Rows({ title, of }: { title: string; of: Row[] }) {
  return (
    <>
      <h3>{title}</h3>
      <Wide label={title}>
        <table>
          <tbody>
            {of.map(({ name, description, rules, optional }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  {optional && <span class="soft">{t("docs.optional")} </span>}
                  <Text of={description} /> <SchemaName of={rules} /> <Rules of={rules} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

function Fields({ of, label }: { of: Schema; label: string }) {
  const rows = Object.entries(of.properties ?? {}).map(([name, rules]) => ({
    name,
    description: rules.description ?? "",
    rules,
    optional: !of.required?.includes(name),
  }));
  return <Rows title={t("docs.fields", { name: label })} of={rows} />;
}

function SchemaName({ of }: { of: Schema }) {
  const schema = of.items ?? of;
  const name = schema.$ref?.split("/").at(-1);
  if (!name || name.endsWith("Error")) return null;
  return (
    <a href={`#${name}`}>
      {name}
      {of.items && "[]"}
    </a>
  );
}

const RULES = ["enum", "minimum", "maximum", "minLength", "maxLength", "default"] as const;

function Rules({ of }: { of: Schema }) {
  const told = RULES.filter((rule) => of[rule] !== undefined).map((rule) => `${rule} ${JSON.stringify(of[rule])}`);
  return told.length > 0 ? <span class="soft break">{told.join(", ")}</span> : null;
}

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Docs />, place);
}
