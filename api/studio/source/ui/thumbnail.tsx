/** A small picture of a template's first page, drawn when it comes into view. */

import { useEffect, useRef, useState } from "preact/hooks";
import { drawPage } from "../lib/previews";

const AT_ONCE = 2; // an account has four previews at once; the editor needs some of them
const WIDTH = 120; // CSS px
const A4_WIDTH = 595; // pt

// By content, so that a change has another picture; null if it cannot be drawn without data.
const drawn = new Map<string, string | null>();
const waiting: (() => Promise<void>)[] = [];
let going = 0;

export function Thumbnail({ id, sha256 }: { id: string; sha256: string }) {
  const place = useRef<HTMLSpanElement>(null);
  const [url, setUrl] = useState(() => drawn.get(sha256));
  useEffect(() => {
    const element = place.current;
    setUrl(drawn.get(sha256));
    if (!element || drawn.has(sha256)) return undefined;
    const stop = new AbortController();
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      enqueue(async () => {
        if (stop.signal.aborted) return;
        if (!drawn.has(sha256)) await draw(id, sha256, stop.signal);
        if (!stop.signal.aborted) setUrl(drawn.get(sha256));
      });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      stop.abort();
    };
  }, [id, sha256]);
  // The name of the template is beside it.
  return (
    <span ref={place} class="thumbnail" aria-hidden="true">
      {url && <img src={url} alt="" />}
    </span>
  );
}

async function draw(id: string, sha256: string, signal: AbortSignal): Promise<void> {
  try {
    const scale = (WIDTH * Math.min(devicePixelRatio, 2)) / A4_WIDTH;
    const { url } = await drawPage({ template: id, scale, format: "webp" }, signal);
    drawn.set(sha256, url);
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
