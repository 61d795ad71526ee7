/** The difference of two texts by lines (Myers, “An O(ND) Difference Algorithm”, 1986). */

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Line numbers from 1; null where the text does not have the line. */
  before: number | null;
  after: number | null;
}

const MOST_EDITS = 1500; // texts that differ more are shown as replaced: the trace takes memory by its square

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const lines: DiffLine[] = [];
  const same = (i: number, j: number) => lines.push({ kind: "same", text: a[i] ?? "", before: i + 1, after: j + 1 });
  for (let i = 0; i < head; i++) same(i, i);
  for (const [i, j] of findPath(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    if (i === null) lines.push({ kind: "added", text: b[head + (j ?? 0)] ?? "", before: null, after: head + (j ?? 0) + 1 });
    else if (j === null) lines.push({ kind: "removed", text: a[head + i] ?? "", before: head + i + 1, after: null });
    else same(head + i, head + j);
  }
  for (let i = tail; i > 0; i--) same(a.length - i, b.length - i);
  return lines;
}

/** Return the indices of lines in both texts, in order; null for a line that only the other text has. */
function findPath(a: string[], b: string[]): [number | null, number | null][] {
  const whole = (): [number | null, number | null][] => [
    ...a.map((_, i): [number, null] => [i, null]),
    ...b.map((_, j): [null, number] => [null, j]),
  ];
  if (a.length === 0 || b.length === 0) return whole();
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const furthest = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  const middle = most + 1;
  for (let edits = 0; edits <= most; edits++) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && at(furthest, middle + k - 1) < at(furthest, middle + k + 1));
      let x = down ? at(furthest, middle + k + 1) : at(furthest, middle + k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length);
    }
  }
  return whole();
}

function walkBack(trace: Int32Array[], aLength: number, bLength: number): [number | null, number | null][] {
  const path: [number | null, number | null][] = [];
  let x = aLength;
  let y = bLength;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const row = trace[edits] as Int32Array;
    const middle = edits + 1;
    const k = x - y;
    const down = k === -edits || (k !== edits && at(row, middle + k - 1) < at(row, middle + k + 1));
    const before = down ? k + 1 : k - 1;
    const fromX = edits === 0 ? 0 : at(row, middle + before);
    const fromY = edits === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY && x > 0 && y > 0) path.push([--x, --y]);
    if (edits > 0) path.push(down ? [null, --y] : [--x, null]);
  }
  return path.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}
