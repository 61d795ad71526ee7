/** The documentation at /docs/: its pages, those of the language of templates, and one search over all of them and the API. */

import type MiniSearch from "minisearch";
import { render } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Description } from "./docs/description";
import { Failure } from "./lib/api";
import { useLoad } from "./lib/load";
import { count, currentLanguage, t } from "./lib/messages";
import { Parts } from "./site/markdown";
import { CHAPTERS, ELEMENTS, findPage, HOME, LANGUAGE, type Page, plain, readSite, type Site, type Source } from "./site/pages";
import { type Entry, find, makeIndex } from "./site/search";
import { LanguageChoice } from "./ui/language";
import { Empty, Result } from "./ui/parts";

const REFERENCE = "Reference";
const GUIDES = ["Tutorials", "Write templates", REFERENCE, "Operate", "Explanation"];

/** Read what changes only with the farm: the browser asks whether it did. */
async function read<T>(path: string): Promise<T> {
  const headers = { "Accept-Language": currentLanguage() };
  const answer = await fetch(path, { credentials: "same-origin", headers }).catch(() => null);
  if (!answer?.ok) throw new Failure(answer?.status ?? 0, t("error.unknown"), null);
  return answer.json();
}

function Documentation() {
  const site = useLoad(async () => readSite((await read<{ pages: Source[] }>("/docs/pages.json")).pages), []);
  return (
    <div class="site">
      <a class="skip" href="#main">
        {t("nav.skip")}
      </a>
      <header class="bar">
        <a class="brand" href={HOME}>
          Press<span>room</span>
        </a>
        <nav aria-label={t("docs.other")}>
          <a href="/docs">API</a>
          <a href={LANGUAGE}>{t("docs.language")}</a>
          <a href="/studio/">Studio</a>
        </nav>
        {site.data && <Search site={site.data} />}
        <LanguageChoice onChange={() => location.reload()} />
      </header>
      <Result of={site}>{(known) => <Shown site={known} address={location.pathname === "/" ? HOME : decodeURIComponent(location.pathname)} />}</Result>
    </div>
  );
}

