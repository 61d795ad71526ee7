/** Drawing of the plots of the account, in the colours and the width of the page. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

type Description = Omit<uPlot.Options, "width" | "height">;

/** A plot of figures that are also in a table, so screen readers skip it. */
export function Drawing({
  describe,
  figures,
  height,
}: {
  /** Describe the plot of an element; the colours are those of the moment. */
  describe: (element: HTMLElement) => Description;
  figures: uPlot.AlignedData;
  height: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    let plot: uPlot | null = null;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = () => {
      plot?.destroy();
      plot = new uPlot({ ...describe(element), width: element.clientWidth, height }, figures, element);
    };
    const watch = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    draw();
    watch.observe(element);
    dark.addEventListener("change", draw);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", draw);
      plot?.destroy();
    };
  }, [figures]);
  return <div class="plot" ref={place} aria-hidden="true" />;
}

/** Return the value of a custom property of the style sheet. */
export function colourOf(element: HTMLElement, name: string): string {
  return getComputedStyle(element).getPropertyValue(name).trim();
}

export function axisOf(element: HTMLElement): uPlot.Axis {
  return {
    stroke: colourOf(element, "--soft"),
    grid: { stroke: colourOf(element, "--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
}

export function seriesOf(label: string, fill: string, paths: uPlot.Series.PathBuilder | undefined): uPlot.Series {
  return { label, fill, width: 0, points: { show: false }, ...(paths ? { paths } : {}) };
}
