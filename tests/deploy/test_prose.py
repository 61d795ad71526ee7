"""The check of plain English finds banned beginnings and phrases, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.prose.check import check_file, find_files

ROOT = Path(__file__).parents[2]


@pytest.fixture
def source(tmp_path):
    """Return a function that writes a module and returns the findings of it, `line: message`."""

    def check(text: str) -> list[str]:
        path = tmp_path / "module.py"
        path.write_text(text, "utf-8")
        return [f"{finding.line}: {finding.message}" for finding in check_file(path)]

    return check


def test_a_docstring_that_begins_with_give_is_reported_with_the_standard_verb(source):
    assert source('def area():\n    """Give the area."""\n') == [
        "2: the docstring begins with 'Give': write Return, Yield or Provide"
    ]


def test_a_noun_that_looks_like_a_banned_word_is_accepted(source):
    assert source('def area():\n    """Given shapes are summed."""\n') == []


def test_docstrings_of_modules_classes_and_async_functions_are_read(source):
    text = '"""What is read."""\nclass A:\n    """Who reads."""\n    async def b(self):\n        """Tell it."""\n'
    assert [finding[:2] for finding in source(text)] == ["1:", "3:", "5:"]


def test_a_phrase_in_a_comment_and_in_a_message_is_reported_at_its_own_line(source):
    text = 'x = 1  # Nobody waits.\nraise ValueError(\n    """the key\nis made anew"""\n)\n'
    assert source(text) == [
        "1: 'Nobody': write no client, no process, no caller: name it",
        "4: 'anew': write again",
    ]


def test_names_of_variables_are_not_sentences(source):
    assert source("nobody = anew = 1\n") == []


def test_a_page_is_searched_for_phrases_only(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Give it.\n\nNobody waits.\n", "utf-8")
    assert [finding.line for finding in check_file(page)] == [3]


def test_the_lists_themselves_are_left_out():
    assert ROOT / "deploy/prose/phrases.py" not in set(find_files([str(ROOT / "deploy/prose")]))


def test_the_command_prints_each_finding_and_fails(tmp_path):
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text('"""Tell."""\n', "utf-8")
    good.write_text('"""Report."""\n', "utf-8")
    command = [sys.executable, "-m", "deploy.prose.check"]
    failed = subprocess.run(
        [*command, str(bad)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    passed = subprocess.run(
        [*command, str(good)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (failed.returncode, passed.returncode) == (1, 0)
    assert failed.stdout == (
        f"{bad}:1: the docstring begins with 'Tell': write Report, or Return whether\n"
    )
