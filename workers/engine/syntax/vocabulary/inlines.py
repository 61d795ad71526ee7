"""The elements that stand in lines."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.choices import CHARACTERS
from workers.engine.syntax.vocabulary.properties import COMMON, PROPERTIES
from workers.engine.syntax.vocabulary.specs import Content, element, required

INLINE_ELEMENTS: Final = (
    element(
        "span", "Text with properties of its own.", Content.INLINE, COMMON, CHARACTERS,
        PROPERTIES["background"],
    ),
    *(
        element(name, doc, Content.INLINE, COMMON, CHARACTERS)
        for name, doc in (
            ("b", "Bold text."), ("i", "Italic text."), ("u", "Underlined text."), ("s", "Struck-through text."),
            ("sub", "Text set low and small."), ("sup", "Text set high and small."), ("code", "Text in the mono font."),
        )
    ),
    element(
        "a", "A link.", Content.INLINE,
        required("href", v.LINK, "Address, or # and the id of an element."),
        COMMON, CHARACTERS,
    ),
    element("br", "A line break.", Content.EMPTY),
)  # fmt: skip
