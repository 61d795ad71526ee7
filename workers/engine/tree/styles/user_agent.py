"""The user-agent style sheet (CSS Cascade 5, 6.2): built-in styles of elements (language.md 1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from workers.engine.syntax.vocabulary import PROPERTIES

# The word is translated where the number is made (elements/figure_words.py).
DEFAULT_FIGURE_NUMBER: Final = "Figure 1:"
_FIELD: Final = {
    "border": "0.5pt solid #6b7280",
    "padding": "0.6mm 1.2mm",
    "text-align": "start",
    "margin-bottom": "2mm",
}
DECLARATIONS: Final[dict[str, dict[str, str]]] = {
    "p": {"margin-bottom": "2mm"},
    "h1": {"font-size": "18pt", "margin-bottom": "4mm"},
    "h2": {"font-size": "14pt", "margin-top": "4mm", "margin-bottom": "2.5mm"},
    "h3": {"font-size": "12pt", "margin-top": "3mm", "margin-bottom": "2mm"},
    "h4": {"font-size": "10pt", "margin-top": "2mm", "margin-bottom": "1.5mm"},
    "h5": {"font-size": "10pt", "margin-top": "2mm", "margin-bottom": "1.5mm"},
    "h6": {"font-size": "10pt", "margin-top": "2mm", "margin-bottom": "1.5mm"},
    "ul": {"margin-bottom": "2mm", "padding-left": "6mm"},
    "ol": {"margin-bottom": "2mm", "padding-left": "6mm"},
    "li": {"margin-bottom": "0.5mm"},
    # In narrow cells of many rows lines are broken one after the other: it takes half the time.
    "table": {"margin-bottom": "2mm", "text-wrap": "stable"},
    "toc": {"margin-bottom": "4mm"},
    "index": {"margin-bottom": "2mm"},
    "footnote": {
        "font-size": "80%",
        "line-height": "1.3",
        "number": "1",
        "counter": "footnote",
        "number-width": "4mm",
        "margin-bottom": "0.6mm",
    },
    "endnotes": {"margin-bottom": "2mm"},
    "chart": {"font-size": "80%"},
    **dict.fromkeys(("input", "textarea", "select"), _FIELD),
    "signature": {"border": _FIELD["border"], "margin-bottom": _FIELD["margin-bottom"]},
    "caption": {"margin-bottom": "1mm"},
    "thead": {"border-bottom": "0.5pt solid black"},
    "tr": {"break-inside": "avoid"},
    "th": {"font-weight": "bold"},
    "hr": {"margin-top": "2mm", "margin-bottom": "2mm", "border-top": "0.5pt solid black"},
    "figure": {"margin-top": "2mm", "margin-bottom": "2mm", "break-inside": "avoid"},
    "payment-slip": {
        "border": "0.75pt solid black",
        "padding": "4mm",
        "margin-bottom": "2mm",
        "break-inside": "avoid",
    },
    "blockquote": {"margin": "0 8mm 2mm 8mm"},
    "pre": {"margin-bottom": "2mm", "font-family": "JetBrains Mono", "white-space": "pre"},
    "code": {"font-family": "JetBrains Mono"},
    "b": {"font-weight": "bold"},
    "i": {"font-style": "italic"},
    "u": {"text-decoration": "underline"},
    "s": {"text-decoration": "line-through"},
    "sub": {"vertical-align": "sub", "font-size": "70%"},
    "bdi": {"direction": "auto"},
    "sup": {"vertical-align": "super", "font-size": "70%"},
}
for _heading in ("h1", "h2", "h3", "h4", "h5", "h6"):
    DECLARATIONS[_heading] |= {"font-weight": "bold", "break-after": "avoid", "line-height": "1.2"}

# A list in an item keeps the distance of items: no other margin.
_BETWEEN_ITEMS: Final = DECLARATIONS["li"]["margin-bottom"]
LIST_DECLARATIONS: Final[dict[str, dict[str, str]]] = {
    name: {**DECLARATIONS[name], "margin-top": _BETWEEN_ITEMS, "margin-bottom": "0"}
    for name in ("ul", "ol")
}

# Paragraphs of a note have the distance of notes.
NOTE_DECLARATIONS: Final[dict[str, dict[str, str]]] = {
    "p": {"margin-bottom": DECLARATIONS["footnote"]["margin-bottom"]}
}

# Code in Markdown wraps: its author has no say in how wide the column is.
MARKDOWN_DECLARATIONS: Final[dict[str, dict[str, str]]] = {"pre": {"white-space": "pre-wrap"}}

# The entries of contents and indexes by level, the first entry of a letter of an index, what
# belongs to notes, and alerts of Markdown.
_ENTRY: Final = {"text-align": "start", "text-indent": "0", "white-space": "normal"}
_INDEX_ENTRY: Final = {**_ENTRY, "text-indent": "-4mm"}
ENTRY_DECLARATIONS: Final[dict[str, dict[str, str]]] = {
    "toc-1": {**_ENTRY, "margin-top": "1.5mm"},
    **{f"toc-{level}": {**_ENTRY, "margin-left": f"{6 * level - 6}mm"} for level in range(2, 7)},
    **{
        f"index-{level}": {**_INDEX_ENTRY, "padding-left": f"{4 * level}mm"}
        for level in range(1, 4)
    },
    "index-letter": {"margin-top": "2.5mm"},
    "figure-caption": {
        "font-size": "90%",
        "margin-top": "1mm",
        "margin-bottom": "1mm",
        "number": DEFAULT_FIGURE_NUMBER,
        "counter": "figure",
    },
    "alert": {
        "margin-top": "2mm",
        "margin-bottom": "3mm",
        "padding": "1.5mm 3mm 0.5mm 3mm",
    },
    # GitHub's colours.
    **{
        f"alert-{kind}": {"border-left": f"1mm solid {line}", "background": ground}
        for kind, line, ground in (
            ("note", "#0969da", "#ddf4ff"),
            ("tip", "#1a7f37", "#dafbe1"),
            ("important", "#8250df", "#fbefff"),
            ("warning", "#9a6700", "#fff8c5"),
            ("caution", "#cf222e", "#ffebe9"),
        )
    },
    "alert-title": {"font-weight": "bold", "margin-bottom": "1mm", "break-after": "avoid"},
    "footnote-call": {"vertical-align": "super", "font-size": "70%"},
    "footnote-rule": {
        "margin-top": "3mm",
        "margin-bottom": "1.5mm",
        "width": "30%",
        "border-top": "0.5pt solid black",
    },
}

_SIDES: Final = ("top", "right", "bottom", "left")
Properties = Mapping[str, Any]  # values as syntax.values parses them, shorthands expanded
NO_PROPERTIES: Final[Properties] = MappingProxyType({})


def expand_shorthands(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return shorthands as their four sides; a side given by itself overrides the shorthand."""
    spread_out: dict[str, Any] = {}
    for name in ("margin", "padding"):
        if values.get(name) is not None:
            for side, value in zip(_SIDES, values[name], strict=True):
                spread_out[f"{name}-{side}"] = value
    if values.get("border") is not None:
        for side in _SIDES:
            spread_out[f"border-{side}"] = values["border"]
    shorthands = ("margin", "padding", "border")
    return spread_out | {name: v for name, v in values.items() if name not in shorthands}


