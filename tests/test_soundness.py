"""The rule that every PDF of the tests is sound would notice one that is not."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from tests import soundness
from tests.engine.paint.drawing import page, text
from workers.engine import pipeline
from workers.engine.diagnostics import Findings
from workers.engine.layout.display import LaidOutDocument
from workers.engine.paint.writer import write_pages
from workers.engine.ports import PdfMetadata, Security


def whole() -> bytes:
    return write_pages(LaidOutDocument([page(text(10, 20, "content"))], []))


def damaged() -> bytes:
    """Return a PDF that readers open, though one of its streams ends wrongly."""
    return whole().replace(b"endstream", b"endstraem", 1)


def noted() -> list[bytes]:
    """Remove and yield the registered PDFs, so that this file's damaged ones fail no test."""
    waiting = [data for data, _ in soundness.WAITING]
    soundness.WAITING.clear()
    return waiting


def test_a_damaged_file_is_noticed():
    assert soundness.find_problems(whole()) == []
    assert soundness.find_problems(damaged()) != []
    assert soundness.find_problems(whole()[:-200]) != []


def test_pdfs_made_in_a_test_are_checked():
    laid_out = LaidOutDocument([page(text(10, 20, "content"))], [])
    for security in (None, Security("secret", None)):
        file = pipeline.write_pdf(laid_out, PdfMetadata(), security, findings=Findings())
        [(data, password)] = soundness.WAITING
        assert data == file
        assert soundness.find_problems(data, password=password) == []
        noted()


def test_a_test_that_makes_a_damaged_file_fails(request: pytest.FixtureRequest):
    soundness.note_pdf(damaged())
    [problems] = soundness.check_waiting(request.node)
    noted()
    assert problems


def test_files_and_archives_left_by_a_test_are_checked(
    request: pytest.FixtureRequest, tmp_path: Path
):
    (tmp_path / "a.pdf").write_bytes(whole())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("b.pdf", damaged())
        file.writestr("index.json", "{}")
    (tmp_path / "b.zip").write_bytes(archive.getvalue())
    soundness.note_files(request.node)
    assert noted() == [whole(), damaged()]
    (tmp_path / "b.zip").unlink()


def test_data_that_are_not_a_pdf_are_ignored():
    assert soundness.note_pdf(b"%PDF-1.7 scripted") == b"%PDF-1.7 scripted"
    assert noted() == []
