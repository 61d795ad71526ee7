"""Every PDF that a test makes is sound: qpdf's own code reads it, and finds nothing to say.

A tagged one is accessible as well: it fails no condition of PDF/UA-1 that a program can decide
(`tests/engine/finish/accessibility_rules.py`), whether it promises to conform or not.

Looked at are what the engine makes in this process, joined files too, what tests hand to `note_pdf`
(answers of a farm that runs elsewhere), and the files that a test leaves in its folder, in archives
too. A PDF is looked at once in a run, however often it is made; a damaged one fails the test that made
it. Where `qpdf` is installed, it checks the first of each file of tests as well. Clients of a farm
that is harmed look at each answer as they get it, with `find_problems`.

What only looks like a PDF to the code under test is none: files of the fake workers begin with
`%PDF` and no line of a version. A file that cannot be opened without its password is left to the
tests of finishing, unless it came from the engine, which knows the password.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Final

import pikepdf
import pytest

from tests.engine.finish.accessibility_rules import find_violations

# Damaged on purpose: the test that makes it, by its name, and why.
DAMAGED: Final[dict[str, str]] = {
    "tests/system/test_uploads.py::test_damaged_files_are_refused_or_drawn_and_never_fail": (
        "a JPEG is embedded as it is, and some decoders pass over damage that others report"
    )
}
# Inaccessible on purpose: the test that makes it, the conditions that it fails, and why.
INACCESSIBLE: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "tests/engine/paint/test_shaped.py::test_hostile_text_is_set_in_bounded_time": (
        ("31-016",),
        "a cluster of thousands of characters is wider than a font program can say, which is 65 em",
    ),
    "tests/system/test_uploads.py::test_an_upload_that_is_stored_is_drawn": (
        ("31-009", "31-027", "7.21"),
        "a stored PDF has Helvetica without its font program, which is drawn as it is",
    ),
    "tests/engine/pdf_pages/test_pages.py::test_inline_images_forms_groups_states_patterns_and_type_3_fonts_are_drawn": (
        ("31-027", "7.21"),
        "the stored PDF has a Type 3 font without a map to Unicode, which is drawn as it is",
    ),
}

_IS_PDF: Final = re.compile(rb"%PDF-\d\.\d[\r\n]")
# Pages of a file whose tags are looked at outside of `long` tests: a full page of a table takes 35 ms.
_MOST_PAGES: Final = 100
_LARGEST_ARCHIVE: Final = 50_000_000  # bytes of a PDF in an archive
_seen: set[tuple[bytes, float]] = set()  # digests, and the most pages that were looked at
WAITING: list[tuple[bytes, str]] = []
_checked_by_program: set[Path] = set()


def note_pdf(data: bytes, *, password: str = "") -> bytes:
    """Register a PDF to be checked after the test, and return it; other data are ignored."""
    if _IS_PDF.match(data):
        WAITING.append((data, password))
    return data


def find_problems(data: bytes, *, password: str = "", most_pages: float = _MOST_PAGES) -> list[str]:
    """Return qpdf's findings about a PDF, and those about its tags if it has few enough pages."""
    try:
        with pikepdf.open(io.BytesIO(data), password=password) as pdf:
            found = [*pdf.check_pdf_syntax(), *map(str, pdf.get_warnings())]
            is_tagged = "/StructTreeRoot" in pdf.Root and len(pdf.pages) <= most_pages
        if found or not is_tagged:
            return found
        return find_violations(data, password=password)
    except pikepdf.PasswordError:
        return []
    except pikepdf.PdfError as error:
        return [str(error)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Check the PDFs that a test has made, after it has passed."""
    _watch_engine()
    WAITING.clear()
    try:
        yield
        note_files(item)
        expected, _ = INACCESSIBLE.get(item.nodeid.partition("[")[0], ((), ""))
        problems = [
            problem
            for found in check_waiting(item)
            for problem in found
            if not problem.startswith(expected)
        ]
    finally:
        WAITING.clear()
    if problems and item.nodeid not in DAMAGED:
        pytest.fail(f"{item.nodeid} made a damaged PDF: " + "; ".join(problems[:10]))


def check_waiting(item: pytest.Item) -> Iterator[list[str]]:
    most_pages = inf if item.get_closest_marker("long") else _MOST_PAGES
    for data, password in WAITING:
        key = sha256(data).digest(), most_pages
        if key in _seen:
            continue
        found = find_problems(data, password=password, most_pages=most_pages)
        if not found:
            _seen.add(key)
            found = _ask_program(data, password, item.path)
        yield found


def _ask_program(data: bytes, password: str, tests: Path) -> list[str]:
    """Return the findings of the program qpdf about the first PDF of a test file."""
    program = shutil.which("qpdf")
    if program is None or tests in _checked_by_program or password:
        return []
    _checked_by_program.add(tests)
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        command = [program, "--check", file.name]
        done = subprocess.run(command, capture_output=True, check=False)
    return [] if done.returncode == 0 else [done.stderr.decode(errors="replace")[:500]]


def note_files(item: pytest.Item) -> None:
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder is None:
        return
    for file in sorted(Path(folder).rglob("*.pdf")):
        note_pdf(file.read_bytes())
    for file in sorted(Path(folder).rglob("*.zip")):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    if entry.filename.endswith(".pdf") and entry.file_size < _LARGEST_ARCHIVE:
                        note_pdf(archive.read(entry))


def _watch_engine() -> None:
    """Register the engine's PDFs, once a test has loaded the engine."""
    pipeline = sys.modules.get("workers.engine.pipeline")
    if pipeline is not None and not hasattr(pipeline.write_pdf, "__wrapped__"):
        pipeline.write_pdf = _noting_finished(pipeline.write_pdf)
    merged = sys.modules.get("workers.engine.merged_pdf")
    if merged is not None and not hasattr(merged.MergedPart.close, "__wrapped__"):
        merged.MergedPart.close = _noting_parts(merged.MergedPart.close)
        merged.distribute_parts = _noting_joined(merged.distribute_parts)


def _noting_finished(write_pdf: Callable[..., bytes]) -> Callable[..., bytes]:
    @wraps(write_pdf)
    def noting(laid_out: Any, description: Any, security: Any = None, **given: Any) -> bytes:
        password = "" if security is None else security.user_password or ""
        return note_pdf(write_pdf(laid_out, description, security, **given), password=password)

    return noting


def _noting_parts(close: Callable[..., bytes | None]) -> Callable[..., bytes | None]:
    @wraps(close)
    def noting(part: Any) -> bytes | None:
        written = close(part)
        return None if written is None else note_pdf(written)

    return noting


def _noting_joined(distribute_parts: Callable[..., list[int]]) -> Callable[..., list[int]]:
    @wraps(distribute_parts)
    def noting(parts: Any, outs: Sequence[BinaryIO], metadata: Any, **given: Any) -> list[int]:
        copies = [_Copy(out) for out in outs]
        counts = distribute_parts(parts, copies, metadata, **given)
        for copy in copies:
            note_pdf(b"".join(copy.written))
        return counts

    return noting


class _Copy:
    """Writes what may be a pipe, and keeps what was written."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.written.append(data)
        return self._out.write(data)
