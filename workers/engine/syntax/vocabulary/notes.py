"""The elements of footnotes and endnotes."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax.vocabulary.attribute_sets import COMMON_WITHOUT_LANG, TEXT, only, without
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NOTE_PROPERTIES,
    NUMBER_PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import ContentModel, element

NOTE_ELEMENTS: Final = (
    element(
        "footnote", "A note, called by its number at this position and placed at the foot of the page or column, or in the next `endnotes` of the flow. The style `footnote-call` applies to the number in the text, `footnote-rule` to the rule above the notes. It is not allowed in repeated content or in another note.", ContentModel.BLOCKS,
        NUMBER_PROPERTIES, NOTE_PROPERTIES, only("margin-bottom", "break-inside", "orphans", "widows"), COMMON, TEXT,
    ),
    element(
        "endnotes", "Collects the notes of the flow since the last `endnotes`, or since its start, in place of footnotes.", ContentModel.EMPTY,
        COMMON_WITHOUT_LANG, BOX_PROPERTIES, without(BREAK_PROPERTIES, "orphans", "widows"),
    ),
)  # fmt: skip
