"""Links of the Markdown pages are valid: files, sections, targets of make and commands."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The guide is the first part of LANGUAGE.md, where its links lead somewhere.
PARTS = {"deploy/tools/language/guide.md"}
PAGES = sorted(
    set(
        subprocess.run(
            ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    )
    - PARTS
)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
TREE = r"`((?:api|deploy|shared|tests|workers)/[\w./-]+\.(?:py|md|xml|ya?ml|sh|conf|json))`"


@cache
def prose_of(page: Path) -> str:
    """Return the text of a page without its code."""
    without_blocks = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "code", without_blocks)


@cache
def sections_of(page: Path) -> set[str]:
    """Return the anchors of a page: explicit ones and those of its headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    shown = {re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings}
    set_by_hand = re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text())
    return {heading.replace(" ", "-") for heading in shown} | set(set_by_hand)


def links_of(page: Path) -> list[str]:
    """Return the local link targets of a page, pictures included."""
    prose = prose_of(page)
    found = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'(?:src|href)="([^"]+)"', prose)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, section = link.partition("#")
    target = (page.parent / path) if path else page
    if not section or target.suffix != ".md":
        return target.exists()
    return target.exists() and section in sections_of(target)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name):
    page = ROOT / name
    assert [link for link in links_of(page) if not leads_somewhere(page, link)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_names_is_there(name):
    paths = re.findall(TREE, (ROOT / name).read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_target_of_make_that_a_page_names_is_there(name):
    named = re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / name).read_text(), re.MULTILINE)
    assert set(named) <= TARGETS
