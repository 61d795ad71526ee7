"""Previews for editors: the image of one page, the findings, and the source of its boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from workers.engine.diagnostics import AuthoringError, Findings
from workers.engine.finish.encryption import check_passwords
from workers.engine.layout.display import LaidOutDocument, LaidOutPage
from workers.engine.layout.pages.source_map import ElementBox
from workers.engine.layout.passes import PaginatedDocument, paginate
from workers.engine.paint.writer import write_pages
from workers.engine.pipeline import TOO_DEEP, PreparedTemplate, build_document, rendering, validate
from workers.engine.ports import (
    PART,
    Payload,
    RenderOptions,
    Resources,
    Stage,
    StageObserver,
    ignore_stage,
)
from workers.engine.raster import Raster, rasterise
from workers.engine.syntax.checks import check_usage

MAX_BOXES: Final = 5_000  # of one page; dense pages have some hundred


class PageFormat(StrEnum):
    """The file formats of a preview: lossless images, or a PDF of the page with the DRAFT mark."""

    PNG = "png"
    WEBP = "webp"
    PDF = "pdf"


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """Options of a preview: the page from 1, the scale in pixels per point, and the file format."""

    page: int
    scale: float
    format: PageFormat


@dataclass(frozen=True, slots=True)
class PreviewedPage:
    """One page of a document.

    `page` is its number from 1, at most that of the last page. `width` and `height` are those of the
    media box in points, including bleed and crop marks; `boxes` are relative to its upper left corner.
    `raster` is None if `data` is a PDF.
    """

    page: int
    width: float
    height: float
    data: bytes
    raster: Raster | None
    boxes: Sequence[Mapping[str, object]]
    boxes_left_out: int


@dataclass(frozen=True, slots=True)
class Preview:
    """The findings of a document, its number of pages, and one page.

    A document with errors that do not prevent layout, such as content that does not fit, has a page.
    """

    findings: Findings
    pages: int
    page: PreviewedPage | None


def preview(
    template: PreparedTemplate | None,
    payload: Payload | None,
    *,
    options: RenderOptions,
    preview_options: PreviewOptions,
    resources: Resources | None = None,
    observer: StageObserver = ignore_stage,
) -> Preview:
    """Lay out a document with its sample values and draw one page; errors are among the findings.

    Encryption and attachments of the document are ignored.
    """
    findings, options = Findings(), replace(options, with_sample=True)
    resources = resources or Resources()
    with rendering():
        try:
            observer(Stage.MERGE)
            document, merged = build_document(template, payload, options=options, findings=findings)
            assert merged.source.expanded is not None, "a built document has a tree"
            check_usage(merged.source.expanded, findings)
            if document.security is not None:
                check_passwords(document.security, findings)
            observer(Stage.LAYOUT)
            paginated = paginate(document, resources=resources, findings=findings)
            return _draw(paginated, preview_options, findings, observer)
        except RecursionError:
            findings.add(TOO_DEEP)
        except AuthoringError as error:
            # Validation finds further errors that this one may hide.
            findings.extend(validate(template, payload, options=options, resources=resources))
            findings.add_all(error.diagnostics)
    return Preview(findings, 0, None)


def _draw(
    paginated: PaginatedDocument,
    preview_options: PreviewOptions,
    findings: Findings,
    observer: StageObserver,
) -> Preview:
    """Draw all pages, which adds their findings, and write the requested one."""
    laid_out = paginated.draw()
    count = len(laid_out.pages)
    index = min(preview_options.page, count) - 1
    page: LaidOutPage | None = None
    for at, drawn in enumerate(laid_out.pages):
        if at == index:
            page = drawn
    assert page is not None, "a document has a page"
    observer(Stage.FINISH)
    boxes = paginated.find_boxes(index)
    outside = page.bleed + page.slug
    data, raster = _write_page(page, preview_options)
    shown = PreviewedPage(
        page=index + 1,
        width=round(page.width + 2 * outside, 3),
        height=round(page.height + 2 * outside, 3),
        data=data,
        raster=raster,
        boxes=tuple(_box_to_json(box, outside) for box in boxes[:MAX_BOXES]),
        boxes_left_out=max(len(boxes) - MAX_BOXES, 0),
    )
    return Preview(findings, count, shown)


def _write_page(page: LaidOutPage, preview_options: PreviewOptions) -> tuple[bytes, Raster | None]:
    """Return the file of a page, and its raster image if it has one."""
    is_file = preview_options.format is PageFormat.PDF
    pdf = write_pages(LaidOutDocument([page], []), replace(PART, is_draft=is_file))
    if is_file:
        return pdf, None
    is_webp = preview_options.format is PageFormat.WEBP
    raster = rasterise(pdf, scale=preview_options.scale, is_webp=is_webp)
    return raster.data, raster


def _box_to_json(box: ElementBox, outside: float) -> dict[str, object]:
    """Return a box as JSON: its rectangle in the media box, its source location, and loop indices."""
    written: dict[str, object] = {
        "x": round(box.x + outside, 2),
        "y": round(box.y + outside, 2),
        "width": round(box.width, 2),
        "height": round(box.height, 2),
        "source": box.place.to_source(),
    }
    if box.loop:
        written["loop"] = [{"name": step.name, "row": step.index} for step in box.loop]
    return written
