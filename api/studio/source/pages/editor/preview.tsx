/** The live preview of a template, with its findings. */

import { useEffect, useRef, useState } from "preact/hooks";
import { askJson, Failure } from "../../lib/api";
import { describe } from "../../lib/load";
import { count, t } from "../../lib/messages";
import type { Box, Finding, Preview } from "../../lib/types";
import { Notice } from "../../ui/parts";

const PAUSE_MS = 200;
const POINTS_PER_INCH = 72;
const SCREEN_DPI = 96;
const SESSION = crypto.randomUUID();

export interface Drawn {
  preview: Preview;
  url: string | null;
}

/** Draw a page of a template with data after each pause of typing; the newest request wins. */
export function usePreview(template: string, data: string, page: number): { drawn: Drawn | null; error: string | null; busy: boolean } {
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!template.includes("<")) return undefined; // no text of a template is without one
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      setBusy(true);
      try {
        const preview = await askJson<Preview>("POST", "/v2/preview", {
          json: {
            template,
            payload: data.trim() || "{}",
            payload_type: "application/json",
            page,
            scale: Math.min((devicePixelRatio * SCREEN_DPI) / POINTS_PER_INCH, 3),
            session: SESSION,
          },
          signal: stop.signal,
        });
        if (stop.signal.aborted) return;
        setError(null);
        setDrawn((before) => {
          // If the text cannot be drawn, the last page stays next to the current findings.
          if (!preview.file) {
            const pages = before?.preview.pages ?? 0;
            return { preview: { ...before?.preview, findings: preview.findings, pages, boxes: [] }, url: before?.url ?? null };
          }
          if (before?.url) URL.revokeObjectURL(before.url);
          return { preview, url: URL.createObjectURL(toBlob(preview.file)) };
        });
      } catch (failure) {
        if (stop.signal.aborted || (failure instanceof Failure && failure.status === 409)) return;
        setError(describe(failure));
      } finally {
        if (!stop.signal.aborted) setBusy(false);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [template, data, page]);
  return { drawn, error, busy };
}

function toBlob(file: { content_type: string; data: string }): Blob {
  return new Blob([Uint8Array.from(atob(file.data), (letter) => letter.charCodeAt(0))], { type: file.content_type });
}

/** The page with the box of the cursor's line marked; a click selects the line of an element. */
export function Sheet({ drawn, line, onLine }: { drawn: Drawn; line: number; onLine: (line: number) => void }) {
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
  return (
    <div class="sheet">
      <img ref={image} src={url} alt={t("editor.page", { page: preview.page ?? 1, pages: preview.pages })} onClick={click} />
      {marked.map((box, index) => (
        <span
          key={index}
          class="mark"
          style={{ left: percent(box.x, width), top: percent(box.y, height), width: percent(box.width, width), height: percent(box.height, height) }}
        />
      ))}
    </div>
  );
}

function isOfTemplate(box: Box): boolean {
  return box.source.origin !== "payload";
}

/** The boxes of the innermost element at a line, including all its iterations. */
function findMarked(boxes: Box[], line: number): Box[] {
  const around = boxes.filter((box) => isOfTemplate(box) && box.source.lineStart <= line && line <= box.source.lineEnd);
  const lines = (box: Box) => box.source.lineEnd - box.source.lineStart;
  const least = Math.min(...around.map(lines));
  return around.filter((box) => lines(box) === least).slice(0, 200);
}

export function FindingList({ findings, onLine }: { findings: { errors: Finding[]; warnings: Finding[] }; onLine: (line: number) => void }) {
  const all = [...findings.errors.map((each) => ({ ...each, bad: true })), ...findings.warnings.map((each) => ({ ...each, bad: false }))];
  if (all.length === 0) return <Notice kind="good">{t("editor.noFindings")}</Notice>;
  return (
    <details open class="finding-list">
      <summary>
        {count("editor.errors", findings.errors.length)}, {count("finding.warnings", findings.warnings.length)}
      </summary>
      <ul>
        {all.slice(0, 100).map((each, index) => (
          <li key={index} class={each.bad ? "bad" : ""}>
            {each.source ? (
              <button type="button" class="link" onClick={() => each.source && each.source.origin !== "payload" && onLine(each.source.lineStart)}>
                {t("finding.place", { line: each.source.lineStart, column: each.source.columnStart })}
              </button>
            ) : null}{" "}
            {each.message}
          </li>
        ))}
      </ul>
    </details>
  );
}
