/** A bar of pages for each day of a billing period, and the same figures as a table. */

import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { locale, formatDate, formatNumber, t } from "../../lib/messages";
import type { UsageDays } from "../../lib/types";
import { Wide } from "../../ui/parts";
import { axisOf, colourOf, Drawing, seriesOf } from "./drawing";

const DAY = 86_400;
const HEIGHT = 200;
const GAP = 0.3; // of a day's width

export function DayPlot({ report }: { report: UsageDays }) {
  const figures = useMemo(() => spread(report), [report]);
  if (report.days.length === 0) return <p class="soft">{t("usage.none")}</p>;
  return (
    <>
      <Drawing describe={describe} figures={figures} height={HEIGHT} />
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

function describe(element: HTMLElement): Omit<uPlot.Options, "width" | "height"> {
  const axis = axisOf(element);
  const days = new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", timeZone: "UTC" });
  const bars = uPlot.paths.bars?.({ size: [1 - GAP, 40], align: 0, radius: 0.15 });
  return {
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
    series: [{}, seriesOf(t("usage.drafts"), colourOf(element, "--accent-soft"), bars), seriesOf(t("usage.pages"), colourOf(element, "--accent"), bars)],
  };
}
