/** A text editor that complies with the page's Content-Security-Policy. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonLanguage } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { en } from "../../messages/en";
import { type Key, t } from "../../lib/messages";
import { memberCompletion } from "./completion";
import { descriptions, help, templateLanguage } from "./language";
import { markdown } from "./markdown";

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--ink)", backgroundColor: "var(--paper)" },
  "&.cm-focused": { outline: "none" }, // the frame around it shows the focus
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--tint)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px", maxWidth: "32rem" },
  ".cm-tooltip.cm-completionInfo, .description": { padding: ".375rem .625rem", fontFamily: "system-ui, sans-serif" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--accent-ink)" },
  // Replaces the library's images, which are data: URLs and blocked by the page's policy.
  ".cm-lintRange-error, .cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--code-text)" },
  ".cm-lint-marker-error, .cm-lint-marker-warning": { content: '"●"', color: "var(--bad)", lineHeight: "1.2" },
  ".cm-lint-marker-warning": { color: "var(--code-text)" },
  ".cm-diagnosticAction": { font: "inherit", padding: ".125rem .5rem", marginLeft: ".5rem", borderRadius: "4px", backgroundColor: "var(--accent)", color: "var(--accent-ink)", cursor: "pointer" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic": { fontFamily: "system-ui, sans-serif" },
  ".cm-panels": { backgroundColor: "var(--tint)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel": { fontFamily: "system-ui, sans-serif" },
  ".cm-panel label": { fontSize: "13px" },
  ".cm-panel.cm-search, .cm-panel.cm-gotoLine": { padding: ".375rem 2rem .375rem .625rem" },
  ".cm-textfield, .cm-button": { font: "13px system-ui, sans-serif", minHeight: "1.75rem", padding: ".125rem .5rem", margin: ".125rem .375rem .125rem 0", borderRadius: "4px", border: "1px solid var(--line)", backgroundColor: "var(--paper)", color: "var(--ink)" },
  ".cm-textfield::placeholder": { color: "var(--soft)", opacity: 1 },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--raised)", cursor: "pointer" },
  ".cm-button:active": { backgroundImage: "none", backgroundColor: "var(--tint)" },
  ".cm-textfield:focus-visible, .cm-button:focus-visible, .cm-panel [name=close]:focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-panel.cm-search [name=close], .cm-panel .cm-dialog-close": { color: "var(--ink)", fontSize: "18px", right: ".5rem", top: ".25rem" },
  // Outlines keep the contrast of coloured text.
  ".cm-searchMatch": { backgroundColor: "transparent", outline: "1px solid var(--accent)", borderRadius: "2px" },
  ".cm-searchMatch-selected": { backgroundColor: "transparent", outlineWidth: "2px" },
  ".cm-selectionMatch": { backgroundColor: "transparent", outline: "1px dotted var(--soft)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-tint) !important" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.propertyName], color: "var(--accent)" },
  { tag: tags.attributeName, color: "var(--good)" },
  { tag: [tags.attributeValue, tags.string], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const PHRASE = "code."; // how the keys of the component's own texts begin

/** The texts of the component in the language of the page. */
function translate(): Record<string, string> {
  const keys = Object.keys(en).filter((key) => key.startsWith(PHRASE)) as Key[];
  return Object.fromEntries(keys.map((key) => [key.slice(PHRASE.length), t(key)]));
}

export interface Code {
  kind: "xml" | "json" | "csv" | "markdown";
  text: string;
  label: string;
  /** Whether the text may be read and copied, but not changed. */
  isFixed?: boolean;
  onChange: (text: string) => void;
  onCursor?: (line: number) => void;
  /** The text beside, from which names are completed: the sample data of a template in JSON, the template of data. */
  beside?: () => string;
}

function languageOf({ kind, beside = () => "" }: Code): Extension {
  switch (kind) {
    case "xml":
      return [templateLanguage(beside), descriptions, help];
    case "json":
      return [json(), jsonLanguage.data.of({ autocomplete: memberCompletion(beside) })];
    case "markdown":
      return markdown;
    case "csv":
      return [];
  }
}

/**
 * Show an editor in an element.
 *
 * It is in a shadow tree, where its rules are adopted style sheets; in the page itself they would be style
 * elements, which the policy blocks.
 */
export function showCode(place: HTMLElement, code: Code): EditorView {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  return new EditorView({
    root,
    parent: root as unknown as Element,
    state: EditorState.create({
      doc: code.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorState.readOnly.of(code.isFixed ?? false),
        EditorView.editable.of(!code.isFixed),
        languageOf(code),
        EditorState.phrases.of(translate()),
        LOOK,
        syntaxHighlighting(COLOURS),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": code.label, spellcheck: "false", tabindex: "0", "aria-readonly": String(code.isFixed ?? false) }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) code.onChange(update.state.doc.toString());
          if (update.selectionSet || update.docChanged) {
            code.onCursor?.(update.state.doc.lineAt(update.state.selection.main.head).number);
          }
        }),
      ],
    }),
  });
}
