"""Every element and attribute of the language, declared once.

The checks, the cascade, LANGUAGE.md and the editor schema are all derived from it. It declares
implemented features only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.syntax.vocabulary.content import (
    BLOCK_ELEMENTS,
    CHART_ELEMENTS,
    FORM_ELEMENTS,
    INLINE_ELEMENTS,
    NOTE_ELEMENTS,
    TABLE_ELEMENTS,
)
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
from workers.engine.syntax.vocabulary.structure import STRUCTURE

ELEMENTS: Final[Mapping[str, ElementSpec]] = {
    spec.name: spec
    for spec in (
        *STRUCTURE,
        *BLOCK_ELEMENTS,
        *CHART_ELEMENTS,
        *FORM_ELEMENTS,
        *TABLE_ELEMENTS,
        *INLINE_ELEMENTS,
        *NOTE_ELEMENTS,
    )
}
