"""Every case as a tagged file: what it is made of is in its structure tree, in the order of the text."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2.raw as pdfium
import pytest
from lxml import etree

from tests.engine.finish.accessibility_rules import find_violations
from tests.engine.finish.structure import read_text, write_structure
from tests.golden.case import FOLDER, OPTIONS, Case, FolderImages, find_cases
from workers.engine.diagnostics import AuthoringError
from workers.engine.pipeline import prepare_template, render

CASES = find_cases()
REFERENCE = FOLDER / "structure"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_case_is_fit_to_be_tagged(case: Case):
    file = tagged(case)
    if file is not None:
        assert find_violations(file, promises=False) == []


@pytest.mark.parametrize(
    "name",
    [
        "tagged", "tagged-notes", "numbers", "index", "markdown", "table-rowspan", "floats",
        "showcase-terms",
    ],
)  # fmt: skip
def test_the_structure_is_as_its_reference(name: str, is_update: bool):
    file = tagged(Case(name))
    assert file is not None
    written = write_structure(file)
    reference = REFERENCE / f"{name}.structure"
    if is_update:
        reference.write_text(written)
    assert written == reference.read_text()


@pytest.mark.parametrize("name", ["showcase-report", "showcase-terms", "floats"])
def test_the_structure_has_the_text_of_the_source_in_its_order(name: str):
    file = tagged(Case(name))
    assert file is not None
    read = " ".join(read_text(file).replace("\xad", "").split())
    flow = etree.fromstring(Case(name).source).find("flow")
    assert flow is not None
    at = 0
    for text in texts_of(flow):
        found = read.find(text, at)
        assert found >= 0, text
        at = found + len(text)


def texts_of(element: etree._Element) -> Iterator[str]:
    """Yield the texts of a flow that no expression is in; notes are read at the foot of their page."""
    for each in element.iter("p", "h1", "h2", "li", "td", "th", "caption"):
        if any(parent.tag in ("footnote", "figure") for parent in each.iterancestors()):
            continue
        for text in (each.text, *(child.tail for child in each)):
            if text and text.strip() and "{{" not in text:
                yield " ".join(text.split())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_other_readers_see_the_same_elements(case: Case, tmp_path: Path):
    """pdfium on each page, and poppler in the whole file, in order and in depth."""
    file = tagged(case)
    if file is None:
        return
    own = [line for line in write_structure(file).splitlines() if is_element(line)]
    # pdfium names nothing on a page without content, and no element that holds a field alone.
    apart = {"", "Form"}
    if len(own) > 1:
        assert set(read_by_pdfium(file)) - apart == {line.split()[0] for line in own} - apart
    if shutil.which("pdfinfo") is not None:
        seen = read_by_poppler(file, tmp_path / "a.pdf")
        assert seen == [(len(line) - len(line.lstrip()), line.split()[0]) for line in own]


def read_by_poppler(file: bytes, path: Path) -> list[tuple[int, str]]:
    """Return the depth and type of each element that poppler finds."""
    path.write_bytes(file)
    read = subprocess.run(["pdfinfo", "-struct", path], capture_output=True, text=True, check=True)
    # It does not know the attributes of fields for filling by hand (PDF 1.7, 14.8.5.6).
    known = r"Syntax Warning: Wrong Attribute '(Role|checked)' in element Form\n"
    assert re.sub(known, "", read.stderr) == ""
    lines = re.findall(
        r"^((?:  )*)([A-Za-z][A-Za-z0-9]*)(?: <\w+>)?(?: \(\w+\))?:?$", read.stdout, re.MULTILINE
    )
    return [(len(indent), kind) for indent, kind in lines]


@cache
def tagged(case: Case) -> bytes | None:
    """Return the tagged file of a case, None when it has errors or a password."""
    source = case.source.decode()
    if "tagged=" not in source:
        source = re.sub(r"<document\b", '<document tagged="true"', source, count=1)
    source = re.sub(r"<security\b[^>]*/>", "", source)
    template = prepare_template(source.encode())
    try:
        return render(template, case.payload, options=OPTIONS, resources=FolderImages()).pdf
    except AuthoringError:
        return None


def is_element(line: str) -> bool:
    """Return whether a line of a written structure is an element, not a text or a link."""
    return line.lstrip()[0].isupper()


def read_by_pdfium(file: bytes) -> Iterator[str]:
    """Return the types of the elements that pdfium finds on any page."""
    document = pdfium.FPDF_LoadMemDocument64(file, len(file), None)
    for number in range(pdfium.FPDF_GetPageCount(document)):
        page = pdfium.FPDF_LoadPage(document, number)
        tree = pdfium.FPDF_StructTree_GetForPage(page)
        for at in range(pdfium.FPDF_StructTree_CountChildren(tree)):
            yield from types_in(pdfium.FPDF_StructTree_GetChildAtIndex(tree, at))
        pdfium.FPDF_StructTree_Close(tree)
        pdfium.FPDF_ClosePage(page)
    pdfium.FPDF_CloseDocument(document)


def types_in(element: Any) -> Iterator[str]:
    size = pdfium.FPDF_StructElement_GetType(element, None, 0)
    written = ctypes.create_string_buffer(size)
    pdfium.FPDF_StructElement_GetType(element, written, size)
    yield written.raw.decode("utf-16-le").rstrip("\0")
    for at in range(pdfium.FPDF_StructElement_CountChildren(element)):
        inner = pdfium.FPDF_StructElement_GetChildAtIndex(element, at)
        if inner:
            yield from types_in(inner)
