/** The live preview of a template, with its findings. */

import { useEffect, useRef, useState } from "preact/hooks";
import { askJson, Failure } from "../../lib/api";
import { describe } from "../../lib/load";
import { count, t } from "../../lib/messages";
import { toBlob } from "../../lib/previews";
import type { Box, Finding, Preview } from "../../lib/types";
import { Notice } from "../../ui/parts";
import { type FieldFinding, findMisspelling } from "./findings";
import { payloadOf, type Sample } from "./samples";

const PAUSE_MS = 200;
const AGAIN_MS = 3000;
// No network, too many previews at once, and no free worker: they end without a change of the text.
const PASSING = [0, 429, 503];
const POINTS_PER_INCH = 72;
const SCREEN_DPI = 96;
const MOST_SCALE = 4;
const MOST_MARKED = 200;
const SESSION = crypto.randomUUID();

export const ZOOMS = ["fit", "1", "1.5", "2", "3"] as const;
export type Zoom = (typeof ZOOMS)[number];

/** What is known of the current text: `checked` alone says that its findings are shown. */
export type State = "empty" | "waiting" | "unreachable" | "checked";

export interface Drawn {
  preview: Preview;
  url: string | null;
  /** Whether the page is of an earlier text, as the current one cannot be drawn. */
  isStale: boolean;
}

