"""Decision records have one form, are indexed, and every mention of one leads to a record."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("deploy/decisions", "workers/engine/decisions")
RECORDS = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).glob("*.md"))
    if path.name != "README.md"
}
HEADINGS = ("Context", "Decision", "Consequence")
LONGEST = 60  # lines, about a page
MENTION = re.compile(r"\bdecisions?[ /]\[?([0-9]{2,4})\b", re.IGNORECASE)
SOURCES = (".py", ".md", ".lua", ".toml", ".sh", ".yaml", ".yml", ".ts", ".sql", "Makefile")


def number_of(name: str) -> int:
    return int(Path(name).name[:4])


def replaced_by(text: str) -> list[int]:
    """Return the numbers that a record's last line says it replaces."""
    last = text.strip().splitlines()[-1]
    if not re.fullmatch(r"Replaces [0-9]+(, [0-9]+)*\.", last):
        return []
    return [int(number) for number in re.findall(r"[0-9]+", last)]


def mentions() -> list[tuple[str, int]]:
    """Return each place that mentions a record, with its number."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    return [
        (f"{name}:{line}", int(number))
        for name in listed
        if name.endswith(SOURCES) and (ROOT / name).is_file()
        for line, text in enumerate((ROOT / name).read_text().splitlines(), 1)
        for number in MENTION.findall(text)
    ]


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_a_numbered_title_and_three_headings_on_one_page(name):
    lines = RECORDS[name].splitlines()
    assert re.fullmatch(r"[0-9]{4}(-[a-z0-9]+)+\.md", Path(name).name)
    assert lines[0].startswith(f"# {number_of(name)}. ")
    found = re.findall(r"^\*\*(\w+)\.\*\*", RECORDS[name], re.MULTILINE)
    assert [heading for heading in found if heading in HEADINGS] == list(HEADINGS)
    assert len(lines) <= LONGEST


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_index_names_every_record_by_its_title(folder):
    index = (ROOT / folder / "README.md").read_text()
    indexed = re.findall(r"^\| ([0-9]+) \| \[(.+)\]\(([^)]+)\) \| \S", index, re.MULTILINE)
    expected = [
        (str(number_of(name)), text.splitlines()[0].split(". ", 1)[1], Path(name).name)
        for name, text in RECORDS.items()
        if Path(name).parent.as_posix() == folder
    ]
    assert indexed == expected


def test_a_number_is_used_once_and_replaced_once():
    numbers = [number_of(name) for name in RECORDS]
    replaced = [number for text in RECORDS.values() for number in replaced_by(text)]
    assert len(numbers) == len(set(numbers))
    assert len(replaced) == len(set(replaced))
    assert not set(numbers) & set(replaced)


@pytest.mark.parametrize("name", RECORDS)
def test_a_link_between_records_shows_the_number_it_leads_to(name):
    links = re.findall(r"\[([0-9]+)\]\((?:\S*/)?([0-9]{4})-", RECORDS[name])
    assert [link for link in links if int(link[0]) != int(link[1])] == []


def test_every_mentioned_number_is_a_record():
    known = {number_of(name) for name in RECORDS}
    found = mentions()
    assert len(found) > 50
    assert [place for place, number in found if number not in known] == []
