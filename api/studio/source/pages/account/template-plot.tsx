/** A bar of pages for each template of a billing period, and the same figures against the allowance as a table. */

import { useMemo } from "preact/hooks";
import uPlot from "uplot";
import { formatNumber, formatPercent, t } from "../../lib/messages";
import { maySee } from "../../lib/rights";
import { linkTo } from "../../lib/router";
import type { Account, Usage, UsageTemplate, UsageTemplates } from "../../lib/types";
import { Wide } from "../../ui/parts";
import { axisOf, colourOf, Drawing, seriesOf } from "./drawing";

const MOST_BARS = 10;
const ROW = 30; // pixels
const LONGEST = 22; // letters beside a bar
const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((each) => [each, 2 * each, 5 * each]);

export function TemplatePlot({ report, usage, account }: { report: UsageTemplates; usage: Usage; account: Account }) {
  const bars = useMemo(() => report.templates.slice(0, MOST_BARS), [report]);
  const figures = useMemo(() => spread(bars), [bars]);
  if (bars.length === 0) return null;
  return (
    <>
      <h3>{t("usage.byTemplate")}</h3>
      <Drawing describe={(element) => describe(element, bars.map(nameOf))} figures={figures} height={bars.length * ROW + 30} />
      <details>
        <summary>{t("usage.templatesAsTable")}</summary>
        <Wide label={t("usage.templatesAsTable")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("usage.template")}</th>
                <th scope="col" class="number">
                  {t("usage.pages")}
                </th>
                <th scope="col" class="number">
                  {t("usage.share")}
                </th>
                <th scope="col" class="number roomy">
                  {t("usage.drafts")}
                </th>
              </tr>
            </thead>
            <tbody>
              {report.templates.map((each) => (
                <tr key={each.template ?? ""}>
                  <th scope="row">
                    {each.template && maySee(account, "templates") ? (
                      <a href={linkTo("templates", each.template)}>{nameOf(each)}</a>
                    ) : (
                      nameOf(each)
                    )}
                  </th>
                  <td class="number">{formatNumber(each.pagesGenerated)}</td>
                  <td class="number">{formatPercent(each.pagesGenerated / Math.max(usage.maxPagesGenerated, 1))}</td>
                  <td class="number roomy">{formatNumber(each.draft.pagesGenerated)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
        {report.has_more && <p class="soft">{t("usage.templatesMore", { n: report.templates.length })}</p>}
      </details>
    </>
  );
}

function nameOf(used: UsageTemplate): string {
  return used.name ?? used.template ?? t("usage.noTemplate");
}

/** Return arrays of places, pages with drafts, and pages. */
function spread(bars: readonly UsageTemplate[]): [number[], number[], number[]] {
  return [
    bars.map((_, place) => place),
    bars.map((each) => each.pagesGenerated + each.draft.pagesGenerated),
    bars.map((each) => each.pagesGenerated),
  ];
}

/** Describe horizontal bars: the scale of places runs down the page. */
function describe(element: HTMLElement, names: readonly string[]): Omit<uPlot.Options, "width" | "height"> {
  const axis = axisOf(element);
  const bars = uPlot.paths.bars?.({ size: [0.6, 18], align: 0, radius: 0.15 });
  const shown = names.map((name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name));
  return {
    padding: [4, 16, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, ori: 1, dir: -1, range: [-0.5, names.length - 0.5] },
      y: { ori: 0, dir: 1, range: (_plot, _min, max) => [0, Math.max(4, Math.ceil(max * 1.05))] },
    },
    axes: [
      { ...axis, side: 3, grid: { show: false }, splits: names.map((_, place) => place), values: () => shown, size: Math.min(160, element.clientWidth * 0.42), gap: 8 },
      { ...axis, scale: "y", side: 2, incrs: WHOLE, values: (_plot, ticks) => ticks.map(formatNumber), size: 26 },
    ],
    series: [{}, seriesOf(t("usage.drafts"), colourOf(element, "--accent-soft"), bars), seriesOf(t("usage.pages"), colourOf(element, "--accent"), bars)],
  };
}
