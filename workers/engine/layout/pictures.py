"""Pictures of one document: each is fetched and prepared once, wherever it stands."""

from __future__ import annotations

from workers.engine.diagnostics import Findings, Place
from workers.engine.layout.context import Context
from workers.engine.layout.images.prepare import load_picture
from workers.engine.layout.problems import Problem
from workers.engine.layout.svg.drawing import Drawable, VectorImage
from workers.engine.tree.nodes import AnyImage, Source, read_image


def find_picture(
    context: Context, picture: AnyImage | str | bytes, source: Source | None
) -> Drawable | Problem:
    """Give a picture, or why it cannot be drawn; a style has the checked value alone.

    What of an SVG is left out, and the characters in it that no font has, are told once, at the
    element that draws it first.
    """
    if isinstance(picture, str | bytes):
        picture = read_image(picture)
    key = ("picture", picture)
    known: Drawable | Problem | None = context.memory.get(key)
    if known is None:
        known = context.memory[key] = load_picture(picture, context.resources)
        if not isinstance(known, Problem):
            warn_left_out(known, None if source is None else source.place, context.findings)
        if isinstance(known, VectorImage) and known.missing:
            context.tell_missing(known.missing, source)
    return known


def warn_left_out(image: Drawable, place: Place | None, findings: Findings) -> None:
    """Warn of what of an SVG is not drawn."""
    if isinstance(image, VectorImage) and image.left_out:
        places = () if place is None else (place,)
        what = ", ".join(image.left_out)
        findings.warn("svg-left-out", f"The SVG image is drawn without {what}", *places)
