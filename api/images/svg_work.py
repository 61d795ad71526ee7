"""What drawing an SVG takes at least: its style rules, and the path segments that are certainly drawn.

The engine counts while it draws; some of that depends on style sheets, masks and patterns. Here only
what every render counts is counted: nothing that can be drawn is refused (decision 0200).
"""

from __future__ import annotations

import re
from typing import Final

from api.images.refusal import too_much
from shared.limits import MAX_SVG_RULES, MAX_SVG_SEGMENTS

_COMMENT: Final = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
_BRACE: Final = re.compile(r"[{}]")
_AT_RULE_HEAD: Final = re.compile(r"@([A-Za-z-]{0,20})[^;{]*+[;{]?")

# Styles that may keep a shape from being drawn, or from being drawn as it stands.
_HIDING: Final = re.compile(
    r"display|visibility|opacity|clip|mask|transform|none|transparent|url|rgb|hsl|var|inherit"
    r"|initial|unset|revert|fill|stroke",
    re.IGNORECASE,
)
_HIDING_ATTRIBUTES: Final = frozenset(
    {"display", "visibility", "opacity", "fill-opacity", "stroke-opacity", "clip-path", "mask"}
    | {"requiredExtensions", "systemLanguage", "requiredFeatures", "stroke"}
)
_PLAIN_COLOR: Final = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_PLAIN_MOVE: Final = re.compile(
    r"(?:translate\(-?[0-9]{1,4}(?:\.[0-9]{1,9})?[ ,]-?[0-9]{1,4}(?:\.[0-9]{1,9})?\)"
    r"|(?:rotate|scale)\(-?[0-9]{1,3}(?:\.[0-9]{1,9})?\)){0,1}"
)
_GROUPS: Final = frozenset({"g", "a"})
_FEW: Final = 4  # segments of what may be a mere line, whose inside is not painted

# Path data (SVG 2, 9.3). Possessive, so one pass; for `|(?!)` see decision 0173.
_NUMBER: Final = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++|(?!))?+"
_NUMBERS: Final = re.compile(_NUMBER)
_ARGUMENTS: Final = re.compile(rf"(?:[\s,]*+{_NUMBER}|(?!))*+")
_COMMANDS: Final = re.compile(r"([MmZzLlHhVvCcSsQqTt])([^MmZzLlHhVvCcSsQqTtAa]*+)")
_BLANK: Final = re.compile(r"[\s,]*+\Z")
_COUNTS: Final = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2}


class Element:
    """An element of the SVG namespace; `text` is kept of style sheets alone."""

    __slots__ = ("attributes", "children", "href", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], href: str) -> None:
        self.tag = tag
        self.attributes = attributes
        self.href = href
        self.children: list[Element] = []
        self.text: list[str] | None = None


# --- style rules ------------------------------------------------------------------------------------


def check_rules(sheets: list[str]) -> None:
    """Refuse style sheets of more rules than are read."""
    if sum(map(_count_selectors, sheets)) > MAX_SVG_RULES:
        raise too_much("style rules", MAX_SVG_RULES)


def _count_selectors(text: str) -> int:
    text = _COMMENT.sub("", text.replace("<!--", "").replace("-->", ""))
    count = at = 0
    while (at := _skip_space(text, at)) < len(text):
        head = _AT_RULE_HEAD.match(text, at)
        if head is not None:
            at = _end_of_block(text, head.end()) if head[0].endswith("{") else head.end()
            continue
        brace = text.find("{", at)
        if brace < 0:
            break
        end = text.find("}", brace)
        count += text.count(",", at, brace) + 1
        at = (len(text) if end < 0 else end) + 1
    return count


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _end_of_block(text: str, at: int) -> int:
    depth = 1
    for brace in _BRACE.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


# --- path segments ----------------------------------------------------------------------------------


def check_segments(root: Element, identities: dict[str, Element], sheets: list[str]) -> None:
    """Refuse a drawing whose plainly filled paths alone have more segments than are drawn."""
    if not any(_HIDING.search(sheet) for sheet in sheets):
        _Counter(identities).count_children(root)


class _Counter:
    def __init__(self, identities: dict[str, Element]) -> None:
        self._identities = identities
        self._entered: set[Element] = set()
        self._known: dict[Element, int] = {}
        self._total = 0

    def count_children(self, element: Element) -> None:
        if not _is_plain(element):
            return
        for child in element.children:
            self._count(child)

    def _count(self, element: Element) -> None:
        if element.tag in _GROUPS:
            self.count_children(element)
        elif element.tag in _SHAPES and _is_plain(element):
            self._add(element)
        elif element.tag == "use" and _is_plain(element) and element.href.startswith("#"):
            target = self._identities.get(element.href[1:])
            if target is not None and target not in self._entered:
                self._entered.add(target)
                self._count(target)
                self._entered.discard(target)

    def _add(self, element: Element) -> None:
        known = self._known.get(element)
        if known is None:
            known = self._known[element] = _SHAPES[element.tag](element)
        self._total += known if known > _FEW else 0
        if self._total > MAX_SVG_SEGMENTS:
            raise too_much("path segments", MAX_SVG_SEGMENTS)


def _is_plain(element: Element) -> bool:
    """Tell whether nothing on an element may hide it or what is in it."""
    given = element.attributes
    if not _HIDING_ATTRIBUTES.isdisjoint(given) or _HIDING.search(given.get("style", "")):
        return False
    fill = given.get("fill")
    if fill is not None and not _PLAIN_COLOR.fullmatch(fill):
        return False
    return bool(_PLAIN_MOVE.fullmatch(given.get("transform", "")))


def _count_path(element: Element) -> int:
    """Count the segments up to the first arc or error: one of no length has none."""
    count, at, is_closed = 0, 0, False
    data = element.attributes.get("d", "").lstrip(" \t\r\n\f\v,")
    if data[:1] not in ("M", "m"):
        return 0
    while match := _COMMANDS.match(data, at):
        at, kind, text = match.end(), match[1].upper(), match[2]
        if kind == "Z":
            count += not is_closed
            is_closed = True
            if not _BLANK.match(text):
                break
            continue
        good = _ARGUMENTS.match(text)
        assert good is not None  # it matches the empty text too
        repeats, left = divmod(len(_NUMBERS.findall(good[0])), _COUNTS[kind])
        count += repeats
        is_closed = is_closed and not repeats
        if left or not repeats or not _BLANK.match(text, good.end()):
            break
    return count


def _count_points(element: Element) -> int:
    return len(_NUMBERS.findall(element.attributes.get("points", ""))) // 2


_SHAPES: Final = {"path": _count_path, "polyline": _count_points, "polygon": _count_points}