function Shown({ site, address }: { site: Site; address: string }) {
  const found = findPage(site, address === HOME ? address : address.replace(/\/$/, ""));
  const title = found?.page.title ?? t(address === HOME ? "site.title" : "site.nothing");
  useLayoutEffect(() => {
    document.title = `${title} – Pressroom`;
    // What the address names is there only now.
    const anchor = decodeURIComponent(location.hash.slice(1)) || found?.anchor || "";
    const place = document.getElementById(anchor);
    const target = place?.closest("tr") ?? place;
    target?.classList.add("sought");
    target?.scrollIntoView();
    document.querySelector(".contents [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <>
      <Contents site={site} page={found?.page ?? null} />
      <main id="main" tabIndex={-1} lang={found?.page.language ?? "en"}>
        {found ? <Article site={site} page={found.page} /> : address === HOME ? <Home site={site} /> : <Nothing />}
      </main>
    </>
  );
}

function Nothing() {
  return (
    <Empty title={t("site.nothing")}>
      <p>{t("site.nothingHelp")}</p>
    </Empty>
  );
}

/** All pages by section; those of the language are open where one of them is shown. */
function Contents({ site, page }: { site: Site; page: Page | null }) {
  const isNarrow = matchMedia("(max-width: 52rem)").matches;
  const inLanguage = page?.address.startsWith(LANGUAGE) ?? false;
  const pages = inLanguage ? [CHAPTERS, ELEMENTS] : GUIDES;
  return (
    <nav class="contents" aria-label={t("site.pages")} tabIndex={0}>
      <details open={!isNarrow}>
        <summary>{t("site.pages")}</summary>
        {inLanguage && (
          <p>
            <a href={HOME}>← {t("site.title")}</a>
          </p>
        )}
        {pages.map((section) => (
          <div key={section} lang="en">
            <h2>{section}</h2>
            <ul class={section === ELEMENTS ? "names" : ""}>
              {listSection(site, section).map(({ address, title, language }) => (
                <li key={address} lang={language}>
                  <a href={address} aria-current={address === page?.address ? "page" : undefined}>
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </details>
    </nav>
  );
}

/** The pages of a section; the reference has the API and the start of the language too. */
function listSection(site: Site, section: string): Pick<Entry, "address" | "title" | "language" | "text">[] {
  const own = site.pages.filter((page) => page.section === section);
  if (section === ELEMENTS) own.sort((a, b) => (a.title < b.title ? -1 : 1));
  const shown = own.map(({ address, title, language, parts }) => ({ address, title, language, text: firstSentence(parts.map(({ text }) => text)) }));
  if (section !== REFERENCE) return shown;
  const start = site.pages.find(({ address }) => address === LANGUAGE);
  return [
    { address: "/docs", title: "API", language: "en", text: "Every call with its fields and samples, and a form that sends it." },
    { address: LANGUAGE, title: start?.title ?? "", language: "en", text: firstSentence(start?.parts.map(({ text }) => text) ?? []) },
    ...shown,
  ];
}

function firstSentence(texts: string[]): string {
  const paragraph = texts
    .join("\n\n")
    .split(/\n\n+/)
    .find((each) => /^[A-Z“`*[]/.test(each) && !each.startsWith("```"));
  return /^.*?\.(?= |$)/.exec(plain(paragraph ?? ""))?.[0] ?? "";
}

function Home({ site }: { site: Site }) {
  return (
    <>
      <h1>{t("site.title")}</h1>
      {GUIDES.map((section) => (
        <section key={section} aria-labelledby={section}>
          <h2 id={section}>{section}</h2>
          <ul class="cards">
            {listSection(site, section).map(({ address, title, language, text }) => (
              <li key={address} lang={language}>
                <a href={address}>{title}</a>
                <p>{text}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Article({ site, page }: { site: Site; page: Page }) {
  const heads = page.parts.slice(1).filter(({ level }) => level <= (page.parts[0]?.level ?? 1) + 1);
  const own = site.pages.filter(({ section }) => section === page.section);
  const at = own.indexOf(page);
  const [before, after] = [own[at - 1], own[at + 1]];
  return (
    <>
      <article>
        <Parts of={page.parts} site={site} page={page} />
        <nav class="around" aria-label={t("site.around")}>
          {before && <a href={before.address} lang={before.language}>← {before.title}</a>}
          {after && <a href={after.address} lang={after.language}>{after.title} →</a>}
        </nav>
      </article>
      {heads.length > 2 && (
        <nav class="heads" aria-labelledby="heads">
          <h2 id="heads" lang={document.documentElement.lang}>
            {t("site.heads")}
          </h2>
          <ul>
            {heads.map(({ anchor, title }) => (
              <li key={anchor}>
                <a href={`#${anchor}`}>{plain(title)}</a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </>
  );
}

function Search({ site }: { site: Site }) {
  const [sought, setSought] = useState("");
  const [index, setIndex] = useState<MiniSearch<Entry> | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  const load = async () => {
    // Without the description of the API the pages are still found.
    if (index === null) setIndex(makeIndex(site, await read<Description>("/docs/openapi.json").catch(() => null)));
  };
  // At once: a reader may press the key as soon as the page is seen.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  const found = index === null ? [] : find(index, sought);
  const move = (event: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Escape") {
      setSought("");
      field.current?.focus();
    } else if (event.key === "Enter" && at < 0) {
      links[0]?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      (links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? field.current)?.focus();
    }
  };
  return (
    <search onKeyDown={move}>
      <label class="visually-hidden" for={id}>
        {t("site.search")}
      </label>
      <input id={id} ref={field} type="search" autocomplete="off" placeholder={`${t("site.search")}  /`} value={sought} onFocus={load} onInput={(event) => setSought(event.currentTarget.value)} />
      <p class="visually-hidden" role="status">
        {sought.trim() && index && count("site.found", found.length)}
      </p>
      {sought.trim() && index && (
        <div class="found">
          {found.length === 0 ? (
            <p class="soft">{t("site.none", { words: sought.trim() })}</p>
          ) : (
            <ol ref={list}>
              {found.map(({ address, title, place, text, language }) => (
                <li key={address + title} lang={language}>
                  <a href={address} onClick={() => setSought("")}>
                    <b>{title}</b> <span>{place}</span>
                    <em>{text.slice(0, 140)}</em>
                  </a>
                </li>
              ))}
            </ol>
          )}
        </div>
      )}
    </search>
  );
}

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Documentation />, place);
}
