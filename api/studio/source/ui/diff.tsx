/** The difference of two texts: changed lines with some around them. */

import { useMemo } from "preact/hooks";
import { type DiffLine, diffLines } from "../lib/diff";
import { count, t } from "../lib/messages";
import { Notice } from "./parts";

const AROUND = 3;
const MOST_LINES = 4000;
const SIGNS: Record<DiffLine["kind"], string> = { same: " ", removed: "−", added: "+" };

export function TextDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => fold(diffLines(before, after)), [before, after]);
  if (before === after) return <Notice>{t("compare.sameText")}</Notice>;
  return (
    <div class="diff mono" role="group" aria-label={label} tabIndex={0}>
      <table>
        <tbody>
          {lines.slice(0, MOST_LINES).map((line, index) =>
            typeof line === "number" ? (
              <tr key={index} class="skipped">
                <td colSpan={4}>{count("compare.skipped", line)}</td>
              </tr>
            ) : (
              <tr key={index} class={line.kind}>
                <td class="number">{line.before}</td>
                <td class="number">{line.after}</td>
                <td aria-label={line.kind === "same" ? undefined : t(`compare.${line.kind}`)}>{SIGNS[line.kind]}</td>
                <td class="line">{line.text}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Replace lines far from a change by their number. */
function fold(lines: DiffLine[]): (DiffLine | number)[] {
  const isNear = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, index) => {
    if (line.kind !== "same") isNear.fill(true, Math.max(index - AROUND, 0), index + AROUND + 1);
  });
  const shown: (DiffLine | number)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[index]) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
}
