/** The data of a document as a form: the fields and lists of the template, over the JSON of a sample set. */

import { useEffect, useRef, useState } from "preact/hooks";
import { count, t } from "../../lib/messages";
import { type Data, isObject } from "../../lib/template-data";
import { nameLabel } from "../../messages/labels";
import { type Declarations, type FieldGroup, type FieldSpec, follow, type ListSpec, put, inWords } from "./declarations";
import { ValueInput } from "./inputs";

const MOST_ROWS = 200; // drawn as rows; longer lists are for files
const NUMBERS = new Set(["integer", "decimal"]);

export function DataForm({ declarations, data, onChange }: { declarations: Declarations; data: Data; onChange: (data: Data) => void }) {
  const { settings, lists, example } = declarations;
  // A setting of the template is not asked a second time; its field is for documents that differ.
  const isSetting = ({ path, isRequired }: FieldSpec) => !isRequired && follow(data, path) === undefined && settings.some(({ name }) => name === path.join("."));
  const groups = declarations.groups.map((group) => ({ ...group, fields: group.fields.filter((field) => !isSetting(field)) }));
  const isMain = ({ fields }: FieldGroup) => fields.some(({ isRequired }) => isRequired);
  const main = groups.filter((group) => group.name !== "" && isMain(group));
  const top = groups.find(({ name }) => name === "")?.fields ?? [];
  const first = top.filter(({ isRequired, type }) => isRequired || type === "date");
  const further = [{ name: "", fields: top.filter((field) => !first.includes(field)) }, ...groups.filter((group) => group.name !== "" && !isMain(group))];
  const isShort = first.length + main.length + lists.length === 0; // nothing is required: all is shown
  const show = ({ name, fields }: FieldGroup) =>
    fields.length > 0 && (
      <fieldset key={name} class="fields">
        {name !== "" && <legend>{nameLabel(inWords(name))}</legend>}
        {fields.map((field) => (
          <DataField key={field.path.join(".")} field={field} data={data} example={example} onChange={onChange} />
        ))}
      </fieldset>
    );
  return (
    <div class="data-form">
      {show({ name: "", fields: first })}
      {main.map(show)}
      {lists.map((list) => (
        <ListForm key={list.path.join(".")} list={list} data={data} example={example} onChange={onChange} />
      ))}
      {further.some(({ fields }) => fields.length > 0) && (
        <details open={isShort}>
          <summary>{t("form.more")}</summary>
          <div class="data-form">{further.map(show)}</div>
        </details>
      )}
    </div>
  );
}

function DataField({ field, data, example, onChange }: { field: FieldSpec; data: Data; example: Data; onChange: (data: Data) => void }) {
  return (
    <CellInput
      field={field}
      at={`/${field.path.join("/")}`}
      value={follow(data, field.path)}
      example={follow(example, field.path)}
      onChange={(value) => onChange(put(data, field.path, value))}
    />
  );
}

/** An input over a value of JSON: it keeps what is typed, and yields the number or the list that it means. */
function CellInput({
  field,
  at,
  value,
  example,
  onChange,
  isBare = false,
  row = 0,
}: {
  field: FieldSpec;
  at: string;
  value: unknown;
  example: unknown;
  onChange: (value: unknown) => void;
  isBare?: boolean;
  row?: number;
}) {
  const [typed, setTyped] = useState(() => toText(value));
  useEffect(() => {
    if (toText(toValue(typed, field.type)) !== toText(value)) setTyped(toText(value));
  }, [value]);
  return (
    <ValueInput
      type={field.type === "json" ? "string" : field.type}
      label={field.label}
      spoken={t("form.cell", { label: nameLabel(field.label), n: row })}
      values={field.values}
      isRequired={field.isRequired}
      isBare={isBare}
      at={at}
      value={typed}
      placeholder={toText(example)}
      onChange={(text) => {
        setTyped(text);
        onChange(toValue(text, field.type));
      }}
    />
  );
}

