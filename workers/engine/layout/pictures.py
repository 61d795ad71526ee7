"""Pictures of one document: each is fetched and prepared once, wherever it stands."""

from __future__ import annotations

from workers.engine.layout.context import Context
from workers.engine.layout.images.prepare import load_picture
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.problems import Problem
from workers.engine.tree.nodes import AnyImage, read_image


def find_picture(context: Context, picture: AnyImage | str | bytes) -> PreparedImage | Problem:
    """Give a picture, or why it cannot be drawn; a style has the checked value alone."""
    if isinstance(picture, str | bytes):
        picture = read_image(picture)
    key = ("picture", picture)
    known: PreparedImage | Problem | None = context.memory.get(key)
    if known is None:
        known = context.memory[key] = load_picture(picture, context.resources)
    return known
