"""PDFs of one page made by hand, and documents that draw them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pikepdf
import pypdfium2
from pikepdf import Array, Dictionary, Name
from PIL import Image

from workers.engine.pdf_pages.pages import import_page
from workers.engine.pdf_writer import PreparedObject
from workers.engine.pipeline import prepare_template, render
from workers.engine.ports import RenderOptions

OPTIONS = RenderOptions(datetime(2026, 3, 2, tzinfo=UTC))
SIDE = 100  # points


def form(pdf: pikepdf.Pdf, content: bytes, **entries: Any) -> pikepdf.Object:
    """Return a form XObject of the size of a page."""
    box = {"BBox": Array([0, 0, SIDE, SIDE]), **entries}
    return pdf.make_stream(content, Type=Name.XObject, Subtype=Name.Form, **box)


def new_page(content: bytes = b"1 0 0 rg 0 0 50 50 re f", **resources: Any) -> pikepdf.Pdf:
    """Return a PDF of one page, to be changed and saved."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(SIDE, SIDE))
    page.obj.Contents = pdf.make_stream(content)
    page.obj.Resources = Dictionary(**resources)
    return pdf


def save(pdf: pikepdf.Pdf, **options: Any) -> bytes:
    out = io.BytesIO()
    pdf.save(out, static_id=True, **options)
    return out.getvalue()


def imported(data: bytes) -> bytes:
    """Return the objects of the first page of a file, each where it is referred to."""
    return b"".join(_write(import_page(data, 1, "k").form))


def _write(prepared: PreparedObject) -> Iterator[bytes]:
    for part in prepared.parts:
        if isinstance(part, PreparedObject):
            yield from _write(part)
        else:
            yield part


def drawn(data: bytes, page: int = 1, uses: int = 1, attributes: str = "") -> bytes:
    """Return a document that draws a page of a PDF on as many pages, as tall as it is wide."""
    address = f"data:application/pdf;base64,{base64.b64encode(data).decode()}"
    flow = "<break/>".join(["<p/>"] * uses)
    document = (
        f'<document title="t" lang="en" {attributes}><page size="{SIDE}pt {SIDE}pt" margin="0" '
        f'background-image="{address}" background-page="{page}"/><flow>{flow}</flow></document>'
    )
    return render(prepare_template(document.encode()), None, options=OPTIONS).pdf


def picture(pdf: bytes, number: int = 0) -> Image.Image:
    """Return a page in 100 × 100 pixels."""
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[number]
        scale = SIDE / max(page.get_size())
        return page.render(scale=scale).to_pil().convert("RGB")


def colours(pdf: bytes, *points: tuple[int, int]) -> list[str]:
    """Return the names of the colours at points from the upper left of the first page."""
    names = {
        (255, 0, 0): "red",
        (0, 128, 0): "green",
        (0, 0, 255): "blue",
        (255, 255, 255): "white",
    }
    image = picture(pdf)
    return [names.get(image.getpixel(point), str(image.getpixel(point))) for point in points]
