"""The pictures of one document: each is loaded and prepared once, however often it is used."""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.context import LayoutContext
from workers.engine.layout.images.prepare import Drawable, load_image
from workers.engine.layout.problems import ContentProblem
from workers.engine.pdf_pages import ImportedPage
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import VectorImage
from workers.engine.tree.image_sources import ImageSource, parse_image_source
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Container, Image, Source
from workers.engine.units import mm

_MAX_STRETCHED: Final = 1.03  # a bleed of 3 mm beside an A5 page without one


_PICTURES: Final[Kind[ImageSource, Drawable | ContentProblem]] = Kind()


def find_picture(
    context: LayoutContext, picture: ImageSource | str | bytes, source: Source | None
) -> Drawable | ContentProblem:
    """Return a prepared picture, or the problem why it cannot be drawn.

    Styles hold the unparsed value, which is parsed here. Parts of an SVG or PDF that are not drawn, and
    characters of an SVG without a glyph, are reported once, at the first element that draws it.
    """
    parsed = parse_image_source(picture) if isinstance(picture, str | bytes) else picture

    def load() -> Drawable | ContentProblem:
        image = load_image(parsed, context.resources)
        if not isinstance(image, ContentProblem):
            warn_of_omissions(image, None if source is None else source.location, context.findings)
        if isinstance(image, VectorImage) and image.missing:
            context.report_missing_glyphs(image.missing, source)
        return image

    return context.memo.remember(_PICTURES, parsed, load)


def warn_of_stretching(
    image: Drawable, width: float, height: float, place: SourceLocation | None, findings: Findings
) -> None:
    """Warn of a page of a PDF that fills paper of other proportions, such as one across."""
    if not isinstance(image, ImportedPage):
        return
    stretched = width * image.height_points / (height * image.width_points)
    if max(stretched, 1 / stretched) > _MAX_STRETCHED:
        across, down = (side / mm(1) for side in (image.width_points, image.height_points))
        findings.warn(
            "background-stretched",
            f"The page of the PDF has {across:.0f} × {down:.0f} mm and is stretched to the "
            f"{width / mm(1):.0f} × {height / mm(1):.0f} mm of the paper; use one of its proportions",
            *(() if place is None else (place,)),
        )


def find_fallback(context: LayoutContext, node: Image) -> Container | None:
    """Return what is laid out in place of an image that cannot be drawn, None for other images."""
    if node.fallback is None:
        return None
    prepared = find_picture(context, node.picture, node.source)
    if not isinstance(prepared, ContentProblem):
        return None
    warn_of_missing(context, node, prepared)
    return node.fallback


def warn_of_missing(context: LayoutContext, node: Image, problem: ContentProblem) -> None:
    """Warn about an optional image that cannot be drawn."""
    message = f"{problem.text}; {describe_consequence(node)}"
    context.findings.warn(problem.code, message, node.source.location)


def describe_consequence(node: Image) -> str:
    """Return the end of a message about an optional image that cannot be drawn."""
    return "it is left out" if node.fallback is None else "its alternative text is drawn"


def warn_of_omissions(image: Drawable, place: SourceLocation | None, findings: Findings) -> None:
    """Warn about the parts of an SVG, or of a page of a PDF, that are not drawn."""
    if isinstance(image, PreparedImage) or not image.omitted:
        return
    places = () if place is None else (place,)
    what = ", ".join(image.omitted)
    if isinstance(image, VectorImage):
        findings.warn("svg-left-out", f"The SVG image is drawn without {what}", *places)
    else:
        findings.warn("pdf-left-out", f"The page of the PDF is drawn without {what}", *places)
