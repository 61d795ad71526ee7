"""Report docstrings, comments, messages and pages that are not in plain English.

`python -m deploy.prose.check [PATH…]` prints `file:line: found text; its replacement` and exits
with 1 where it found something. Without a path it reads the product's packages and its tests.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from deploy.prose.phrases import BEGINNINGS, PHRASES

PACKAGES: Final = ("README.md", "api", "deploy", "shared", "tests", "workers")
_SUFFIXES: Final = {".py", ".md"}
_OWN: Final = ("phrases.py", "test_prose.py")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """A text to rewrite, at a line from 1."""

    path: Path
    line: int
    message: str


def check_file(path: Path) -> Iterator[Finding]:
    """Yield the findings of one Python file, docstrings first, or of one Markdown page.

    Raises:
        SyntaxError: A file named `.py` is not Python.
    """
    source = path.read_text("utf-8")
    if path.suffix == ".md":
        yield from _check_phrases(path, [(1, source)])
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _Documented):
            yield from _check_beginning(path, node)
    yield from _check_phrases(path, _read_texts(source))


def _check_phrases(path: Path, texts: Iterable[tuple[int, str]]) -> Iterator[Finding]:
    """Yield the banned phrases of some texts, each with its first line."""
    for line, text in texts:
        for pattern, instead in PHRASES:
            for match in pattern.finditer(text):
                row = line + text.count("\n", 0, match.start())
                yield Finding(path, row, f"{match[0]!r}: write {instead}")


def _check_beginning(path: Path, node: _Documented) -> Iterator[Finding]:
    text = ast.get_docstring(node)
    if not text:
        return
    first = text.split(maxsplit=1)[0].rstrip(",:.")
    instead = BEGINNINGS.get(first)
    if instead is not None:
        yield Finding(
            path, node.body[0].lineno, f"the docstring begins with {first!r}: write {instead}"
        )


def _read_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield comments and string literals with their first line; parts of f-strings are strings here."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def find_files(paths: Sequence[str]) -> Iterator[Path]:
    """Yield Python files and Markdown pages under some paths; the phrase list and its tests are left out."""
    for given in map(Path, paths):
        for path in sorted(given.rglob("*.*")) if given.is_dir() else [given]:
            if (
                path.suffix in _SUFFIXES
                and path.name not in _OWN
                and "node_modules" not in path.parts
            ):
                yield path


def main(arguments: Sequence[str]) -> int:
    """Print every finding and return the exit status."""
    findings = [
        finding for path in find_files(arguments or PACKAGES) for finding in check_file(path)
    ]
    for finding in findings:
        sys.stdout.write(f"{finding.path}:{finding.line}: {finding.message}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
