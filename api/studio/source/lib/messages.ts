/** The page's texts, numbers and dates in the user's language. */

import { de } from "../messages/de";
import { en } from "../messages/en";

export type Key = keyof typeof en;
type Values = Record<string, string | number>;
export type Language = "en" | "de";

const CATALOGUES: Record<Language, Record<Key, string>> = { en, de };
const STORED = "pressroom-language";

let language: Language = choose();
document.documentElement.lang = language;

function choose(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === "en" || stored === "de") return stored;
  return navigator.language.toLowerCase().startsWith("de") ? "de" : "en";
}

export function currentLanguage(): Language {
  return language;
}

/** Switch the language of the page; the caller renders it again. */
export function chooseLanguage(chosen: Language): void {
  language = chosen;
  localStorage.setItem(STORED, chosen);
  document.documentElement.lang = chosen;
}

/** Return a text; `{name}` in it is replaced by a value. */
export function t(key: Key, values: Values = {}): string {
  return CATALOGUES[language][key].replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

/** The user's regional variant of the page's language, such as British or Austrian dates. */
export function locale(): string {
  return navigator.language.toLowerCase().startsWith(language) ? navigator.language : language;
}

/** Return the plural form of a text for a number: the keys end in `.one` and `.other`. */
export function count(stem: string, number: number, values: Values = {}): string {
  const form = new Intl.PluralRules(language).select(number) === "one" ? "one" : "other";
  return t(`${stem}.${form}` as Key, { ...values, n: number });
}

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(locale()).format(value);
}

/** Format a share of one as a percentage. */
export function formatPercent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 1 }).format(share);
}

/** Format a size in bytes with a suitable unit. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value)} ${units[unit]}`;
}

export function formatDate(timestamp: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(timestamp));
}

export function formatMoment(timestamp: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(timestamp));
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** Format a time relative to now. */
export function formatAgo(timestamp: string, now: number = Date.now()): string {
  const seconds = (new Date(timestamp).getTime() - now) / 1000;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit);
  }
  return words.format(0, "second");
}
