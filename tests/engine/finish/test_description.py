"""The metadata of a file are written with its pages, and stay as the finisher adds to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from tests.engine.paint.drawing import opened, page, text
from workers.engine.diagnostics import Findings
from workers.engine.finish import finisher
from workers.engine.finish.finisher import FinishOptions
from workers.engine.layout.display import LaidOutDocument
from workers.engine.pipeline import write_pdf
from workers.engine.ports import (
    UNDATED,
    ArchiveProfile,
    Attachment,
    ConformanceProfiles,
    DocumentInfo,
    Metadata,
    RenderOptions,
    Security,
)

FULL = Metadata(
    DocumentInfo(
        title="Rechnung (Nr. 1) \\ <&> Größe 漢",
        author="A. Author",
        subject="Line\nend\x01",
        keywords="one, two",
        lang="de-DE",
    ),
    RenderOptions(UNDATED, template_id="invoice", template_version=3, template_sha256="ab" * 32),
    payload_sha256="cd" * 32,
)


def laid_out() -> LaidOutDocument:
    return LaidOutDocument([page(text(10, 20, "content"))], [])


def printed_and_finished(options: FinishOptions) -> bytes:
    return write_pdf(laid_out(), options, findings=Findings())


def test_a_document_that_only_needs_metadata_is_written_once(monkeypatch):
    monkeypatch.setattr(finisher, "pikepdf", None)
    assert b"Rechnung" in printed_and_finished(FinishOptions(FULL))


@pytest.mark.parametrize(
    "options",
    [
        FinishOptions(replace(FULL, options=RenderOptions(UNDATED, is_draft=True))),
        FinishOptions(FULL, Security(None, "owner")),
        FinishOptions(FULL, profiles=ConformanceProfiles(ArchiveProfile.PDF_A_2B)),
        FinishOptions(
            FULL, attachments=(Attachment("data.txt", b"data", "text/plain", date(2026, 3, 2)),)
        ),
    ],
)
def test_a_document_that_needs_more_is_passed_to_the_finisher(options):
    assert not options.needs_metadata_only
    with opened(printed_and_finished(options)) as pdf:
        assert str(pdf.docinfo.Title) == FULL.info.title