function ListForm({ list, data, example, onChange }: { list: ListSpec; data: Data; example: Data; onChange: (data: Data) => void }) {
  const place = useRef<HTMLFieldSetElement>(null);
  const found = follow(data, list.path);
  const rows = Array.isArray(found) ? found.map((row) => (isObject(row) ? row : {})) : [];
  const shown = rows.slice(0, MOST_ROWS);
  const examples = follow(example, list.path);
  const exampleCount = Array.isArray(examples) ? examples.length : 0;
  const write = (next: Data[]) => onChange(put(data, list.path, next.length > 0 ? next : undefined));
  const focus = (row: number) => requestAnimationFrame(() => place.current?.querySelectorAll<HTMLElement>(".row")[row]?.querySelector<HTMLElement>("input, select, textarea")?.focus());
  const add = () => {
    write([...rows, {}]);
    focus(rows.length);
  };
  const remove = (at: number) => {
    write(rows.filter((_, index) => index !== at));
    if (rows.length > 1) focus(Math.max(at - 1, 0));
    else requestAnimationFrame(() => place.current?.querySelector<HTMLElement>("button.add")?.focus());
  };
  /** Cells that a spreadsheet copied fill the table from the cell on, in which they are pasted. */
  const paste = (event: ClipboardEvent, at: number, column: number) => {
    const text = event.clipboardData?.getData("text/plain").replace(/\r\n?/g, "\n").replace(/\n$/, "") ?? "";
    if (!/[\t\n]/.test(text)) return;
    event.preventDefault();
    const next = [...rows];
    for (const [down, line] of text.split("\n").entries()) {
      let row = next[at + down] ?? {};
      for (const [across, cell] of line.split("\t").entries()) {
        const field = list.fields[column + across];
        if (field) row = put(row, field.path, toValue(cell.trim(), field.type));
      }
      next[at + down] = row;
    }
    write(next);
  };
  return (
    <fieldset class="list" ref={place}>
      <legend class={list.isRequired ? "required" : ""}>{nameLabel(list.label)}</legend>
      {rows.length > 0 ? (
        <div class="rows" style={{ "--columns": String(list.fields.length) }}>
          <div class="row-heads" aria-hidden="true">
            {list.fields.map((field) => (
              <span key={field.path.join(".")} class={`${NUMBERS.has(field.type) ? "number" : ""} ${field.isRequired ? "required" : ""}`}>
                {nameLabel(field.label)}
              </span>
            ))}
            <span />
          </div>
          {shown.map((row, at) => (
            <div key={at} class="row" role="group" aria-label={t("form.row", { n: at + 1 })}>
              {list.fields.map((field, column) => (
                <div key={field.path.join(".")} class={NUMBERS.has(field.type) ? "cell narrow-cell" : "cell"} data-label={nameLabel(field.label)} onPaste={(event) => paste(event, at, column)}>
                  <CellInput
                    field={field}
                    isBare
                    at={`/${[...list.path, at, ...field.path].join("/")}`}
                    row={at + 1}
                    value={follow(row, field.path)}
                    example={Array.isArray(examples) ? follow(examples[at], field.path) : undefined}
                    onChange={(value) => write(rows.with(at, put(row, field.path, value)))}
                  />
                </div>
              ))}
              <button type="button" class="quiet danger" aria-label={t("form.removeRow", { n: at + 1 })} onClick={() => remove(at)}>
                ×
              </button>
            </div>
          ))}
        </div>
      ) : (
        exampleCount > 0 && <p class="soft">{count("form.exampleRows", exampleCount)}</p>
      )}
      {rows.length > MOST_ROWS && <p class="soft">{t("form.moreRows", { n: rows.length - MOST_ROWS })}</p>}
      <div class="actions">
        <button type="button" class="add" data-at={`/${list.path.join("/")}`} onClick={add}>
          {t("form.addRow")}
        </button>
        {rows.length > 0 && <span class="soft hint">{t("form.pasteHelp")}</span>}
      </div>
    </fieldset>
  );
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join("\n");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Return the value that a text means, undefined for none. Numbers may be written as in German: 1.234,50. */
function toValue(text: string, type: string): unknown {
  if (text.trim() === "") return undefined;
  if (type === "lines") return text.split("\n");
  if (type === "boolean") return text === "true";
  if (type === "json") return parseJson(text);
  if (!NUMBERS.has(type)) return text;
  const plain = text.replace(/[\s'’\u00a0\u202f]/g, "");
  const isComma = plain.lastIndexOf(",") > plain.lastIndexOf(".");
  const number = isComma ? plain.replace(/\./g, "").replace(",", ".") : plain.replace(/,(?=\d{3}(?:\D|$))/g, "");
  return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(number) ? Number(number) : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
