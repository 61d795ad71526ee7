/** A small picture of a template's first page, or of a stored file, drawn when it comes into view. */

import { useEffect, useRef, useState } from "preact/hooks";
import { drawPage } from "../lib/previews";

const AT_ONCE = 2; // an account has four previews at once; the editor needs some of them
const WIDTH = 120; // CSS px
const A4_WIDTH = 595; // pt
export const FILE_WIDTH = 170; // pt, of the paper that shows a stored file

// By version, so that a change has another picture; null if it cannot be drawn without data.
const drawn = new Map<string, string | null>();
const waiting: (() => Promise<void>)[] = [];
let going = 0;

/** The first page of a template, by its id or text; `version` differs after each change. */
export function Thumbnail({ template, version, isWide = false }: { template: string; version: string; isWide?: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [url, setUrl] = useState(() => drawn.get(version));
  useEffect(() => {
    const element = place.current;
    setUrl(drawn.get(version));
    if (!element || drawn.has(version)) return undefined;
    const stop = new AbortController();
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      enqueue(async () => {
        if (stop.signal.aborted) return;
        if (!drawn.has(version)) await draw(template, version, isWide ? FILE_WIDTH : A4_WIDTH, stop.signal);
        if (!stop.signal.aborted) setUrl(drawn.get(version));
      });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      stop.abort();
    };
  }, [template, version]);
  // The name is beside it.
  return (
    <span ref={place} class={isWide ? "thumbnail wide-one" : "thumbnail"} aria-hidden="true">
      {url && <img src={url} alt="" />}
    </span>
  );
}

async function draw(template: string, version: string, paper: number, signal: AbortSignal): Promise<void> {
  try {
    const scale = (WIDTH * Math.min(devicePixelRatio, 2)) / paper;
    const { url } = await drawPage({ template, scale, format: "webp" }, signal);
    drawn.set(version, url);
  } catch {
    // A page without pictures of its templates works as well; the next visit tries again.
  }
}

function enqueue(work: () => Promise<void>): void {
  waiting.push(work);
  if (going < AT_ONCE) void run();
}

async function run(): Promise<void> {
  going += 1;
  for (let work = waiting.shift(); work; work = waiting.shift()) await work();
  going -= 1;
}
