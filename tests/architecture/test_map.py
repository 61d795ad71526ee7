"""The paths of deploy/docs/architecture.md are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "deploy/docs/architecture.md").read_text()
PLACES = re.findall(r"^\| .+ \| `([^`]+)` \| `([\w/]+\.py)` \|$", MAP, re.MULTILINE)
STEPS = re.findall(r"^\| `([\w/]+\.py)` \| `([\w/]+\.py)` \| .+ \|$", MAP, re.MULTILINE)


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("api", "workers", "shared", "deploy")


def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def test_the_map_has_the_three_paths():
    assert len(re.findall(r"^## A ", MAP, re.MULTILINE)) == 3
    assert len(STEPS) > 30


@pytest.mark.parametrize(("caller", "called"), STEPS, ids=lambda path: path)
def test_a_step_of_the_map_is_an_import(graph, caller, called):
    assert (ROOT / caller).is_file()
    assert (ROOT / called).is_file()
    assert graph.direct_import_exists(importer=module_of(caller), imported=module_of(called))


def test_every_file_that_the_map_names_exists():
    named = set(re.findall(r"`((?:api|shared|workers|deploy)[\w/]*)`", MAP))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def sources():
    return {
        path.relative_to(ROOT).as_posix(): path.read_text().lower()
        for package in ("api", "deploy", "shared", "workers")
        for path in (ROOT / package).rglob("*.py")
        if "node_modules" not in path.parts
    }


@pytest.mark.parametrize(("words", "path"), PLACES)
def test_a_search_of_the_map_finds_its_place_among_few(sources, words, path):
    found = [name for name, source in sources.items() if words.lower() in source]
    assert path in found
    assert len(found) <= 4
