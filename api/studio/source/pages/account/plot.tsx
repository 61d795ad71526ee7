/** A bar of pages for each day of a billing period, and the same figures as a table. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { currentLanguage, formatDate, formatNumber, t } from "../../lib/messages";
import type { UsageDays } from "../../lib/types";
import { Wide } from "../../ui/parts";

const DAY = 86_400;
const HEIGHT = 200;
const GAP = 0.3; // of a day's width

export function DayPlot({ report }: { report: UsageDays }) {
  const place = useRef<HTMLDivElement>(null);
  const figures = useMemo(() => spread(report), [report]);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    let plot: uPlot | null = null;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(describe(element), figures, element);
    };
    const watch = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    draw();
    watch.observe(element);
    dark.addEventListener("change", draw);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [figures]);
  if (report.days.length === 0) return <p class="soft">{t("usage.none")}</p>;
  return (
    <>
      <div class="plot" ref={place} aria-hidden="true" />
      <details>
        <summary>{t("usage.asTable")}</summary>
        <Wide label={t("usage.asTable")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("usage.day")}</th>
                <th scope="col" class="number">
                  {t("usage.pages")}
                </th>
                <th scope="col" class="number">
                  {t("usage.drafts")}
                </th>
              </tr>
            </thead>
            <tbody>
              {report.days.map((day) => (
                <tr key={day.date}>
                  <th scope="row">{formatDate(`${day.date}T00:00:00Z`)}</th>
                  <td class="number">{formatNumber(day.pagesGenerated)}</td>
                  <td class="number">{formatNumber(day.draft.pagesGenerated)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      </details>
    </>
  );
}

/** Fill the days without usage: arrays of seconds, pages with drafts, and pages. */
function spread(report: UsageDays): [number[], number[], number[]] {
  const used = new Map(report.days.map((day) => [day.date, day]));
  const seconds: number[] = [];
  const pages: number[] = [];
  const all: number[] = [];
  for (let at = Date.parse(report.startDate) / 1000; at < Date.parse(report.endDate) / 1000; at += DAY) {
    const day = used.get(new Date(at * 1000).toISOString().slice(0, 10));
    seconds.push(at);
    pages.push(day?.pagesGenerated ?? 0);
    all.push((day?.pagesGenerated ?? 0) + (day?.draft.pagesGenerated ?? 0));
  }
  return [seconds, all, pages];
}

function describe(element: HTMLElement): uPlot.Options {
  const look = getComputedStyle(element);
  const colour = (name: string) => look.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${look.fontFamily}`,
  };
  const days = new Intl.DateTimeFormat(currentLanguage(), { day: "numeric", month: "short", timeZone: "UTC" });
  const bars = uPlot.paths.bars?.({ size: [1 - GAP, 40], align: 0, radius: 0.15 });
  const series = (label: string, fill: string): uPlot.Series => ({
    label,
    fill,
    width: 0,
    points: { show: false },
    ...(bars ? { paths: bars } : {}),
  });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 0, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_plot, min, max) => [min - DAY / 2, max + DAY / 2] },
      y: { range: (_plot, _min, max) => [0, Math.max(4, Math.ceil(max * 1.1))] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: (_plot, ticks) => ticks.map((at) => days.format(at * 1000)), incrs: [DAY, 2 * DAY, 5 * DAY, 7 * DAY], space: 60, size: 28 },
      { ...axis, values: (_plot, ticks) => ticks.map((each) => (Number.isInteger(each) ? formatNumber(each) : "")), size: 44 },
    ],
    // The taller bar is drawn first; its visible part shows the drafts.
    series: [{}, series(t("usage.drafts"), colour("--accent-soft")), series(t("usage.pages"), colour("--accent"))],
  };
}
