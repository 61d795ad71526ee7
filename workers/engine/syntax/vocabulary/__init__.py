"""Every element and attribute of the language, declared once, in `elements.txt` and `properties`.

The checks, the cascade, LANGUAGE.md and the editor schema are all derived from it. It declares
implemented features only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.syntax.vocabulary.elements import read_elements
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NUMBER_PROPERTIES,
    PROPERTIES,
    TEXT_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import (
    BLOCKS,
    GROUP_LIKE,
    INLINE,
    AttributeSpec,
    ContentModel,
    ElementSpec,
)

ELEMENTS: Final[Mapping[str, ElementSpec]] = read_elements()
