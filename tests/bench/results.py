"""RESULTS.md: what was measured last, when, and on which machine."""

from __future__ import annotations

import os
import platform
import re
import timeit
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
LIBRARIES = ("reportlab", "pikepdf", "typst", "weasyprint", "celery", "redis")


def read_sections() -> dict[str, str]:
    """Return the text of each section of RESULTS.md by its title."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    sections = (
        section.partition("\n") for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    )
    return {title.strip(): body.strip() for title, _, body in sections}


def merge_sections(
    old: Mapping[str, str], new: Mapping[str, str], titles: Iterable[str]
) -> dict[str, str]:
    """Return the new text, or else the old one, of each title that has any; in the order of the titles."""
    merged = {**old, **new}
    return {title: merged[title] for title in titles if title in merged}


def write_results(parts: Mapping[str, str]) -> None:
    """Write the tables, each below its title, with what they were measured on."""
    sections = [f"## {title}\n\n{text.strip()}\n" for title, text in parts.items()]
    head = (
        "# What was measured last\n\n"
        f"On {describe_machine()}. Written by `make bench`, which measures some parts with"
        " `PARTS=engine,farm`;\nratios hold from machine to machine,"
        f" times do not: here Python adds a million numbers in {time_additions():.0f} ms.\n"
    )
    RESULTS.write_text("\n".join([head, *sections]), encoding="utf-8")


def time_additions() -> float:
    """Return the milliseconds of a fixed workload: machines of one name differ by half."""
    return min(timeit.repeat("for i in range(1_000_000): n += i", "n = 0", number=1)) * 1000


def describe_machine() -> str:
    """Name the processor, its cores, Python and the libraries whose speed is measured."""
    information = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"model name\s*: (.+)", information)
    processor = found[1] if found else platform.machine()
    libraries = ", ".join(filter(None, map(describe_library, LIBRARIES)))
    python = platform.python_version()
    return f"{os.cpu_count()} cores ({processor}), Python {python}, {libraries}"


def describe_library(name: str) -> str:
    """Return the name and version of a library, empty if it is not installed."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""
