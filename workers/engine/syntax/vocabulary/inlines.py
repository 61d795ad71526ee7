"""The elements that stand in lines."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.choices import CHARACTERS, UNSPOKEN, without
from workers.engine.syntax.vocabulary.properties import COMMON, PROPERTIES
from workers.engine.syntax.vocabulary.specs import Content, attribute, element, required

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
    element(
        "ref", "A reference to an element: its text, its number, or the page it stands on, which links to it. It may not stand in what pages repeat.", Content.EMPTY,
        required("to", n.TARGET, "The id of the element; headings of Markdown have one too."),
        attribute("show", v.choice("text", "number", "page"), "What is shown of it.", "text"),
        UNSPOKEN, without(CHARACTERS, "direction"),
    ),
    element(
        "mark", "A place that the index leads to, or the text that is indexed.", Content.INLINE,
        required("term", n.TERM, "The term, and after a comma a term below it, up to three levels; a comma that is meant is written `\\,`."),
        COMMON, CHARACTERS,
    ),
    element("br", "A line break.", Content.EMPTY),
)  # fmt: skip
