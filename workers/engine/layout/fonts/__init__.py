"""The fixed font set: faces by family, what they cover, how wide text is, and how it is written."""

from workers.engine.layout.fonts.faces import Face, written_text
from workers.engine.layout.fonts.families import (
    ALIASES,
    FAMILIES,
    find_face,
    find_missing,
    split_by_face,
)

__all__ = [
    "ALIASES",
    "FAMILIES",
    "Face",
    "find_face",
    "find_missing",
    "split_by_face",
    "written_text",
]
