/** A batch from a CSV file or a spreadsheet: columns mapped to the data of a template, the first documents previewed, then started. */

import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { ask, askJson, Failure } from "../lib/api";
import { CsvError, decodeText, readCsv, type Table } from "../lib/csv";
import { describe, useLoad } from "../lib/load";
import { count, formatNumber, t } from "../lib/messages";
import { drawPage, type Drawing } from "../lib/previews";
import { mayChange } from "../lib/rights";
import { goTo, linkTo } from "../lib/router";
import { startBatch } from "../lib/started";
import { findPaths, listOf, parse, type Shape, toDocument } from "../lib/template-data";
import type { Finding, PageProps, Tag, Version } from "../lib/types";
import { LookOnly, Notice, Result, Wide } from "../ui/parts";
import { nameLabel } from "../messages/labels";
import { nameTemplate } from "../messages/names";
import { type Base, findLinks, readBases } from "./editor/bases";
import { type Declarations, fillGaps, follow, inWords, readDeclarations } from "./editor/declarations";
import { findField } from "./editor/findings";
import { DropZone } from "./files";
import { readTemplate, takeDropped } from "./template/read";

const PREVIEWED = 3;
const OUTPUTS = ["files", "zip", "merged"] as const;
const PLAN = "plan:"; // before its name, as a result
const LEFT_OUT = "";
const SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** The paths last chosen for the columns of a template, which this browser keeps. */
const mappingOf = (template: string) => `pressroom-mapping:${template}`;

export function NewBatch({ account, route }: PageProps) {
  const id = route[1] ?? "";
  const path = `/v2/templates/${encodeURIComponent(id)}`;
  const read = useLoad(async () => {
    const [{ template }, { versions }, { tags }, { plans }] = await Promise.all([
      readTemplate(id),
      askJson<{ versions: Version[] }>("GET", `${path}/versions`),
      askJson<{ tags: Tag[] }>("GET", `${path}/tags`),
      mayChange(account, "render") ? askJson<{ plans: { name: string }[] }>("GET", "/v2/plans") : { plans: [] },
    ]);
    return { template, bases: await readBases(findLinks(template.content)), versions, tags, plans: plans.map(({ name }) => name) };
  }, [path]);
  const [file, setFile] = useState<File | null>(takeDropped);
  const table = useLoad(async () => (file === null ? null : readFile(file)), [file]);
  const [selector, setSelector] = useState("");
  return (
    <>
      <p class="crumb">
        <a href={linkTo("templates", id)}>{read.data?.template.name ?? t("templates.title")}</a>
      </p>
      <h1>{t("newBatch.title")}</h1>
      <p class="soft">{t("newBatch.help")}</p>
      <LookOnly account={account} lacks="render" />
      <DropZone
        accept={`.csv,.tsv,.xlsx,text/csv,${SPREADSHEET}`}
        label={t(file ? "newBatch.other" : "newBatch.drop")}
        help={file?.name ?? t("newBatch.dropHelp")}
        multiple={false}
        onFiles={([chosen]) => chosen && setFile(chosen)}
      />
      <Result of={read}>
        {({ template, bases, versions, tags, plans }) => (
          <>
            {(versions.length > 0 || tags.length > 0) && (
              <div class="field inline">
                <label for="selector">{t("newBatch.version")}</label>
                <select id="selector" value={selector} onChange={(event) => setSelector(event.currentTarget.value)}>
                  <option value="">{t("newBatch.live")}</option>
                  {tags.map(({ tag, version }) => (
                    <option key={tag} value={tag}>
                      {t("newBatch.tag", { tag, n: version })}
                    </option>
                  ))}
                  {versions.map(({ version }) => (
                    <option key={version} value={String(version)}>
                      {t("newBatch.number", { n: version })}
                    </option>
                  ))}
                </select>
              </div>
            )}
            {file !== null && (
              <Result of={table}>
                {(found) =>
                  found && (
                    <Mapping
                      key={`${file.name} ${file.lastModified} ${file.size}`}
                      table={found}
                      template={template.id}
                      content={template.content}
                      kinds={findKinds(template.name, template.content)}
                      bases={bases}
                      mayStart={mayChange(account, "render")}
                      plan={route[3]}
                      plans={plans}
                      reference={selector ? `${template.id}@${selector}` : template.id}
                    />
                  )
                }
              </Result>
            )}
          </>
        )}
      </Result>
    </>
  );
}

/** An error that the user can mend; its message is in their language. */
class FileError extends Error {}

