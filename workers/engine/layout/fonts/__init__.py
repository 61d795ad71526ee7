"""The fixed font set: faces by family, what they cover, how wide text is, and how it is written."""

from workers.engine.layout.fonts.faces import Face, written_text
from workers.engine.layout.fonts.families import (
    ALIASES,
    FAMILIES,
    OTHER_NAMES,
    find_face,
    find_missing,
    split_by_face,
)
from workers.engine.layout.fonts.shaping import (
    Cluster,
    ShapedWord,
    Shaper,
    find_shaper,
    is_cursive,
    needs_shaping,
    shape_word,
)

__all__ = [
    "ALIASES",
    "FAMILIES",
    "OTHER_NAMES",
    "Cluster",
    "Face",
    "ShapedWord",
    "Shaper",
    "find_face",
    "find_missing",
    "find_shaper",
    "is_cursive",
    "needs_shaping",
    "shape_word",
    "split_by_face",
    "written_text",
]
