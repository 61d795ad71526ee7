"""The bench still runs after renames in the engine."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench import database, einvoices, feeding, parts, table, tag_costs, text_costs
from tests.bench.demands import HEAD, at_least, at_most, collect_limits, fact, not_measured
from tests.bench.results import merge_sections, read_sections
from workers.engine.syntax.vocabulary.charts import CHART_KINDS

ENGINE = Path(__file__).with_name("engine.py")
SCRIPTS = Path(__file__).with_name("scripts.py")


@pytest.mark.long
def test_bench_measures_our_engine():
    done = subprocess.run(
        [sys.executable, ENGINE, "--ours", "--only", "invoice"],
        check=True,
        capture_output=True,
        text=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if "| Pressroom |" in line]
    milliseconds, pages = float(line.split("|")[3]), line.split("|")[5].strip()
    assert milliseconds > 0
    assert pages == "1"


@pytest.mark.long
def test_bench_measures_every_script():
    done = subprocess.run(
        [sys.executable, SCRIPTS, "--repeats", "1"], check=True, capture_output=True, text=True
    )
    assert len([line for line in done.stdout.splitlines() if " | × " in line]) == 10


@pytest.mark.long
def test_bench_measures_what_an_electronic_invoice_adds():
    limits = list(collect_limits("\n".join(einvoices.measure(repeats=1))))
    assert [must for _, must, _, _ in limits] == ["≤ 25 ms"] * 7


@pytest.mark.long
def test_bench_measures_every_part():
    names = [name for name, _, _, _ in collect_limits("\n".join(parts.measure(repeats=1)))]
    assert names[: len(parts.PARTS)] == [part.name for part in parts.PARTS]
    types = {part.markup.partition('type="')[2].partition('"')[0] for part in parts.PARTS}
    assert types >= set(CHART_KINDS)
    assert len(names) == len(parts.PARTS) + 2


@pytest.mark.long
def test_bench_measures_what_typography_costs(monkeypatch):
    monkeypatch.setattr(text_costs, "PARAGRAPHS", 2)
    limits = list(collect_limits("\n".join(text_costs.measure(repeats=1))))
    assert [must for _, must, _, _ in limits] == ["≤ 1.5 ×", "≤ 5 %", "≤ 5 %"]


@pytest.mark.long
def test_bench_measures_what_tags_cost():
    limits = list(collect_limits("\n".join(tag_costs.measure((0, 0, 0)))))
    assert [must for _, must, _, _ in limits] == ["≤ 1.15 ×", "≤ 1.15 ×", "≤ 1.25 ×"]


@pytest.mark.long
def test_bench_measures_how_the_next_slice_is_found(monkeypatch):
    monkeypatch.setattr(feeding, "SIZES", ((30, 3),))
    monkeypatch.setattr(feeding, "REPEATS", 2)
    limits = list(collect_limits("\n".join(feeding.measure())))
    assert [must for _, must, _, _ in limits] == ["≤ 5 ms"] * 2


@pytest.mark.long
def test_bench_measures_a_large_database():
    limits = list(collect_limits("\n".join(database.measure(1_000))))
    assert [must for _, must, _, _ in limits] == ["≤ 20 ms"] * 12


def test_results_of_parts_that_were_not_measured_stay():
    sections = merge_sections(
        {"The engine alone": "old", "Batches": "old", "A part that is gone": "old"},
        {"Batches": "new", "Previews": "new"},
        [part.title for part in table.PARTS.values()],
    )
    assert list(sections.items()) == [
        ("The engine alone", "old"),
        ("Previews", "new"),
        ("Batches", "new"),
    ]


def test_each_section_of_the_results_is_a_part_of_the_bench_and_each_part_a_file():
    titles = [part.title for part in table.PARTS.values()]
    found = read_sections()
    assert list(found)[:2] == [table.PARTS["peers"].title, table.LIMITS]
    assert set(found) - {table.LIMITS} <= set(titles)
    files = {path.stem for path in ENGINE.parent.glob("*.py")}
    assert table.PARTS.keys() <= files


def test_a_part_that_does_not_exist_is_refused():
    with pytest.raises(
        argparse.ArgumentTypeError, match="nothing: no such part; there are peers, engine"
    ):
        table.parse_parts("engine,nothing")


def test_limits_of_every_table_are_found_and_facts_are_not():
    printed = "\n".join(
        [
            *("A note | with a bar.", "", HEAD),
            *(at_most("a wait", 4.26, 5, "ms"), fact("the same, idle", "1 ms")),
            *(at_least("a share", 0.894, 0.9, "%"), not_measured("memory", "≤ 300 MB", "`--huge`")),
            *("", "| no limits | ms |", "|---|--:|", "| note | 3 |", ""),
            *(
                "| work | must | ms | kept |",
                "|---|---|--:|---|",
                "| invoice | ≤ 5 ms | 3.2 | yes |",
            ),
        ]
    )
    assert list(collect_limits(printed)) == [
        ("a wait", "≤ 5 ms", "4.3 ms", "yes"),
        ("a share", "≥ 90 %", "89 %", "**no**"),
        ("memory", "≤ 300 MB", "not measured: `--huge`", ""),
        ("invoice", "≤ 5 ms", "3.2", "yes"),
    ]
