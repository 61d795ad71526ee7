"""What a file says of itself is the same, whether it is printed with it or finished with it."""

from __future__ import annotations

from dataclasses import replace

import pikepdf
import pytest

from tests.engine.paint.drawing import opened, page, text
from workers.engine.diagnostics import Findings
from workers.engine.finish import finisher
from workers.engine.finish.finisher import FinishOptions, finish
from workers.engine.finish.metadata import describe
from workers.engine.layout.display import LaidOut
from workers.engine.paint.press import print_pages
from workers.engine.pipeline import print_finished
from workers.engine.ports import Attachment, Metadata, NoWatch, Profile, Security

FULL = Metadata(
    title="Rechnung (Nr. 1) \\ <&> Größe 漢",
    author="A. Author",
    subject="Line\nend\x01",
    keywords="one, two",
    lang="de-DE",
    template_id="invoice",
    template_version=3,
    template_sha256="ab" * 32,
    payload_sha256="cd" * 32,
)


def laid_out() -> LaidOut:
    return LaidOut([page(text(10, 20, "content"))], [])


def printed_and_finished(options: FinishOptions) -> bytes:
    return print_finished(laid_out(), options, findings=Findings(), watch=NoWatch())


def said(pdf: pikepdf.Pdf) -> tuple[object, ...]:
    return (
        {name: str(value) for name, value in pdf.docinfo.items()},
        str(pdf.Root.Lang),
        pdf.Root.get("/ViewerPreferences"),
        pdf.Root.Metadata.read_bytes(),
    )


@pytest.mark.parametrize("metadata", [FULL, Metadata(), Metadata(title="a\ud800")])
def test_printed_and_finished_files_say_the_same(metadata):
    printed = print_pages(laid_out(), describe(metadata))
    finished = finish(print_pages(laid_out()), FinishOptions(metadata))
    with opened(printed) as one, opened(finished) as other:
        assert one.check_pdf_syntax() == []
        assert said(one) == said(other)


def test_what_needs_metadata_alone_is_not_written_twice(monkeypatch):
    monkeypatch.setattr(finisher.pikepdf, "open", None)
    assert b"Rechnung" in printed_and_finished(FinishOptions(FULL))


@pytest.mark.parametrize(
    "options",
    [
        FinishOptions(replace(FULL, is_draft=True)),
        FinishOptions(FULL, Security(None, "owner")),
        FinishOptions(FULL, profile=Profile.PDF_A_2B),
        FinishOptions(FULL, attachments=(Attachment("data.txt", b"data", "text/plain"),)),
    ],
)
def test_what_needs_more_is_finished(options):
    assert not options.is_plain
    with opened(printed_and_finished(options)) as pdf:
        assert str(pdf.docinfo.Title) == FULL.title
