"""Every element and attribute of the language, declared once (language.md 1.5 and 1.6).

The checks, the cascade, LANGUAGE.md and the editor schema all read from here. What stands here
works; what does not work yet is not declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.syntax.vocabulary.blocks import BLOCK_ELEMENTS
from workers.engine.syntax.vocabulary.inlines import INLINE_ELEMENTS
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NUMBER_PROPERTIES,
    POSITIONS,
    PROPERTIES,
    TEXT_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import (
    BLOCKS,
    INLINE,
    AttributeSpec,
    Content,
    ElementSpec,
    Group,
)
from workers.engine.syntax.vocabulary.structure import MAX_BLEED, STRUCTURE
from workers.engine.syntax.vocabulary.tables import TABLE_ELEMENTS

__all__ = [
    "BLOCKS",
    "BOX_PROPERTIES",
    "BREAK_PROPERTIES",
    "COMMON",
    "ELEMENTS",
    "INLINE",
    "MAX_BLEED",
    "NUMBER_PROPERTIES",
    "POSITIONS",
    "PROPERTIES",
    "TEXT_PROPERTIES",
    "AttributeSpec",
    "Content",
    "ElementSpec",
    "Group",
]

ELEMENTS: Final[Mapping[str, ElementSpec]] = MappingProxyType(
    {spec.name: spec for spec in (*STRUCTURE, *BLOCK_ELEMENTS, *TABLE_ELEMENTS, *INLINE_ELEMENTS)}
)