/** Draw a page of a template with data after each pause of typing; the newest request wins. What passes is tried again. */
export function usePreview(
  template: string,
  sample: Sample,
  page: number,
  zoom: Zoom,
): { drawn: Drawn | null; error: string | null; state: State } {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [checked, setChecked] = useState("");
  const isEmpty = !template.includes("<"); // no text of a template is without one
  const asked = JSON.stringify([template, sample.kind, sample.text, sample.flow]);
  const [attempt, setAttempt] = useState(0);
  const tryAgain = () => setAttempt((n) => n + 1);
  useEffect(() => {
    addEventListener("online", tryAgain);
    return () => removeEventListener("online", tryAgain);
  }, []);
  useEffect(() => {
    if (isEmpty) return undefined;
    const stop = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    const timer = setTimeout(async () => {
      try {
        const preview = await askJson<Preview>("POST", "/v2/preview", {
          json: {
            template,
            ...payloadOf(sample),
            page,
            scale: Math.min((magnify(zoom) * devicePixelRatio * SCREEN_DPI) / POINTS_PER_INCH, MOST_SCALE),
            session: SESSION,
          },
          signal: stop.signal,
        });
        if (stop.signal.aborted) return;
        setError(null);
        setChecked(asked);
        setDrawn((before) => {
          // If the text cannot be drawn, the last page stays next to the current findings.
          if (!preview.file) {
            const pages = before?.preview.pages ?? 0;
            return { preview: { ...before?.preview, findings: preview.findings, pages, boxes: [] }, url: before?.url ?? null, isStale: true };
          }
          if (before?.url) URL.revokeObjectURL(before.url);
          return { preview, url: URL.createObjectURL(toBlob(preview.file)), isStale: false };
        });
      } catch (failure) {
        if (stop.signal.aborted || (failure instanceof Failure && failure.status === 409)) return;
        setError(describe(failure));
        if (failure instanceof Failure && PASSING.includes(failure.status)) again = setTimeout(tryAgain, AGAIN_MS);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      clearTimeout(again);
      stop.abort();
    };
  }, [template, sample.kind, sample.text, sample.flow, page, zoom, attempt]);
  const state = isEmpty ? "empty" : error !== null ? "unreachable" : checked === asked && drawn !== null ? "checked" : "waiting";
  return { drawn, error: isEmpty ? null : error, state };
}

function magnify(zoom: Zoom): number {
  return zoom === "fit" ? 1 : Number(zoom);
}

/** The page with the box of the cursor's line marked; a click selects the line of an element. */
export function Sheet({ drawn, line, zoom, onLine }: { drawn: Drawn; line: number; zoom: Zoom; onLine: (line: number) => void }) {
  const { preview, url } = drawn;
  const image = useRef<HTMLImageElement>(null);
  const { width, height } = preview;
  if (url === null || width === undefined || height === undefined) return null;
  const boxes = preview.boxes ?? [];
  const marked = findMarked(boxes, line);
  const click = (event: MouseEvent) => {
    const place = image.current?.getBoundingClientRect();
    if (!place) return;
    const x = ((event.clientX - place.left) / place.width) * width;
    const y = ((event.clientY - place.top) / place.height) * height;
    const hit = boxes.findLast((box) => isOfTemplate(box) && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
    if (hit) onLine(hit.source.lineStart);
  };
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  const place = (box: Box) => ({
    left: percent(box.x, width),
    top: percent(box.y, height),
    width: percent(box.width, width),
    height: percent(box.height, height),
  });
  const wide = zoom === "fit" ? undefined : { width: `${(width * magnify(zoom) * SCREEN_DPI) / POINTS_PER_INCH}px` };
  return (
    <div class={`sheet ${zoom === "fit" ? "fit" : ""} ${drawn.isStale ? "stale" : ""}`} style={wide}>
      <img ref={image} src={url} alt={t("editor.page", { page: preview.page ?? 1, pages: preview.pages })} onClick={click} />
      {findWrong(preview).map(({ box, isError, message }, index) => (
        <span key={`wrong ${index}`} class={isError ? "wrong" : "wrong warning"} style={place(box)} title={message} />
      ))}
      {marked.map((box, index) => (
        <span
          key={index}
          class="mark"
          style={place(box)}
        />
      ))}
    </div>
  );
}

/** The boxes of elements with findings on this page, such as of content that overflows. */
function findWrong({ findings, boxes = [] }: Preview): { box: Box; isError: boolean; message: string }[] {
  const marks = (found: Finding[], isError: boolean) =>
    found.slice(0, MOST_MARKED).flatMap(({ message, source }) => {
      if (!source || source.origin === "payload") return [];
      const isSame = ({ source: of }: Box) => of.lineStart === source.lineStart && of.columnStart === source.columnStart && of.origin !== "payload";
      return boxes.filter(isSame).map((box) => ({ box, isError, message }));
    });
  return [...marks(findings.errors, true), ...marks(findings.warnings, false)].slice(0, MOST_MARKED);
}

const LINKS = ["document", "import"];

/** Whether a box is of an element of the text; those of a template that it extends or imports have the place of the link. */
function isOfTemplate({ source }: Box): boolean {
  return source.origin !== "payload" && !LINKS.includes(source.tagName);
}

/** The boxes of the innermost element at a line, including all its iterations. */
function findMarked(boxes: Box[], line: number): Box[] {
  const around = boxes.filter((box) => isOfTemplate(box) && box.source.lineStart <= line && line <= box.source.lineEnd);
  const lines = (box: Box) => box.source.lineEnd - box.source.lineStart;
  const least = Math.min(...around.map(lines));
  return around.filter((box) => lines(box) === least).slice(0, MOST_MARKED);
}

/** The findings of the current text; while it is checked, or cannot be, those of an earlier one are no more than a memory. */
export function FindingList({
  findings,
  state,
  onLine,
  onFix,
  inForm,
}: {
  findings: { errors: Finding[]; warnings: Finding[] };
  state: State;
  onLine: (line: number) => void;
  /** Null where the text may not be changed. */
  onFix: ((finding: Finding) => void) | null;
  /** How a form tells a finding; null where the text is shown, or the form has no such field. */
  inForm: (finding: Finding) => FieldFinding | null;
}) {
  const all = [...findings.errors.map((each) => ({ ...each, bad: true })), ...findings.warnings.map((each) => ({ ...each, bad: false }))];
  if (state === "empty") return <Notice>{t("state.empty")}</Notice>;
  if (state !== "checked" && all.length === 0) return <Notice>{t(`state.${state}`)}</Notice>;
  if (all.length === 0) return <Notice kind="good">{t("editor.noFindings")}</Notice>;
  return (
    <details open class={state === "checked" ? "finding-list" : "finding-list former"}>
      <summary>
        {state !== "checked" && <>{t(`state.${state}`)} </>}
        {count("editor.errors", findings.errors.length)}, {count("finding.warnings", findings.warnings.length)}
      </summary>
      <ul>
        {all.slice(0, 100).map((each, index) => {
          const field = inForm(each);
          return (
            <li key={index} class={each.bad ? "bad" : ""}>
              {field ? (
                <button type="button" class="link" onClick={() => focusField(field.at)}>
                  {field.label}
                </button>
              ) : each.source ? (
                <button type="button" class="link" onClick={() => each.source && each.source.origin !== "payload" && onLine(each.source.lineStart)}>
                  {t("finding.place", { line: each.source.lineStart, column: each.source.columnStart })}
                </button>
              ) : null}{" "}
              {field?.message ?? each.message} {onFix && <FixButton of={each} onFix={onFix} />}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Focus the input of a place in the data, or the button that adds to a list; what hides it is opened. */
function focusField(at: string): void {
  const input = document.querySelector<HTMLElement>(`.data-form [data-at="${CSS.escape(at)}"]`);
  input?.closest("details")?.setAttribute("open", "");
  input?.focus();
}

function FixButton({ of: finding, onFix }: { of: Finding; onFix: (finding: Finding) => void }) {
  const misspelling = findMisspelling(finding.message);
  if (!misspelling || !finding.source || finding.source.origin === "payload") return null;
  return (
    <button type="button" class="link" onClick={() => onFix(finding)}>
      {t("editor.fix", { name: misspelling.meant })}
    </button>
  );
}