async function readFile(file: File): Promise<{ table: Table } | { error: string }> {
  try {
    const table = readCsv(await readText(file));
    if (table.rows.length === 0) throw new FileError(t("newBatch.noRows"));
    return { table };
  } catch (failure) {
    if (failure instanceof Failure) return { error: describe(failure) };
    if (failure instanceof CsvError) return { error: t("newBatch.notCsv", { line: failure.line }) };
    return { error: failure instanceof FileError ? failure.message : describe(failure) };
  }
}

/** Return the text of a CSV file; a spreadsheet is converted by the service. */
async function readText(file: File): Promise<string> {
  if (!/\.xlsx$/i.test(file.name)) return decodeText(new Uint8Array(await file.arrayBuffer()));
  return (await ask("POST", "/v2/spreadsheets/convert", { body: file, type: SPREADSHEET })).text();
}

function Mapping({
  table: read,
  template,
  content,
  kinds,
  bases,
  mayStart,
  reference,
  plan,
  plans,
}: {
  table: { table: Table } | { error: string };
  template: string;
  content: string;
  kinds: string[];
  bases: Base[];
  mayStart: boolean;
  reference: string;
  plan: string | undefined;
  plans: string[];
}) {
  const declarations = useMemo(() => readDeclarations(content, bases), [content, bases]);
  const { fields, required, shape } = useMemo(() => listFields(declarations), [declarations]);
  const table = useMemo(() => ("table" in read ? read.table : { columns: [], rows: [] }), [read]);
  const [targets, setTargets] = useState(() => {
    const kept = parse(localStorage.getItem(mappingOf(template)) ?? "") ?? {};
    return suggest(table.columns, fields, kinds).map((path, index) => kept[table.columns[index] ?? ""] ?? path).map(String);
  });
  const [output, setOutput] = useState(plan ? PLAN + plan : "files");
  const [draft, setDraft] = useState(false);
  const [group, setGroup] = useState(LEFT_OUT);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const id = useId();
  const key = table.columns.indexOf(group);
  const documents = useMemo(() => (key < 0 ? table.rows.map((row) => [row]) : groupRows(table.rows, key)), [table, key]);
  if ("error" in read) return <Notice kind="error">{read.error}</Notice>;
  const twice = targets.find((target, index) => target !== LEFT_OUT && targets.indexOf(target) !== index);
  const used = targets.filter((target) => target !== LEFT_OUT);
  const missing = required.filter((path) => !isFilled(path, used, shape.lists));
  const isEmpty = used.length === 0;
  const types = targets.map((target) => fields.find(({ path }) => path === target)?.type);
  const convert = (rows: string[][]) => rows.map((row) => row.map((cell, index) => toPlain(cell, types[index])));
  const keyless = key < 0 ? -1 : table.rows.findIndex((row) => !row[key]);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const query = new URLSearchParams({ template: reference, ...(output.startsWith(PLAN) ? { plan: output.slice(PLAN.length) } : { output }), ...(draft && { draft: "true" }) });
      const isTable = key < 0 && !used.some((target) => listOf(target, shape.lists) || shape.texts.includes(target));
      const made = await startBatch({ columns: used, documents: documents.map((rows) => pick(convert(rows), targets)), shape: isTable ? null : shape, keys: key < 0 ? null : documents.map(([row]) => row?.[key] ?? "") }, String(query));
      localStorage.setItem(mappingOf(template), JSON.stringify(Object.fromEntries(table.columns.map((each, index) => [each, targets[index]]))));
      goTo("batches", made.id);
    } catch (failure) {
      setError(describe(failure));
      setBusy(false);
    }
  };
  return (
    <>
      <section aria-labelledby={`${id}-columns`}>
        <h2 id={`${id}-columns`}>{t("newBatch.columns")}</h2>
        <p class="soft">{t("newBatch.columnsHelp")}</p>
        <datalist id={`${id}-paths`}>
          {fields.map(({ path, label }) => (
            <option key={path} value={path}>
              {label}
            </option>
          ))}
        </datalist>
        <Wide label={t("newBatch.columns")}>
          <table class="mapping">
            <thead>
              <tr>
                <th scope="col">{t("newBatch.column")}</th>
                <th scope="col">{t("newBatch.first")}</th>
                <th scope="col">{t("newBatch.path")}</th>
              </tr>
            </thead>
            <tbody>
              {table.columns.map((column, index) => {
                const target = targets[index] ?? LEFT_OUT;
                return (
                  <tr key={index}>
                    <th scope="row">{column || <span class="soft">{index + 1}</span>}</th>
                    <td class="sample">{table.rows[0]?.[index]}</td>
                    <td>
                      <input
                        class="path mono"
                        aria-label={t("newBatch.pathOf", { column: column || String(index + 1) })}
                        list={`${id}-paths`}
                        value={target}
                        placeholder={t("newBatch.leftOut")}
                        onInput={(event) => setTargets(targets.with(index, event.currentTarget.value.trim()))}
                      />
                      {target !== LEFT_OUT && fields.length > 0 && !fields.some(({ path }) => path === target) && <p class="soft hint">{t("newBatch.unknown")}</p>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Wide>
        <div class="field inline">
          <label for={`${id}-group`}>{t("newBatch.group")}</label>
          <select id={`${id}-group`} value={key < 0 ? LEFT_OUT : group} onChange={(event) => setGroup(event.currentTarget.value)}>
            <option value={LEFT_OUT}>{t("newBatch.eachRow")}</option>
            {table.columns.filter(Boolean).map((column) => (
              <option key={column} value={column}>
                {t("newBatch.groupBy", { column })}
              </option>
            ))}
          </select>
        </div>
        {keyless >= 0 && <Notice kind="error">{t("newBatch.noKey", { n: keyless + 2, column: group })}</Notice>}
        {missing.length > 0 && (
          <Notice kind={draft ? "info" : "error"}>{t(draft ? "newBatch.missingDraft" : "newBatch.missing", { paths: missing.join(", ") })}</Notice>
        )}
        {twice !== undefined && <Notice kind="error">{t("newBatch.twice", { path: twice })}</Notice>}
      </section>
      <section aria-labelledby={`${id}-first`}>
        <h2 id={`${id}-first`}>{t("newBatch.preview")}</h2>
        <p class="soft">{t("newBatch.previewHelp")}</p>
        <ol class="firsts">
          {documents.slice(0, PREVIEWED).map((rows, index) => (
            <First key={index} number={index + 1} reference={reference} declarations={declarations} payload={JSON.stringify(fillGaps(parse(toDocument(convert(rows), targets, shape)) ?? {}, declarations))} />
          ))}
        </ol>
      </section>
      <section class="start">
        <div class="field inline">
          <label for={`${id}-output`}>{t("newBatch.output")}</label>
          <select id={`${id}-output`} value={output} onChange={(event) => setOutput(event.currentTarget.value)}>
            {OUTPUTS.map((each) => (
              <option key={each} value={each}>
                {t(`newBatch.${each}`)}
              </option>
            ))}
            {plans.map((each) => (
              <option key={each} value={PLAN + each}>
                {t("newBatch.plan", { name: each })}
              </option>
            ))}
          </select>
        </div>
        <div class="check">
          <input id={`${id}-draft`} type="checkbox" checked={draft} onChange={(event) => setDraft(event.currentTarget.checked)} />
          <label for={`${id}-draft`}>{t("newBatch.draft")}</label>
        </div>
        {error !== null && <Notice kind="error">{error}</Notice>}
        <button type="button" class="primary" disabled={!mayStart || busy || isEmpty || twice !== undefined || keyless >= 0 || (missing.length > 0 && !draft)} onClick={start}>
          {count("newBatch.start", documents.length)}
        </button>
      </section>
    </>
  );
}

function First({ number, reference, declarations, payload }: { number: number; reference: string; declarations: Declarations; payload: string }) {
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const drawn = await drawPage({ template: reference, payload, scale: 0.6 * Math.min(devicePixelRatio, 2) }, stop.signal);
        setDrawing((before) => {
          before?.release();
          return drawn;
        });
        setError(null);
      } catch (failure) {
        if (!stop.signal.aborted) setError(describe(failure));
      }
    }, 300);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [reference, payload]);
  const findings = drawing?.preview.findings;
  const tell = (finding: Finding) => {
    const field = findField(finding, declarations);
    return field ? `${field.label} ${field.message}` : finding.message;
  };
  return (
    <li aria-busy={drawing === null && error === null}>
      <p>
        <b>{t("newBatch.document", { n: number })}</b>{" "}
        {drawing && <span class="soft">{count("batches.pages", drawing.preview.pages)}</span>}
      </p>
      {drawing?.url && <img src={drawing.url} alt={t("newBatch.pageOf", { n: formatNumber(number) })} />}
      {error !== null && <Notice kind="error">{error}</Notice>}
      <ul class="findings">
        {findings?.errors.slice(0, 5).map((each, index) => (
          <li key={index} class="bad">
            {tell(each)}
          </li>
        ))}
        {findings?.warnings.slice(0, 5).map((each, index) => <li key={`w${index}`}>{tell(each)}</li>)}
      </ul>
    </li>
  );
}

