/** The frame of the page: navigation, sign-out, and the current view. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Key, t } from "../lib/messages";
import { maySee } from "../lib/rights";
import { linkTo } from "../lib/router";
import type { Account, Scope } from "../lib/types";

const PLACES: readonly { path: string; label: Key; scope?: Scope }[] = [
  { path: "templates", label: "nav.templates", scope: "templates" },
  { path: "images", label: "nav.images", scope: "templates" },
  { path: "fonts", label: "nav.fonts", scope: "templates" },
  { path: "jobs", label: "nav.jobs", scope: "render" },
  { path: "batches", label: "nav.batches", scope: "render" },
  { path: "account", label: "nav.account" },
];

/** Return the places that the session may see. */
function placesOf(account: Account) {
  return PLACES.filter((place) => !place.scope || maySee(account, place.scope));
}

/** Return the place that is shown at the start. */
export function homeOf(account: Account): string {
  return placesOf(account)[0]?.path ?? "account";
}

export function Shell({
  account,
  route,
  onSignOut,
  children,
}: {
  account: Account;
  route: string[];
  onSignOut: () => void;
  children: ComponentChildren;
}) {
  const here = route[0] ?? homeOf(account);
  const main = useRef<HTMLElement>(null);
  const places = useRef<HTMLElement>(null);
  const address = route.join("/");
  const first = useRef(true);
  // Moves the focus to the new view, so that screen readers announce it like a page load.
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [address]);
  // On phones the places may be wider than the screen. `scrollIntoView` would move where Tab goes on from.
  useEffect(() => {
    const list = places.current;
    const current = list?.querySelector("[aria-current]")?.getBoundingClientRect();
    const around = list?.getBoundingClientRect();
    if (list && current && around) list.scrollLeft += current.left - around.left - (around.width - current.width) / 2;
  }, [here]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {t("nav.skip")}
      </a>
      <header class="bar">
        <a class="brand" href={linkTo(homeOf(account))}>
          Pressroom <span>Studio</span>
        </a>
        <nav aria-label={t("nav.label")} ref={places}>
          {placesOf(account).map(({ path, label }) => (
            <a key={path} href={linkTo(path)} aria-current={here === path ? "page" : undefined}>
              {t(label)}
            </a>
          ))}
        </nav>
        <div class="who">
          <a href="/docs/language" target="_blank" rel="noopener">
            {t("nav.language")}
          </a>
          <span class="who-name" title={account.user.email}>
            {account.user.name}
          </span>
          <button type="button" class="quiet" onClick={onSignOut}>
            {t("nav.signOut")}
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
