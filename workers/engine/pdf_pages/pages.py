"""Import of one page of a PDF: its content and resources as a form, upright and in its crop box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from workers.engine.pdf_pages.file import DecodedBudget, PdfFile, read_numbers
from workers.engine.pdf_pages.objects import (
    ObjectBuilder,
    Parts,
    PdfObject,
    Stream,
    UnusablePdfError,
    damaged,
)
from workers.engine.pdf_pages.resources import Facts, ResourceCopier
from workers.engine.pdf_writer import PreparedObject
from workers.engine.prepared_images import UPRIGHT, Matrix

MAX_SIDE: Final = 14_400.0  # points: 5 m, the most that PDF 1.7 allows
_LETTER: Final = (0.0, 0.0, 612.0, 792.0)  # where a page has no box, as viewers do
_UNDRAWN: Final = ("Link", "Popup")  # annotations that paper does not show

# From the unit square of the page's box to that of the page as it is shown, by clockwise degrees.
_ROTATIONS: Final[Mapping[int, Matrix]] = {
    0: UPRIGHT,
    90: (0, -1, 1, 0, 0, 1),
    180: (-1, 0, 0, -1, 1, 1),
    270: (0, 1, -1, 0, 1, 0),
}


@dataclass(frozen=True, slots=True, eq=False)
class ImportedPage:
    """A page of a PDF ready to be placed, like a prepared image: a form in the unit square.

    `omitted` names what the page shows and the form does not.
    """

    key: str
    width_points: float
    height_points: float
    form: PreparedObject
    memory_bytes: int
    pages: int  # of the whole file
    omitted: tuple[str, ...]
    facts: Facts
    matrix: Matrix = UPRIGHT


def import_page(data: bytes, number: int, key: str) -> ImportedPage:
    """Import a page by its number from 1; `key` identifies it among images.

    Scripts, forms, links, annotations and attachments are not imported, nor any entry that drawing does
    not need. Embedded fonts and pictures are kept as they are; what archives ask of them is in `facts`.

    Raises:
        UnusablePdfError: the file is damaged, encrypted or over a limit, or has no such page.
    """
    try:
        return _import(data, number, key)
    except RecursionError:
        raise damaged("its objects are nested too deeply") from None


def _import(data: bytes, number: int, key: str) -> ImportedPage:
    budget, builder = DecodedBudget(len(data)), ObjectBuilder()
    file = PdfFile(data, budget)
    page, count = file.find_page(number)
    if page is None:
        what = "1 page" if count == 1 else f"{count:,} pages"
        raise UnusablePdfError(
            f"The PDF has {what}, and page {number} is drawn", advice="Correct `page`."
        )
    box, rotation = _read_box(file, page), _read_rotation(file, page)
    unit = _read_unit(file, page)
    width, height = (box[2] - box[0]) * unit, (box[3] - box[1]) * unit
    if rotation in (90, 270):
        width, height = height, width
    copier = ResourceCopier(file, budget, builder)
    head: Parts = [_write_head(box, rotation)]
    form = builder.make(copier.write_form(_read_content(file, page), page, head, box))
    copier.check_texts()
    facts = copier.facts
    if facts.has_icc_cmyk and facts.has_overprint_mode:
        facts.breaches["overprint mode 1 in a CMYK profile (6.2.4.2)"] = None
    return ImportedPage(
        key=key,
        width_points=width,
        height_points=height,
        form=form,
        memory_bytes=builder.size,
        pages=count,
        omitted=_find_omitted(file, page),
        facts=facts,
    )


def _read_content(file: PdfFile, page: Mapping[str, PdfObject]) -> bytes:
    """Return the content of a page; a token never continues in the next of its streams (7.8.2)."""
    contents = file.resolve(page.get("Contents"))
    streams = contents if isinstance(contents, list) else [contents]
    found = (file.resolve(each) for each in streams)
    return b"\n".join(file.decode(stream).data for stream in found if isinstance(stream, Stream))


def _read_box(file: PdfFile, page: Mapping[str, PdfObject]) -> tuple[float, float, float, float]:
    """Return the crop box within the media box.

    Raises:
        UnusablePdfError: it is empty, or too large.
    """
    media = _read_rectangle(file, page.get("MediaBox")) or _LETTER
    crop = _read_rectangle(file, page.get("CropBox")) or media
    box = (
        max(crop[0], media[0]),
        max(crop[1], media[1]),
        min(crop[2], media[2]),
        min(crop[3], media[3]),
    )
    if box[2] - box[0] < 1 or box[3] - box[1] < 1:
        box = media
    if not all(1 <= side <= MAX_SIDE for side in (box[2] - box[0], box[3] - box[1])):
        raise UnusablePdfError(
            f"The page of the PDF has sides of {box[2] - box[0]:.0f} and {box[3] - box[1]:.0f} points; "
            f"1 to {MAX_SIDE:,.0f} are drawn"
        )
    return box


def _read_rectangle(file: PdfFile, value: PdfObject) -> tuple[float, float, float, float] | None:
    corners = read_numbers(file, file.resolve_list(value))
    if len(corners) != 4:
        return None
    left, right = sorted((corners[0], corners[2]))
    bottom, top = sorted((corners[1], corners[3]))
    return left, bottom, right, top


def _read_rotation(file: PdfFile, page: Mapping[str, PdfObject]) -> int:
    value = file.resolve(page.get("Rotate"))
    return round(value / 90) * 90 % 360 if _is_number(value) else 0


def _read_unit(file: PdfFile, page: Mapping[str, PdfObject]) -> float:
    value = file.resolve(page.get("UserUnit"))
    return float(value) if _is_number(value) and 0.01 <= value <= 100 else 1.0


def _is_number(value: PdfObject) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _write_head(box: tuple[float, float, float, float], rotation: int) -> bytes:
    """Return the entries of a form whose matrix maps its box to the unit square, turned upright."""
    left, bottom, right, top = box
    across, up = 1 / (right - left), 1 / (top - bottom)
    a, b, c, d, e, f = _ROTATIONS[rotation]
    matrix = (
        *(a * across, b * across, c * up, d * up),
        *(e - a * across * left - c * up * bottom, f - b * across * left - d * up * bottom),
    )
    return b"/Type /XObject /Subtype /Form /BBox [%b] /Matrix [%b]" % (
        b" ".join(b"%.10g" % corner for corner in box),
        b" ".join((b"%.12f" % value).rstrip(b"0").rstrip(b".") for value in matrix),
    )


def _find_omitted(file: PdfFile, page: Mapping[str, PdfObject]) -> tuple[str, ...]:
    """Return the kinds of annotations of a page that a reader of its paper would miss."""
    found: dict[str, None] = {}
    for value in file.resolve_list(page.get("Annots"))[:1000]:
        annotation = file.resolve_dictionary(value)
        kind = str(file.resolve(annotation.get("Subtype")))
        flags = file.resolve(annotation.get("F"))
        is_hidden = isinstance(flags, int) and bool(flags & 0b100010)  # hidden, or on paper only
        if kind not in _UNDRAWN and "AP" in annotation and not is_hidden:
            found["form fields" if kind == "Widget" else "annotations"] = None
    return tuple(found)
