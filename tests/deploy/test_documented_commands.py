"""Every command that a page names exists, with the options that the page gives it; and every command has a page."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from deploy.cli.commands import COMMANDS as CALLS
from deploy.cli.commands import build_parser

PARSER = build_parser()
ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "deploy/docs").glob("*.md")),
    *sorted((ROOT / "deploy/helm").glob("*.md")),
]


def read_commands():
    """Return the commands of all pages: what is in backticks, and lines of code with those that continue them."""
    for page in PAGES:
        text = re.sub(r"\\?\n {4,}", " ", page.read_text())
        for match in re.finditer(
            r"`pressroom ([a-z][^`]*)`|^[ $]*(?:\.venv/bin/)?pressroom ([a-z].*)$",
            text,
            re.MULTILINE,
        ):
            yield page.name, re.split(r" #| && | \|\| | \| (?![-\w]+\])", match[1] or match[2])[0]


def find_parser(words):
    """Return the parser of a command, and the words of its name that there are."""
    parser, name = PARSER, []
    for word in words:
        groups = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001
        if not groups:
            break
        [group] = groups
        if word not in group.choices:
            return None, [*name, word]
        parser = group.choices[word]
        name.append(word)
    return parser, name


COMMANDS = sorted(set(read_commands()))


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=lambda part: part[:60])
def test_a_command_of_a_page_exists_with_its_options(page, command):
    parser, name = find_parser(re.findall(r"[^\s\[\]]+", command))
    assert parser is not None, f"{page}: there is no command `pressroom {' '.join(name)}`"
    known = {option for action in parser._actions for option in action.option_strings}  # noqa: SLF001
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", command)) <= known, page


def test_the_help_of_every_command_has_an_example_that_it_accepts():
    for words, command in CALLS.items():
        assert command.examples
        for line in command.examples:
            called = shlex.split(line)[1:]
            assert find_parser(called)[1] == words.split()
            PARSER.parse_args(called)


def test_every_command_has_a_page():
    named = {tuple(find_parser(re.findall(r"[^\s\[\]]+", command))[1]) for _, command in COMMANDS}

    def ends(parser, name=()):
        groups = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001
        if not groups:
            yield name
        for group in groups:
            for word, below in group.choices.items():
                yield from ends(below, (*name, word))

    assert set(ends(PARSER)) <= named