/** A value of the data that a column can fill. */
interface Field {
  path: string;
  label: string;
  isRequired: boolean;
  type?: string;
}

/** Return what a template and those that it extends declare, and what else its data have. */
function listFields({ groups, lists, defaults, example }: Declarations): { fields: Field[]; required: string[]; shape: Shape } {
  const single = groups.flatMap((group) => group.fields);
  const inside = lists.flatMap((list) => list.fields.map((field) => ({ ...field, path: [...list.path, ...field.path] })));
  const declared = [...single, ...inside].map((field) => ({ ...field, path: field.path.join(".") }));
  const others = findPaths(example).filter((path) => !declared.some((each) => each.path === path));
  return {
    fields: [...declared, ...others.map((path) => ({ path, label: inWords(path.split(".").at(-1) ?? ""), isRequired: false }))],
    required: [...single, ...lists, ...inside].filter(({ path, isRequired }) => isRequired && follow(defaults, path) == null).map(({ path }) => path.join(".")),
    shape: {
      lists: lists.map(({ path }) => path.join(".")),
      texts: declared.filter(({ type }) => type === "lines").map(({ path }) => path),
    },
  };
}

/**
 * Return the paths that columns probably mean, each once, else their own names: of the same path, name or label but for
 * case and signs, also with the record before it ("Buyer name") or the kind of document ("Invoice number"); what is required
 * comes first.
 */
