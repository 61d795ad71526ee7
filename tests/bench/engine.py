"""Measure the engine alone next to Typst and WeasyPrint on the same data: `python tests/bench/engine.py`.

CPU milliseconds per document, median, one process for each line, warm. Every render gets data of its
own, as in life: Typst would remember the layout of data it has seen. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from words import compare_words, count_words
from works import WORKS, Work

NAMES = {"ours": "Pressroom", "typst": "Typst", "weasyprint": "WeasyPrint"}
STAGES = ("merge", "layout", "paint")
WARM_UP = 20
NOTE = """\
CPU milliseconds of a document, from JSON text to finished PDF: median, warm, one process for each
engine and work, other data for every document. The others have no bar codes: the invoice's is handed
to them as SVG, drawn by our encoder in their time. Totals carried from page to page, head rows on
every page and running heads are left out where words are compared: engines break pages elsewhere,
and only ours carries totals. Contents and index name the pages of each engine, and the leaders of
Typst and its calls of notes are words of their own."""
LONG_MUST = "≤ 9 × the time of 5,000, ≤ 3 × the memory"


@dataclass(frozen=True)
class Measured:
    """One engine on one work: CPU ms by stage and in all, the size of a file, the most memory held."""

    stages: list[float]
    ms: float
    kilobytes: int
    peak_mb: int


@dataclass(frozen=True)
class Line:
    """The measurements of an engine, and the text of its document of seed 1."""

    measured: Measured
    pages: int
    words: Counter[str]


Lines = dict[str, Line]  # by engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=WORKS, help="measure one work")
    parser.add_argument("--ours", action="store_true", help="measure our engine alone")
    parser.add_argument("--measure", nargs=2, metavar=("ENGINE", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        engine, folder = arguments.measure
        print(json.dumps(asdict(measure(engine, WORKS[arguments.only], Path(folder)))))
        return
    engines = ["ours"] if arguments.ours else ["ours", "typst", *weasyprint_if_usable()]
    print_tables([arguments.only] if arguments.only else list(WORKS), engines)


def weasyprint_if_usable() -> Iterator[str]:
    """Yield WeasyPrint's name, or print which dependency is missing.

    Without HarfBuzz's subsetter it cuts fonts down in Python, and an invoice takes five times as long.
    """
    try:
        from weasyprint.text.ffi import harfbuzz_subset
    except OSError:
        harfbuzz_subset = None
    if harfbuzz_subset is None:
        print(
            "WeasyPrint is left out: it needs Pango and HarfBuzz's subsetter, apt-get install"
            " libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0\n",
            flush=True,
        )
    else:
        yield "weasyprint"


def print_tables(names: list[str], engines: list[str]) -> None:
    print(f"{NOTE}\n", flush=True)
    found = {name: measure_all(name, engines) for name in names}
    print("| work | must | " + " | ".join(STAGES) + " | CPU ms | kept |")
    print("|---|---|" + "--:|" * len(STAGES) + "--:|---|")
    for name, lines in found.items():
        ours = lines["ours"].measured
        must, is_kept = judge(name, found)
        times = (f"{one:,.2f}" for one in (*ours.stages, ours.ms))
        print(f"| {WORKS[name].title} | {must} | {' | '.join(times)} | {is_kept} |")
    print("\n| work | engine | CPU ms | to ours | pages | KB | peak MB | words |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    for name, lines in found.items():
        for engine, line in lines.items():
            print(f"| {WORKS[name].title} | {NAMES[engine]} | {describe(line, lines['ours'])} |")


def judge(name: str, found: dict[str, Lines]) -> tuple[str, str]:
    """Return the limits of a work, and whether they were met; unmeasured ones are skipped."""
    ours = found[name]["ours"].measured
    must, times_book = WORKS[name].must, WORKS[name].times_book
    if times_book is not None:
        asked = f"≤ {times_book:g} × the plain book"
        if "typst" in WORKS[name].repeats:
            asked += ", < Typst"
        if "book" not in found:
            return asked, ""
        limit = times_book * found["book"]["ours"].measured.ms
        beside = found[name].get("typst")
        is_kept = ours.ms <= limit and (beside is None or ours.ms < beside.measured.ms)
        return asked, "yes" if is_kept else "**no**"
    if must is None:
        if "statement" not in found:
            return LONG_MUST, ""
        short = found["statement"]["ours"].measured
        is_kept = ours.ms <= 9 * short.ms and ours.peak_mb <= 3 * short.peak_mb
        return LONG_MUST, "yes" if is_kept else "**no**"
    is_kept = ours.ms <= must.ms and ours.peak_mb <= (must.peak_mb or ours.peak_mb)
    typst = found[name].get("typst")
    if typst is not None and must.times_typst is not None:
        is_kept = is_kept and typst.measured.ms >= must.times_typst * ours.ms
    return str(must), "yes" if is_kept else "**no**"


def describe(line: Line, ours: Line) -> str:
    measured = line.measured
    is_ours = line is ours
    cells = (
        f"{measured.ms:,.1f}",
        "" if is_ours else f"× {measured.ms / ours.measured.ms:,.1f}",
        f"{line.pages:,}",
        f"{measured.kilobytes:,}",
        f"{measured.peak_mb:,}",
        "" if is_ours else compare_words(ours.words, line.words),
    )
    return " | ".join(cells)


def measure_all(name: str, engines: list[str]) -> Lines:
    """Measure the engines on a work, each in a process of its own, one after the other."""
    work = WORKS[name]
    lines: Lines = {}
    with tempfile.TemporaryDirectory() as folder:
        for engine in engines:
            if engine not in work.repeats:
                continue
            command = [sys.executable, __file__, "--only", name, "--measure", engine, folder]
            answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            measured = Measured(**json.loads(answer.stdout))
            pages, words = count_words(Path(folder, f"{engine}.pdf"), work.running_content)
            lines[engine] = Line(measured, pages, words)
            print(f"{work.title}, {NAMES[engine]}: {measured.ms:,.1f} ms", file=sys.stderr)
    return lines


def measure(name: str, work: Work, folder: Path) -> Measured:
    """Measure one engine in this process, and leave the document of one seed in the folder."""
    from engines import ENGINES
    from works import Logo

    engine = ENGINES[name](work, Logo(), folder)
    repeats = work.repeats[name]
    for seed in range(1000, 1000 + min(repeats // 2, WARM_UP)):
        engine.render(work.write_data(seed))
    # The last one is of seed 1 with every engine: its words are compared.
    runs = [engine.render(work.write_data(seed)) for seed in range(repeats, 0, -1)]
    (folder / f"{name}.pdf").write_bytes(engine.file)
    stages = [statistics.median(times) for times in zip(*runs, strict=True)]
    everything = statistics.median(map(sum, runs))
    return Measured(stages, everything, len(engine.file) // 1024, peak_megabytes())


def peak_megabytes() -> int:
    """Return the peak memory of this process; `getrusage` would count its parent's before the fork."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) // 1024


if __name__ == "__main__":
    main()
