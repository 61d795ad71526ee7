"""Every object of every case is one of PDF: its keys are those of its type, required ones are there, and values have their types.

The types are in grammar.txt; the idea is that of the Arlington model of the PDF Association.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pikepdf
import pytest

from tests.golden.case import Case
from tests.golden.test_files import CASES, made

_OF_STREAMS = {"Length", "Filter", "DecodeParms"}
_SIZES = {"rect": 4, "matrix": 6}


class Key(NamedTuple):
    """A key of a type: its values, and the only version of PDF that has it."""

    is_required: bool
    values: str
    version: str


@cache
def read_grammar() -> dict[str, dict[str, Key]]:
    grammar: dict[str, dict[str, Key]] = {}
    kind = ""
    for line in Path(__file__).with_name("grammar.txt").read_text().splitlines():
        if found := re.fullmatch(r"  (\w+)(!?) (.+?)( [12]\.\d)?", line):
            name, required, values, version = found.groups("")
            grammar[kind][f"/{name}"] = Key(bool(required), values, version.strip())
        elif line and line[0] != "#":
            kind, grammar[line] = line, {}
    return grammar


def split(values: str) -> list[str]:
    """Split alternatives at the bars that are in no bracket."""
    parts, depth = [""], 0
    for sign in values:
        depth += (sign in "[{") - (sign in "]}")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


class Checker:
    """Compares the objects of a file with the grammar, each once as each type."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self.version = "2.0" if pdf.pdf_version == "2.0" else "1.7"
        self.seen: set[tuple[Any, str]] = set()

    def check(self, value: Any, values: str, path: str) -> Iterator[str]:
        """Yield what is wrong with a value if it is of no alternative, as of the last that it could be."""
        fitting = [one for one in split(values) if self.fits(value, one)]
        if not fitting:
            yield f"{path}: {value!r:.60} is not {values}"
            return
        one = fitting[0]
        if one[0] in "[{":
            items = value.items() if one[0] == "{" else enumerate(value)
            for name, each in items:
                yield from self.check(each, one[1:-1], f"{path}/{name}".replace("//", "/"))
        elif (kind := one.removeprefix("stream ")) in read_grammar():
            yield from self.check_dictionary(value, kind, path)

    def fits(self, value: Any, one: str) -> bool:
        kind = one.removeprefix("stream ")
        match value:
            case bool():
                return one in ("bool", "any")
            case int():
                return one in ("int", "number", "any")
            case Decimal() | float():
                return one in ("number", "any")
            case None:
                return one == "null"
            case pikepdf.Name():
                return one in ("name", "any", str(value))
            case pikepdf.String():
                return one in ("text", "bytes", "any")
            case pikepdf.Array():
                if one in _SIZES:
                    return len(value) == _SIZES[one] and all(self.fits(n, "number") for n in value)
                return one in ("array", "any") or one[0] == "["
            case pikepdf.Stream() | pikepdf.Dictionary():
                is_stream = isinstance(value, pikepdf.Stream)
                if one == "any" or (one[0] == "{" and not is_stream):
                    return True
                return is_stream == (kind != one) and kind in read_grammar() and names(value, kind)
        return False

    def check_dictionary(self, value: Any, kind: str, path: str) -> Iterator[str]:
        if value.is_indirect:
            if (value.objgen, kind) in self.seen:
                return
            self.seen.add((value.objgen, kind))
        grammar = read_grammar()[kind]
        for key, rule in grammar.items():
            if rule.is_required and key not in value:
                yield f"{path}: {kind} without {key}"
        for key in value.keys():  # noqa: SIM118 - of pikepdf
            rule = grammar.get(key)
            if rule is None:
                if not (isinstance(value, pikepdf.Stream) and key[1:] in _OF_STREAMS):
                    yield f"{path}: {kind} has {key}"
            elif rule.version not in ("", self.version):
                yield f"{path}: {key} is not of PDF {self.version}"
            else:
                yield from self.check(value[key], rule.values, f"{path}{key}")


def names(value: Any, kind: str) -> bool:
    """Return whether the names in a dictionary, such as /Type, are those of a type."""
    for key in ("/Type", "/Subtype", "/S"):
        rule = read_grammar()[kind].get(key)
        if rule is None:
            if key == "/Type" and key in value and kind not in ("Content", "Map"):
                return False
        elif (
            key in value and rule.values[0] == "/" and str(value[key]) not in rule.values.split("|")
        ) or (key not in value and rule.is_required):
            return False
    return True


def find_wrong_objects(file: bytes) -> list[str]:
    with pikepdf.open(io.BytesIO(file)) as pdf:
        checker = Checker(pdf)
        found = [*checker.check(pdf.Root, "Catalog", "")]
        if "/Info" in pdf.trailer:
            found += checker.check(pdf.trailer.Info, "Info", "/Info")
        return found


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_object_is_one_of_its_type(case: Case):
    file = made(case)
    if file is not None and b"/Encrypt" not in file:
        assert find_wrong_objects(file) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda root: root.__setitem__("/Colour", 1), "Catalog has /Colour"),
        (lambda root: root.__setitem__("/PageMode", 4), "/PageMode: 4 is not /UseNone"),
        (lambda root: root.Outlines.First.__delitem__("/Title"), "OutlineItem without /Title"),
        (lambda root: root.StructTreeRoot.__setitem__("/Namespaces", []), "not of PDF 1.7"),
    ],
)
def test_an_object_that_is_none_of_its_type_is_found(change, found):
    (columns,) = [case for case in CASES if case.name == "columns"]
    with pikepdf.open(io.BytesIO(made(columns) or b"")) as pdf:
        change(pdf.Root)
        pdf.save(damaged := io.BytesIO())
    assert [one for one in find_wrong_objects(damaged.getvalue()) if found in one]
