"""Each golden page has the same text for every reader, and none warns: programs of others, in their own languages.

PDFium's text is compared with the written one in tests/engine/test_extraction.py; here it is what
the text of the others is compared with.
"""

from __future__ import annotations

import io
import logging
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pikepdf
import pymupdf
import pypdf
import pypdfium2
import pytest
from pdfminer.high_level import extract_text
from playwright.sync_api import Browser

from tests.golden.case import find_cases
from tests.golden.test_files import made

Pages = list[str]

# What readers leave out or add that is not a matter of codes.
CLIPPED = {"areas", "letterhead", "overflow"}  # MuPDF, Poppler and pdf.js leave out what is cut off
# MuPDF, Poppler and Ghostscript read the values of fields.
FIELDS = {"forms", "forms-overflow", "spot-color"}
ODD = {
    ("poppler", "missing-glyph"),  # a watermark of one box larger than the page
    ("pdfjs", "missing-glyph"),
    ("pdfjs", "emoji"),  # leaves out sequences that end with a character without a shape
}
# Hyphens at line ends, which some readers take back, and what is not drawn.
UNSEEN = dict.fromkeys([0xAD, 0x2010, 0xFFFE, *range(0x200B, 0x2010), *range(0x2028, 0x202F)])
UNSEEN |= dict.fromkeys([ord("-"), *range(0x2060, 0x2070)])
# Brackets in text from right to left: some readers give the mirrored character.
MIRRORED = str.maketrans(")]}»”", "([{«“")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """Write each golden case that is made without an error and opens without a password."""
    folder = tmp_path_factory.mktemp("golden")
    found = {}
    for case in find_cases():
        file = made(case)
        if file is not None and opens(file):
            found[case.name] = folder / f"{case.name}.pdf"
            found[case.name].write_bytes(file)
    return found


def opens(file: bytes) -> bool:
    try:
        pikepdf.open(io.BytesIO(file)).close()
    except pikepdf.PasswordError:
        return False
    return True


@pytest.fixture(scope="module")
def expected(files) -> dict[str, Pages]:
    return {name: read_by_pdfium(path) for name, path in files.items()}


def read_by_pdfium(path: Path) -> Pages:
    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_range() for page in document]


def read_by_pdfminer(path: Path) -> Pages:
    return extract_text(path).split("\f")[:-1]


def read_by_pypdf(path: Path) -> Pages:
    return [page.extract_text() for page in pypdf.PdfReader(path).pages]


def read_by_mupdf(path: Path) -> Pages:
    with pymupdf.open(path) as document:
        texts = [page.get_text() for page in document]
    told = pymupdf.TOOLS.mupdf_warnings()
    # Cells of a chart's data have a text and no glyphs: they are lines and marks.
    assert all(one.startswith(("ActualText with no position", "...")) for one in told.splitlines())
    return texts


def read_by_poppler(path: Path) -> Pages:
    command = ["pdftotext", str(path), "-"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    if path.stem != "print-files":  # its profile of a press is one of the tests, without a way back
        assert done.stderr == ""
    return done.stdout.split("\f")[:-1]


@pytest.mark.parametrize(
    "read",
    [read_by_pdfminer, read_by_pypdf, read_by_mupdf, read_by_poppler],
    ids=["pdfminer", "pypdf", "mupdf", "poppler"],
)
def test_pages_have_the_same_text_for_each_reader(
    read: Callable[[Path], Pages], files, expected, caplog
):
    reader = read.__name__.removeprefix("read_by_")
    compare(reader, {name: read(path) for name, path in files.items()}, expected)
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    # pdfminer says of one file that it forbids to copy its text, which it does.
    assert [one for one in told if "certificates.pdf" not in one] == []


def test_pages_have_the_same_text_for_pdfjs(files, expected, chromium: Browser, pdfjs: Path):
    page = chromium.new_page()
    page.route("**/*", lambda route: answer(route, {**files}, pdfjs))
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.goto("http://localhost/")
    script = Path(__file__).with_name("pdfjs") / "text.js"
    texts = page.evaluate(script.read_text().partition("\n")[2], [*files])
    page.close()
    assert told == []
    compare("pdfjs", dict(zip(files, texts, strict=True)), expected)


def answer(route: Any, files: dict[str, Path], library: Path) -> None:
    name = route.request.url.rpartition("/")[2]
    if name.endswith(".pdf"):
        route.fulfill(body=files[name.removesuffix(".pdf")].read_bytes())
    elif name.endswith(".mjs"):
        route.fulfill(body=(library / name).read_bytes(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>Text</title>", content_type="text/html")


def test_pages_have_the_same_text_for_ghostscript(files, expected, tmp_path):
    # Ghostscript 10.0 garbles what a code says by several UTF-16 units: ligatures, clusters, emoji.
    plain = {name: path for name, path in files.items() if not any(map(is_long, said_in(path)))}
    assert len(plain) > 90
    command = [
        "gs",
        "-q",
        "-sDEVICE=txtwrite",
        "-o",
        str(tmp_path / "%d"),
        *map(str, plain.values()),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    at, texts = 0, {}
    for name in plain:
        numbers = range(at + 1, at + 1 + len(expected[name]))
        texts[name] = [(tmp_path / str(number)).read_text() for number in numbers]
        at = numbers.stop - 1
    compare("ghostscript", texts, expected)


def said_in(path: Path) -> Iterator[str]:
    """Yield what each code of the fonts of a file says, in hexadecimal."""
    with pikepdf.open(path) as pdf:
        for font in pdf.objects:
            if isinstance(font, pikepdf.Dictionary) and "/ToUnicode" in font:
                for line in font.ToUnicode.read_bytes().decode().splitlines():
                    yield line.partition("> <")[2].rstrip(">")


def is_long(said: str) -> bool:
    return len(said) > 4


def compare(reader: str, texts: dict[str, Pages], expected: dict[str, Pages]) -> None:
    """Compare texts of pages, but for white space, order and what the reader is known for."""
    wrong = {}
    for name, pages in texts.items():
        if (reader, name) in ODD:
            continue
        assert len(pages) == len(expected[name]), name
        for number, (text, wanted) in enumerate(zip(pages, expected[name], strict=True), 1):
            found, right = characters(text), characters(wanted)
            surplus = Counter() if name in FIELDS else found - right
            missing = Counter() if name in CLIPPED else right - found
            if surplus or missing:
                wrong[f"{name}, page {number}"] = "".join(surplus), "".join(missing)
    assert wrong == {}


def characters(text: str) -> Counter[str]:
    normal = unicodedata.normalize("NFKC", text).translate(UNSEEN).translate(MIRRORED)
    return Counter("".join(normal.split()))
