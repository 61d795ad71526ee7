"""Pictures of one document: each is fetched and prepared once, wherever it stands."""

from __future__ import annotations

from workers.engine.layout.context import Context
from workers.engine.layout.images.prepare import load_picture
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.problems import Problem
from workers.engine.tree.nodes import DataImage, StoredImage


def find_picture(
    context: Context, picture: StoredImage | DataImage | str | bytes
) -> PreparedImage | Problem:
    """Give a picture, or why it cannot be drawn; a style names it by its name or its bytes alone."""
    if isinstance(picture, str):
        picture = StoredImage(picture)
    elif isinstance(picture, bytes):
        picture = DataImage(picture)
    key = ("picture", picture)
    known: PreparedImage | Problem | None = context.memory.get(key)
    if known is None:
        known = context.memory[key] = load_picture(picture, context.resources)
    return known
