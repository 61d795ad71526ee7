"""The font set of the product: faces by family, their coverage, metrics, encoding and shaping."""

from workers.engine.fonts.faces import Face, encodable_text
from workers.engine.fonts.families import (
    EXTRA_FAMILIES,
    FAMILIES,
    FAMILY_ALIASES,
    GENERIC_FAMILIES,
    find_face,
    find_missing,
    needs_extra_fonts,
    split_by_face,
)
from workers.engine.fonts.ligatures import JoinedTexts
from workers.engine.fonts.shaping import (
    Cluster,
    ShapedWord,
    Shaper,
    find_shaper,
    has_effect,
    has_ligatures,
    is_cursive,
    needs_shaping,
    shape_word,
)

__all__ = [
    "EXTRA_FAMILIES",
    "FAMILIES",
    "FAMILY_ALIASES",
    "GENERIC_FAMILIES",
    "Cluster",
    "Face",
    "JoinedTexts",
    "ShapedWord",
    "Shaper",
    "encodable_text",
    "find_face",
    "find_missing",
    "find_shaper",
    "has_effect",
    "has_ligatures",
    "is_cursive",
    "needs_extra_fonts",
    "needs_shaping",
    "shape_word",
    "split_by_face",
]
