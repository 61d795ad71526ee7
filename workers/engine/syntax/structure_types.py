"""The structure type (PDF 1.7, 14.8.4) of every element of the language, for tagged documents.

`NO_STRUCTURE_TYPE` is for elements that are not drawn, are artifacts, or whose content belongs to the
element around them. Layout puts the content of every other element under a structure element of
its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NO_STRUCTURE_TYPE: Final = "none"

STRUCTURE_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "document": "Document",
        "flow": "Part",
        **{f"h{level}": f"H{level}" for level in range(1, 7)},
        "p": "P",
        "pre": "Code",  # within a P: Code is an inline-level type in PDF 1.7
        "blockquote": "BlockQuote",
        "ul": "L",
        "ol": "L",
        "li": "LI",  # with Lbl and LBody
        "img": "Figure",
        "barcode": "Figure",
        "chart": "Figure",
        **dict.fromkeys(("input", "textarea", "select", "signature"), "Form"),  # with its widget
        "table": "Table",
        "caption": "Caption",
        "thead": "THead",
        "tbody": "TBody",
        "tfoot": "TFoot",
        "tr": "TR",
        "th": "TH",
        "td": "TD",
        "toc": "TOC",  # contains TOCI, Reference and Link
        "index": "Index",
        "footnote": "Note",  # with Lbl; its call is a Reference
        "a": "Link",
        "ref": "Reference",  # with a Link
        # Transparent: the content has structure types of its own.
        **dict.fromkeys(
            (
                *("div", "box", "figure", "row", "grid", "group", "markdown", "insert", "endnotes"),
                *("qr-bill", "payment-slip"),
            ),
            NO_STRUCTURE_TYPE,
        ),
        # Inline text; a Span is added where its language differs.
        **dict.fromkeys(
            ("span", "b", "i", "u", "s", "sub", "sup", "code", "bdi", "mark", "br"),
            NO_STRUCTURE_TYPE,
        ),
        # Artifacts: repeated content and separators.
        **dict.fromkeys(("page", "header", "footer", "area", "watermark", "hr"), NO_STRUCTURE_TYPE),
        # Not drawn.
        **dict.fromkeys(
            ("data", "json", "sample", "field", "dataset", "let", "assert", "total", "running"),
            NO_STRUCTURE_TYPE,
        ),
        **dict.fromkeys(("style", "color", "font", "security", "attachment"), NO_STRUCTURE_TYPE),
        **dict.fromkeys(("break", "col", "series", "axis", "option"), NO_STRUCTURE_TYPE),
        **dict.fromkeys(
            ("import", "messages", "message", "part", "einvoice", "else", "use", "slot"),
            NO_STRUCTURE_TYPE,
        ),
    }
)
