"""Pictures of one document: each is fetched and prepared once, wherever it stands."""

from __future__ import annotations

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
        if isinstance(known, VectorImage) and known.left_out:
            places = () if source is None else (source.place,)
            what = ", ".join(known.left_out)
            context.findings.warn("svg-left-out", f"The SVG image is drawn without {what}", *places)
        if isinstance(known, VectorImage) and known.missing:
            context.tell_missing(known.missing, source)
    return known
