/** The inputs of the forms, one for each type of a value. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { locale, t } from "../../lib/messages";
import { nameChoice, nameLabel } from "../../messages/labels";

export interface InputProps {
  type: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  values?: string[];
  isRequired?: boolean;
  /** Whether the label is read, but not seen: in tables, whose columns have heads. */
  isBare?: boolean;
  /** How the label is read where it is not seen. */
  spoken?: string;
  /** The place of the value in the data, a JSON Pointer. */
  at?: string;
  isFixed?: boolean;
}

const PAPERS = ["A4", "A5", "Letter", "Legal"];
const LANGUAGES = ["en-GB", "en-US", "de", "de-AT", "de-CH", "fr", "es", "it", "nl", "ja", "ar", "he", "th"];
const HEX = /^#[\da-f]{6}$/i;

/** An input of a value, of the kind that its type needs. */
export function ValueInput(props: InputProps) {
  const { type, label, spoken, value, onChange, placeholder = "", values = [], isRequired = false, isBare = false, isFixed = false, at } = props;
  const id = useId();
  const common = {
    id,
    disabled: isFixed,
    "data-at": at,
    ...(isBare && { "aria-label": spoken ?? label }),
    ...(isRequired && { "aria-required": true }),
  } as const;
  const text = (extra: object) => (
    <input {...common} value={value} placeholder={placeholder} onInput={(event) => onChange(event.currentTarget.value)} {...extra} />
  );
  const choose = (choices: string[], name: (choice: string) => string, isOptional: boolean) => (
    <select {...common} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {(isOptional || value === "") && <option value="">{placeholder ? t("form.exampleOf", { value: placeholder }) : "–"}</option>}
      {[...new Set(value === "" ? choices : [...choices, value])].map((choice) => (
        <option key={choice} value={choice}>
          {name(choice)}
        </option>
      ))}
    </select>
  );
  const input = () => {
    if (type === "boolean") return choose(["true", "false"], (choice) => t(choice === "true" ? "form.yes" : "form.no"), placeholder !== "" || !isRequired);
    if (type === "language") return choose(values.length ? values : LANGUAGES, nameLanguage, false);
    if (type === "paper") return choose(values.length ? values : PAPERS, (choice) => choice, false);
    if (values.length > 0) return choose(values, nameChoice, !isRequired && type !== "choice");
    switch (type) {
      case "text":
      case "lines":
      case "markdown":
        return <textarea {...common} rows={3} value={value} placeholder={placeholder} onInput={(event) => onChange(event.currentTarget.value)} />;
      case "color":
        return <ColorInput id={id} label={label} value={value} isFixed={isFixed} onChange={onChange} />;
      case "date":
        return text({ type: "date" });
      case "integer":
      case "decimal":
        return text({ inputMode: "decimal", class: "figure-input" });
      default:
        return text({ type: "text" });
    }
  };
  if (isBare) return input();
  return (
    <Labelled id={id} label={label} isRequired={isRequired} isWide={type === "text" || type === "lines" || type === "markdown"}>
      {input()}
      {type === "date" && value === "" && placeholder && <p class="hint">{t("form.exampleOf", { value: placeholder })}</p>}
    </Labelled>
  );
}

export function Labelled({
  id,
  label,
  isRequired = false,
  isWide = false,
  children,
}: {
  id: string;
  label: string;
  isRequired?: boolean;
  isWide?: boolean;
  children: ComponentChildren;
}) {
  return (
    <div class={isWide ? "field wide-field" : "field"}>
      <label for={id} class={isRequired ? "required" : ""}>
        {nameLabel(label)}
      </label>
      {children}
    </div>
  );
}

/** A colour by a picker, or as text, which may be in any form of the language. */
function ColorInput({ id, label, value, isFixed, onChange }: { id: string; label: string; value: string; isFixed: boolean; onChange: (value: string) => void }) {
  const [written, setWritten] = useState(value);
  useEffect(() => setWritten(value), [value]);
  return (
    <div class="color-input">
      <input
        type="color"
        aria-label={t("form.pick", { label: nameLabel(label) })}
        value={HEX.test(value) ? value : "#000000"}
        disabled={isFixed}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <input id={id} class="mono" value={written} disabled={isFixed} spellcheck={false} onInput={(event) => setWritten(event.currentTarget.value)} onChange={() => onChange(written.trim())} />
    </div>
  );
}

function nameLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames([locale()], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
