"""The inline elements."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax import numbers as n
from workers.engine.syntax import values as v
from workers.engine.syntax.vocabulary.attribute_sets import (
    COMMON_WITHOUT_LANG,
    INLINE_TEXT,
    TERM,
    TEXT,
    only,
    without,
)
from workers.engine.syntax.vocabulary.properties import (
    BOX_PROPERTIES,
    BREAK_PROPERTIES,
    COMMON,
    NOTE_PROPERTIES,
    NUMBER_PROPERTIES,
    PROPERTIES,
)
from workers.engine.syntax.vocabulary.specs import (
    ContentModel,
    attribute,
    element,
    expression,
    fixed,
    required,
)

INLINE_ELEMENTS: Final = (
    element(
        "span", "Inline text with its own properties.", ContentModel.INLINE, TERM, COMMON, INLINE_TEXT,
        PROPERTIES["background"],
    ),
    *(
        element(name, doc, ContentModel.INLINE, TERM, COMMON, INLINE_TEXT)
        for name, doc in (
            ("b", "Bold text."), ("i", "Italic text."), ("u", "Underlined text."), ("s", "Struck-through text."),
            ("sub", "Subscript."), ("sup", "Superscript."), ("code", "Text in the monospaced font."),
            ("bdi", "Text set apart from the text around it, which it does not reorder; its direction is that of its first letter unless given."),
        )
    ),
    element(
        "a", "A link: its text, and the images, bar codes and charts in it.", ContentModel.INLINE,
        required("href", v.LINK, "URL, or # and the id of an element."),
        COMMON, INLINE_TEXT,
    ),
    element(
        "ref", "A cross-reference: shows the text, number or page of an element, and links to it. It is not allowed in repeated content.", ContentModel.EMPTY,
        required("to", n.TARGET, "Id of the element; headings of Markdown have one too."),
        attribute("show", v.choice("text", "number", "page"), "What to show.", "text"),
        COMMON_WITHOUT_LANG, without(INLINE_TEXT, "direction"),
    ),
    element(
        "mark", "An index entry: marks a position, or the text inside.", ContentModel.INLINE,
        required("term", n.TERM, "The term, with subterms after commas, up to three levels; `\\,` is a literal comma."),
        COMMON, INLINE_TEXT,
    ),
    element(
        "running", "Sets a running value from this place on, which [headers, footers and boxes](#pages) of pages show, such as the section or the customer of a page. It is not drawn.", ContentModel.EMPTY,
        *fixed(required("name", v.VARIABLE, "Name of the value.")),
        expression("value", "The value, shown as text.", is_required=True),
        without(COMMON_WITHOUT_LANG, "id", "class"),
    ),
    element("br", "A line break.", ContentModel.EMPTY),
)  # fmt: skip


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
