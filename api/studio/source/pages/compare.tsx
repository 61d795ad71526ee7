/** Two states of a template side by side: the difference of their texts, and of their pages. */

import { useEffect, useRef, useState } from "preact/hooks";
import { askJson } from "../lib/api";
import { describe, useLoad } from "../lib/load";
import { count, t } from "../lib/messages";
import { comparePixels, decodeImage } from "../lib/pixels";
import { toBlob } from "../lib/previews";
import { goTo, linkTo } from "../lib/router";
import type { PageProps, Preview, Version } from "../lib/types";
import { TextDiff } from "../ui/diff";
import { Notice, Result } from "../ui/parts";
import { payloadOf, readSamples, type Sample } from "./editor/samples";
import { HEADER, readTemplate } from "./template/read";

const LIVE = "live";
const SCALE = 1.5;

export function Compare({ account, route }: PageProps) {
  const id = route[1] ?? "";
  const before = route[3] ?? "";
  const after = route[4] ?? LIVE;
  const path = `/v2/templates/${encodeURIComponent(id)}`;
  const read = useLoad(async () => {
    const [{ template }, { versions }] = await Promise.all([
      readTemplate(id),
      askJson<{ versions: Version[] }>("GET", `${path}/versions`),
    ]);
    const readText = async (state: string) => {
      if (state === LIVE) return template.content;
      const { content } = await askJson<{ content: string }>("GET", `${path}/versions/${encodeURIComponent(state)}`);
      return content.replace(HEADER, "");
    };
    const [old, now] = await Promise.all([readText(before), readText(after)]);
    return { template, versions, old, now };
  }, [path, before, after]);
  const [samples] = useState(() => readSamples(account.id, id, t("samples.first")));
  const [chosen, setChosen] = useState(samples.at);
  return (
    <>
      <p class="crumb">
        <a href={linkTo("templates", id)}>{read.data?.template.name ?? t("templates.title")}</a>
      </p>
      <h1>{t("compare.title")}</h1>
      <Result of={read}>
        {({ versions, old, now }) => {
          const states = [LIVE, ...versions.map(({ version }) => String(version))];
          const choose = (label: "before" | "after", value: string, change: (state: string) => void) => (
            <div class="field inline">
              <label for={label}>{t(`compare.${label}`)}</label>
              <select id={label} value={value} onChange={(event) => change(event.currentTarget.value)}>
                {(states.includes(value) ? states : [value, ...states]).map((state) => (
                  <option key={state} value={state}>
                    {state === LIVE ? t("newBatch.live") : t("newBatch.number", { n: Number(state) })}
                  </option>
                ))}
              </select>
            </div>
          );
          return (
            <>
              <div class="choices">
                {choose("before", before, (state) => goTo("templates", id, "compare", state, after))}
                {choose("after", after, (state) => goTo("templates", id, "compare", before, state))}
                {samples.sets.length > 1 && (
                  <div class="field inline">
                    <label for="sample">{t("samples.set")}</label>
                    <select id="sample" value={String(chosen)} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
                      {samples.sets.map((each, index) => (
                        <option key={index} value={String(index)}>
                          {each.name}
                        </option>
                      ))}
                    </select>
                  </div>
                )}
              </div>
              <section aria-labelledby="texts">
                <h2 id="texts">{t("compare.text")}</h2>
                <TextDiff before={old} after={now} label={t("compare.text")} />
              </section>
              <PageDiff
                key={`${before} ${after} ${chosen}`}
                before={before === LIVE ? id : `${id}@${before}`}
                after={after === LIVE ? id : `${id}@${after}`}
                sample={samples.sets[chosen] as Sample}
              />
            </>
          );
        }}
      </Result>
    </>
  );
}

interface Compared {
  pages: number;
  image: ImageData;
  changed: number;
}

function PageDiff({ before, after, sample }: { before: string; after: string; sample: Sample }) {
  const [page, setPage] = useState(1);
  const [found, setFound] = useState<Compared | null>(null);
  const [error, setError] = useState<string | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const stop = new AbortController();
    const draw = async (template: string) => {
      const json = { template, ...payloadOf(sample), page, scale: SCALE };
      const preview = await askJson<Preview>("POST", "/v2/preview", { json, signal: stop.signal });
      // Beyond its last page a document has none, though the service draws the last one then.
      const image = preview.file && preview.page === page ? await decodeImage(toBlob(preview.file)) : null;
      return { preview, image };
    };
    Promise.all([draw(before), draw(after)]).then(
      ([old, now]) => {
        if (stop.signal.aborted) return;
        const failed = [old, now].find(({ preview }) => preview.pages === 0);
        setError(failed ? t("compare.noPage", { message: failed.preview.findings.errors[0]?.message ?? "" }) : null);
        setFound(failed ? null : { pages: Math.max(old.preview.pages, now.preview.pages), ...comparePixels(old.image, now.image) });
      },
      (failure: unknown) => {
        if (!stop.signal.aborted) setError(describe(failure));
      },
    );
    return () => stop.abort();
  }, [page]);
  useEffect(() => {
    const element = canvas.current;
    if (!element || !found) return;
    element.width = found.image.width;
    element.height = found.image.height;
    element.getContext("2d")?.putImageData(found.image, 0, 0);
  }, [found]);
  return (
    <section aria-labelledby="pages" aria-busy={found === null && error === null}>
      <div class="between">
        <h2 id="pages">{t("compare.pages")}</h2>
        {found && found.pages > 1 && (
          <div class="actions">
            <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
              {t("editor.previous")}
            </button>
            <span>{t("editor.pageOf", { page, pages: found.pages })}</span>
            <button type="button" disabled={page >= found.pages} onClick={() => setPage(page + 1)}>
              {t("editor.next")}
            </button>
          </div>
        )}
      </div>
      {error !== null && <Notice kind="error">{error}</Notice>}
      {found && (
        <>
          <p role="status">
            {found.changed === 0 ? t("compare.samePage", { page }) : count("compare.changed", found.changed)}{" "}
            {found.changed > 0 && (
              <span class="soft">
                <span class="key removed" /> {t("compare.onlyBefore")} <span class="key added" /> {t("compare.onlyAfter")}
              </span>
            )}
          </p>
          <canvas ref={canvas} class="compared" role="img" aria-label={t("compare.image", { page })} />
        </>
      )}
    </section>
  );
}
