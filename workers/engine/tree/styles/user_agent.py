"""The user-agent style sheet (CSS Cascade 5, 6.2): built-in styles of elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from workers.engine.data_tables import read_groups
from workers.engine.syntax.vocabulary import PROPERTIES

# The word is translated where the number is made (elements/inlines.py).
DEFAULT_FIGURE_NUMBER: Final = "Figure 1:"


def _read_declarations(written: str) -> dict[str, str]:
    declarations = (declaration.partition(": ") for declaration in written.split("; "))
    return {name: value for name, _, value in declarations}


_SHEET: Final = {
    group: {name: _read_declarations(written) for name, written in styles.items()}
    for group, styles in read_groups(__package__, "user_agent.txt").items()
}
DECLARATIONS: Final = _SHEET["element"]
LIST_DECLARATIONS: Final = _SHEET["list"]  # of elements in list items
ENTRY_DECLARATIONS: Final = _SHEET["entry"]

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
    tag: {**BUILT_IN[tag], **_parse_plain(written)} for tag, written in _SHEET["markdown"].items()
}
BUILT_IN_NOTES: Final = {tag: _parse_plain(written) for tag, written in _SHEET["note"].items()}
BUILT_IN_LISTS: Final = _parse(DECLARATIONS | LIST_DECLARATIONS)  # for content of list items