function suggest(columns: string[], fields: Field[], kinds: string[]): string[] {
  const plain = (text: string) => text.toLowerCase().replace(/\(.*\)|[^\p{L}\p{N}]/gu, "");
  const free = fields
    .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired))
    .map(({ path, label }) => {
      const names = path.split(".");
      const labels = [label, nameLabel(label)];
      const record = inWords(names.at(-2) ?? "");
      const named = names.length > 1 ? [] : labels.flatMap((each) => kinds.flatMap((kind) => [`${kind} ${each}`, `${kind}s ${each}`]));
      return { path, names: [path, ...labels.flatMap((each) => [`${record} ${each}`, `${nameLabel(record)} ${each}`]), names.at(-1) ?? "", ...labels, ...named].map(plain) };
    });
  return columns.map((column) => {
    const rank = ({ path, names }: { path: string; names: string[] }) => (path === column ? 0 : names.indexOf(plain(column)) + 1 || Number.POSITIVE_INFINITY);
    const [best] = free.toSorted((one, other) => rank(one) - rank(other) || 0);
    if (!best || rank(best) === Number.POSITIVE_INFINITY) return column;
    free.splice(free.indexOf(best), 1);
    return best.path;
  });
}

/** Return what a template may make: the words of its name, and the public templates that it extends. */
function findKinds(name: string, content: string): string[] {
  const slugs = findLinks(content).filter(({ isImported }) => !isImported).map(({ reference }) => reference.split("@")[0] ?? "");
  const made = slugs.map((slug) => inWords(slug.replace(/^service-/, "")));
  return [...name.split(/\s+/), ...made, ...made.map(nameTemplate)];
}

/** Return a number or date of a German spreadsheet as data have it: of 1.234,50 and 31.12.2026. What may be English stays: 1,234. */
function toPlain(cell: string, type: string | undefined): string {
  if (type === "date") return cell.replace(/^(\d{1,2})\.(\d{1,2})\.(\d{4})$/, (_, day, month, year) => `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`);
  const isGerman = /^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$/.test(cell) && !/^[+-]?[1-9]\d{0,2},\d{3}$/.test(cell);
  return isGerman && (type === "decimal" || type === "integer") ? cell.replace(/\./g, "").replace(",", ".") : cell;
}

/** Return the rows of one key together, in the order in which keys come first. */
function groupRows(rows: string[][], key: number): string[][][] {
  const groups = new Map<string, string[][]>();
  for (const row of rows) {
    const group = groups.get(row[key] ?? "");
    if (group) group.push(row);
    else groups.set(row[key] ?? "", [row]);
  }
  return [...groups.values()];
}

/** Whether columns fill what a template requires; a field of a list is required of the records that there are. */
function isFilled(path: string, used: string[], lists: string[]): boolean {
  const list = listOf(path, lists);
  return used.includes(path) || used.some((target) => target.startsWith(`${path}.`)) || (list !== null && !used.some((target) => target.startsWith(`${list}.`)));
}

/** Return the chosen cells of the rows of a document; a row of another length keeps the difference. */
function pick(rows: string[][], targets: string[]): string[][] {
  return rows.map((row) => row.filter((_, index) => index >= targets.length || targets[index] !== LEFT_OUT));
}