# Built-in margins above blocks are not applied at the top of a page, box or cell.
_BETWEEN: Final = {"margin-top": "margin-between"}


def _parse_plain(written: Mapping[str, str]) -> dict[str, Any]:
    parsed = expand_shorthands(
        {name: PROPERTIES[name].value_type.parse(text) for name, text in written.items()}
    )
    return {_BETWEEN.get(name, name): value for name, value in parsed.items()}


def _parse(declarations: Mapping[str, Mapping[str, str]]) -> Mapping[str, Properties]:
    parsed = {tag: _parse_plain(written) for tag, written in declarations.items()}
    for tag in ("ul", "ol"):  # markers are at the start of lines, which may be on the right
        parsed[tag]["padding-start"] = parsed[tag].pop("padding-left")
    return MappingProxyType(parsed)


_AT_START: Final = {"margin-left": "margin-start", "padding-left": "padding-start"}
BUILT_IN: Final = _parse(DECLARATIONS)
BUILT_IN_ENTRIES: Final = {
    # Entries are indented at the start of lines too; the styles of the author say left and right.
    name: {_AT_START.get(key, key): value for key, value in _parse_plain(written).items()}
    for name, written in ENTRY_DECLARATIONS.items()
}
BUILT_IN_MARKDOWN: Final = {
    tag: {**BUILT_IN[tag], **_parse_plain(written)}
    for tag, written in MARKDOWN_DECLARATIONS.items()
}
BUILT_IN_NOTES: Final = {tag: _parse_plain(written) for tag, written in NOTE_DECLARATIONS.items()}
BUILT_IN_LISTS: Final = _parse(DECLARATIONS | LIST_DECLARATIONS)  # for content of list items
