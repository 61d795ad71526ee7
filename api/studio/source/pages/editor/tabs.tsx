/** The tabs of the editor: the form, and the text of the template. */

import { t } from "../../lib/messages";

const TABS = ["form", "xml"] as const;
export type Tab = (typeof TABS)[number];

const STORED = "pressroom-tab";

/** Return the tab that was last shown for a template in this window, null at a first visit. */
export function readTab(template: string): Tab | null {
  return TABS.find((each) => each === sessionStorage.getItem(`${STORED}:${template}`)) ?? null;
}

export function keepTab(template: string, tab: Tab): void {
  try {
    sessionStorage.setItem(`${STORED}:${template}`, tab);
  } catch {
    // The storage is full: the next visit begins with the form.
  }
}

export function Tabs({ id, tab, onShow }: { id: string; tab: Tab; onShow: (tab: Tab) => void }) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] as Tab;
    onShow(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={t("form.tabs")} onKeyDown={move}>
      {TABS.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`${id}-${each}`}
          aria-controls={`${id}-${each}-panel`}
          aria-selected={tab === each}
          tabIndex={tab === each ? 0 : -1}
          onClick={() => onShow(each)}
        >
          {t(`form.tab.${each}`)}
        </button>
      ))}
    </div>
  );
}
