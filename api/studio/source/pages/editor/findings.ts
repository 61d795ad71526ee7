/** Findings as marks in the text, with fixes for misspelled names. */

import type { Action, Diagnostic } from "@codemirror/lint";
import type { EditorView } from "@codemirror/view";
import { t } from "../../lib/messages";
import type { Finding } from "../../lib/types";
import { nameLabel } from "../../messages/labels";
import type { Declarations, FieldSpec } from "./declarations";

// A message ends with the suggestion; the name it replaces is the last quoted one before it.
const SUGGESTION = /["`„]([^"`„“]{1,60})["`“][^"`„]*; (?:did you mean|meinten Sie) ["„]([^"“]+)["“]\?/;

/** A misspelled name in a finding's message, and the known one that is near. */
export interface Misspelling {
  written: string;
  meant: string;
}

export function findMisspelling(message: string): Misspelling | null {
  const found = SUGGESTION.exec(message);
  return found?.[1] && found[2] ? { written: found[1], meant: found[2] } : null;
}

/** A finding about data as the form tells it: the label of the field, and what is wrong. */
export interface FieldFinding {
  label: string;
  /** The place in the data, a JSON Pointer. */
  at: string;
  message: string;
}

/** Return a finding about data as the form tells it, null of a place that the form does not have. */
export function findField({ message }: Finding, { groups, lists }: Declarations): FieldFinding | null {
  const [start = "", at = ""] = /^((?:\/[^\s/]+)+)(?: \([^)]*\))? /.exec(message) ?? [];
  const path = at.slice(1).split("/");
  const isOf = (place: string[]) => (field: FieldSpec) => field.path.join("/") === place.join("/");
  const row = path.findIndex((name) => /^\d+$/.test(name));
  const single = [...groups.flatMap(({ fields }) => fields), ...lists].find(isOf(path));
  const cell = row < 0 ? undefined : lists.find(isOf(path.slice(0, row)))?.fields.find(isOf(path.slice(row + 1)));
  const label = single ? nameLabel(single.label) : cell && t("form.cell", { label: nameLabel(cell.label), n: Number(path[row]) + 1 });
  return label ? { label, at, message: message.slice(start.length).replace(/ \[[a-z-]+\]$/, "") } : null;
}

/** Return the findings in the template, at their positions in the current text. */
export function toDiagnostics(view: EditorView, findings: { errors: Finding[]; warnings: Finding[] }): Diagnostic[] {
  const { errors, warnings } = findings;
  const found = [
    ...errors.flatMap((each) => toDiagnostic(view, each, "error")),
    ...warnings.flatMap((each) => toDiagnostic(view, each, "warning")),
  ];
  return view.state.readOnly ? found.map((each) => ({ ...each, actions: [] })) : found;
}

function toDiagnostic(view: EditorView, finding: Finding, severity: "error" | "warning"): Diagnostic[] {
  const { source, message } = finding;
  if (!source || source.origin === "payload") return [];
  const { doc } = view.state;
  const at = (line: number, column: number) => {
    const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
    return Math.min(found.from + column - 1, found.to);
  };
  const from = at(source.lineStart, source.columnStart);
  const to = Math.max(at(source.lineEnd, source.columnEnd), from);
  const text = doc.sliceString(from, to);
  const misspelling = findMisspelling(message);
  const places = misspelling ? findPlaces(text, source.tagName, misspelling.written) : [];
  if (!misspelling || !places.length) return [{ from, to: from + startTagLength(text), severity, message }];
  const first = places[0] ?? 0;
  return [
    {
      from: from + first,
      to: from + first + misspelling.written.length,
      severity,
      message,
      actions: [makeFix(misspelling, places.map((place) => place - first))],
    },
  ];
}

/** Apply the fix of a finding, if it has one. */
export function applyFix(view: EditorView, finding: Finding): void {
  const [diagnostic] = toDiagnostic(view, finding, "error");
  diagnostic?.actions?.[0]?.apply(view, diagnostic.from, diagnostic.to);
}

/** Of an element with content only the start tag is marked. */
function startTagLength(text: string): number {
  const end = text.indexOf(">");
  return end < 0 ? text.length : end + 1;
}

/** The places of a name in the text of an element: of both tags, of an attribute, or of a word in the element. */
function findPlaces(text: string, tag: string, name: string): number[] {
  if (name === tag) {
    const end = text.lastIndexOf(`</${tag}`);
    return end > 0 ? [1, end + 2] : [1];
  }
  const word = new RegExp(`(?<![\\w.-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`);
  const found = word.exec(text);
  return found ? [found.index] : [];
}

function makeFix({ written, meant }: Misspelling, offsets: number[]): Action {
  return {
    name: t("editor.fix", { name: meant }),
    apply: (view, from) => {
      const changes = offsets.map((offset) => ({ from: from + offset, to: from + offset + written.length, insert: meant }));
      // The text may have changed since it was checked.
      if (changes.every((each) => view.state.sliceDoc(each.from, each.to) === written)) view.dispatch({ changes, userEvent: "input.fix" });
    },
  };
}
