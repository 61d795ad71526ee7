"""Measure everything that has a limit, and tell which are kept: `make bench`.

Figures are those of whatever machine this is; those of a part are side by side in one run. A limit
that is not kept does not fail. With `--write` they become RESULTS.md; with `--parts`, which measures
some parts only, the sections of the others stay as they are. Each part runs alone too, by its own file.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shared import clock
from tests.bench.demands import collect_limits, show
from tests.bench.results import merge_sections, read_sections, write_results

FAILED: list[str] = []  # files of the bench that ended in an error: the others are measured still


class Part(NamedTuple):
    """A part of the bench: the title of its section, and whether it takes `--huge`."""

    title: str
    has_huge: bool = False


PARTS = {
    "peers": Part("Beside what one would build instead"),
    "engine": Part("The engine alone"),
    "scripts": Part("Text in other scripts"),
    "text_costs": Part("Typography"),
    "tag_costs": Part("Tags"),
    "einvoices": Part("Electronic invoices"),
    "parts": Part("Charts, payment parts, forms and signatures"),
    "previews": Part("Previews"),
    "front": Part("The front alone"),
    "acceptance": Part("Renders accepted for later"),
    "farm": Part("The farm at work, and after kills"),
    "tenants": Part("A small account beside ten"),
    "backlog": Part("Accepted renders, worked off"),
    "batches": Part("Batches", has_huge=True),
    "runs": Part("Runs of letters"),
    "feeding": Part("The next slice among many batches"),
    "database": Part("A large database"),
    "overhead": Part("The queue beside stock Celery"),
    "cost": Part("What a document costs"),
}
LIMITS = "Every limit"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write tests/bench/RESULTS.md")
    parser.add_argument(
        "--parts", default=[*PARTS], type=parse_parts, help="names with commas; all by default"
    )
    parser.add_argument(
        "--huge", type=int, default=0, help="documents of a batch whose memory is measured: minutes"
    )
    arguments = parser.parse_args()
    begun = time.monotonic()
    measured = {}
    for name in arguments.parts:
        part = PARTS[name]
        huge = ["--huge", str(arguments.huge)] if part.has_huge else []
        printed = run_script(f"{name}.py", *huge)
        measured[part.title] = f"Measured on {clock.now():%Y-%m-%d}.\n\n{printed.strip()}\n"
    sections = merge_sections(read_sections(), measured, [part.title for part in PARTS.values()])
    first = {title: text for title, text in sections.items() if title == PARTS["peers"].title}
    sections = {**first, LIMITS: show(report_limits(sections)), **sections}
    show(iter([f"{(time.monotonic() - begun) / 60:.0f} minutes in all."]))
    if arguments.write:
        write_results(sections)
    if FAILED:
        raise SystemExit(f"failed: {', '.join(FAILED)}")


def parse_parts(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown)}: no such part; there are {', '.join(PARTS)}"
        )
    return names


def report_limits(parts: dict[str, str]) -> Iterator[str]:
    """Yield the limits of all parts in one table."""
    yield "| part | what | must | measured | kept |"
    yield "|---|---|---|--:|---|"
    for title, printed in parts.items():
        for row in collect_limits(printed):
            yield f"| {title} | {' | '.join(row)} |"
    for name in FAILED:
        yield f"| {name} | the part itself | runs | it failed | **no** |"


def run_script(name: str, *arguments: str) -> str:
    """Run another file of the bench, show what it prints and return it; one that fails is noted."""
    command = [sys.executable, str(Path(__file__).with_name(name)), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        printed = show(line.rstrip("\n") for line in process.stdout)
    if process.returncode:
        FAILED.append(name)
    return printed


if __name__ == "__main__":
    main()
