"""The canvas under a document: what it refuses, and what stays in the process after it."""

from __future__ import annotations

import pytest
from reportlab.pdfbase import pdfmetrics

from tests.engine.paint.drawing import page, printed, text
from workers.engine.paint.canvas_file import CanvasFile, EmbeddedFont, WrittenObject


def test_a_font_that_another_thread_registered_is_an_error_and_no_wrong_font(
    monkeypatch: pytest.MonkeyPatch,
):
    other = EmbeddedFont("F1", WrittenObject(b"<< /Type /Font >>"))
    register = pdfmetrics.registerFont

    def register_both(font: object) -> None:
        register(font)
        register(other)

    monkeypatch.setattr(pdfmetrics, "registerFont", register_both)
    with pytest.raises(RuntimeError, match="two threads"):
        CanvasFile().add_font("F1", WrittenObject(b"<< /Type /Font >>"))


def test_documents_leave_no_fonts_in_the_registry_but_empty_ones():
    printed(page(text(5, 20, "first")))
    before = set(pdfmetrics.getRegisteredFontNames())
    printed(page(text(5, 20, "second")))
    assert set(pdfmetrics.getRegisteredFontNames()) == before
    assert pdfmetrics.getFont("Pressroom F1").font is None
