"""The rule that every PDF of the tests is sound would notice one that is not."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from tests import soundness
from tests.engine.paint.drawing import page, text
from tests.golden.case import OPTIONS
from workers.engine import merged, pipeline
from workers.engine.diagnostics import Findings
from workers.engine.finish.finisher import FinishOptions
from workers.engine.layout.display import LaidOut
from workers.engine.paint.press import print_pages
from workers.engine.ports import Metadata, NoWatch, Security


def whole() -> bytes:
    return print_pages(LaidOut([page(text(10, 20, "content"))], []))


def damaged() -> bytes:
    """Give a file that readers open, though a stream of it does not end as it must."""
    return whole().replace(b"endstream", b"endstraem", 1)


def noted() -> list[bytes]:
    """Take what waits to be looked at, so that this file's own damage fails no test."""
    waiting = [data for data, _ in soundness._waiting]
    soundness._waiting.clear()
    return waiting


def test_a_damaged_file_is_noticed():
    assert soundness.find_problems(whole()) == []
    assert soundness.find_problems(damaged()) != []
    assert soundness.find_problems(whole()[:-200]) != []


def test_what_the_engine_makes_in_a_test_is_looked_at():
    laid_out = LaidOut([page(text(10, 20, "content"))], [])
    locked = FinishOptions(Metadata(), Security("secret", None), "spare")
    for options in (FinishOptions(Metadata()), locked):
        file = pipeline.print_finished(laid_out, options, findings=Findings(), watch=NoWatch())
        [(data, password)] = soundness._waiting
        assert data == file
        assert soundness.find_problems(data, password=password) == []
        noted()


def test_what_joins_parts_to_a_stream_is_looked_at(tmp_path: Path):
    part = tmp_path / "part"
    part.write_bytes(whole())
    out = io.BytesIO()
    assert merged.join_parts([part], out, options=OPTIONS) == 1
    assert noted() == [out.getvalue()]


def test_a_test_that_makes_a_damaged_file_fails(request: pytest.FixtureRequest):
    soundness.note_pdf(damaged())
    [problems] = soundness._judge_waiting(request.node)
    noted()
    assert problems


def test_files_and_archives_that_a_test_leaves_are_looked_at(
    request: pytest.FixtureRequest, tmp_path: Path
):
    (tmp_path / "a.pdf").write_bytes(whole())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("b.pdf", damaged())
        file.writestr("index.json", "{}")
    (tmp_path / "b.zip").write_bytes(archive.getvalue())
    soundness._note_files(request.node)
    assert noted() == [whole(), damaged()]
    (tmp_path / "b.zip").unlink()


def test_what_is_no_pdf_is_passed_over():
    assert soundness.note_pdf(b"%PDF-1.7 scripted") == b"%PDF-1.7 scripted"
    assert noted() == []
