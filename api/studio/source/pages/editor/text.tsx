/** A text in the editor's component. */

import type { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { type Code, showCode } from "./code";

export function Text({
  kind,
  label,
  start,
  isFixed = false,
  onChange,
  onCursor,
  onReady,
  beside,
}: {
  kind: Code["kind"];
  label: string;
  start: string;
  isFixed?: boolean;
  onChange: (text: string) => void;
  onCursor?: (line: number) => void;
  onReady?: (view: EditorView) => void;
  beside?: () => string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const listener = useRef(onChange);
  listener.current = onChange;
  useEffect(() => {
    if (!place.current) return undefined;
    const view = showCode(place.current, {
      kind,
      label,
      text: start,
      isFixed,
      onChange: (text) => listener.current(text),
      ...(onCursor ? { onCursor } : {}),
      ...(beside ? { beside } : {}),
    });
    onReady?.(view);
    return () => view.destroy();
  }, []);
  return <div class={`code ${kind === "xml" ? "xml" : "small"}`} data-kind={kind} ref={place} />;
}
