"""The least work of drawing an SVG: its style rules, and the path segments certainly drawn.

The engine counts while it draws; some of that depends on style sheets, masks and patterns. Here only
what every render counts is counted: nothing that can be drawn is refused (decision 0200).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from api.images.refusal import too_much
from shared.limits import MAX_SVG_RULES, MAX_SVG_SEGMENTS

_COMMENT: Final = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
_BRACE: Final = re.compile(r"[{}]")
_AT_RULE_HEAD: Final = re.compile(r"@([A-Za-z-]{0,20})[^;{]*+[;{]?")

# What a style sheet says that may keep a shape from being drawn, or from being drawn as it stands.
_HIDING: Final = re.compile(
    r"display|visibility|opacity|clip|mask|transform|fill|stroke|all|inherit|var", re.IGNORECASE
)
# Properties that may hide an element, with the values that do not.
_SHOWN: Final = {
    "display": ("inline", "block"),
    "visibility": ("visible",),
    "opacity": ("1",),
    "fill-opacity": ("1",),
    "stroke-opacity": ("1",),
    "clip-path": ("none",),
    "mask": ("none",),
}
_CONDITIONS: Final = frozenset({"requiredExtensions", "systemLanguage", "requiredFeatures"})
_READ: Final = frozenset({*_SHOWN, "fill", "stroke", "stroke-width", "transform"})
# Attributes that decide whether and how a shape is painted.
DECISIVE: Final = frozenset({*_READ, *_CONDITIONS, "style"})
_PLAIN_COLOR: Final = re.compile(r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_PLAIN_WIDTH: Final = re.compile(
    r"(?:[1-9][0-9]{0,4}(?:\.[0-9]{1,9})?|0?\.0{0,3}[1-9][0-9]{0,9})(?:px)?"
)
_PLAIN_MOVE: Final = re.compile(
    r"(?:translate\(-?[0-9]{1,4}(?:\.[0-9]{1,9})?[ ,]-?[0-9]{1,4}(?:\.[0-9]{1,9})?\)"
    r"|rotate\(-?[0-9]{1,3}(?:\.[0-9]{1,9})?\)){0,1}"
)
_PLAIN_SCALE: Final = re.compile(r"scale\(-?[0-9]{1,3}(?:\.[0-9]{1,9})?\)")
_GROUPS: Final = frozenset({"g", "a"})
_FEW: Final = 4  # segments of what may be a mere line, whose inside is not painted

# Path data (SVG 2, 9.3). Possessive, so one pass; for `|(?!)` see decision 0173.
_NUMBER: Final = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++|(?!))?+"
_NUMBERS: Final = re.compile(_NUMBER)
_ARGUMENTS: Final = re.compile(rf"(?:[\s,]*+{_NUMBER}|(?!))*+")
_COMMANDS: Final = re.compile(r"([MmZzLlHhVvCcSsQqTt])([^MmZzLlHhVvCcSsQqTtAa]*+)")
_LETTERS: Final = (*"MmZzLlHhVvCcSsQqTt", "")
_ARGUMENT: Final = rf"[\s,]*+{_NUMBER}"
# A command with the arguments of one segment.
_SINGLE: Final = re.compile(
    rf"(?:[MmLlTt]{_ARGUMENT * 2}|[HhVv]{_ARGUMENT}|[Cc]{_ARGUMENT * 6}|[SsQq]{_ARGUMENT * 4})[\s,]*+"
)
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
    """Refuse a drawing whose plainly painted paths alone have more segments than are drawn."""
    if any(_HIDING.search(sheet) for sheet in sheets):
        return
    # Scaled unevenly, a line may become nothing.
    is_even = root.attributes.get("preserveAspectRatio", "xMidYMid") == "xMidYMid"
    paint = _Paint(fill=True, stroke=False, line=is_even)
    for count in (_measure, _count_exactly):  # most drawings are far below the bound
        counter = _Counter(identities, count)
        counter.count_children(root, paint)
        if counter.total <= MAX_SVG_SEGMENTS:
            return
    raise too_much("path segments", MAX_SVG_SEGMENTS)


class _Paint(NamedTuple):
    """What is certain: that shapes are filled, that they are stroked, that a stroke would have a width."""

    fill: bool
    stroke: bool
    line: bool


class _Counter:
    """Adds the segments of what is certainly painted, until they are too many."""

    def __init__(self, identities: dict[str, Element], measure: Callable[[Element], int]) -> None:
        self.total = 0
        self._identities = identities
        self._measure = measure
        self._entered: set[Element] = set()
        self._known: dict[Element, int] = {}

    def count_children(self, element: Element, around: _Paint) -> None:
        paint = _paint_of(element, around)
        if paint is not None:
            for child in element.children:
                self._count(child, paint)

    def _count(self, element: Element, around: _Paint) -> None:
        if element.tag in _GROUPS:
            self.count_children(element, around)
        elif element.tag in _SHAPES:
            self._add(element, around)
        elif element.tag == "use" and element.href.startswith("#"):
            target = self._identities.get(element.href[1:])
            paint = _paint_of(element, around)
            if target is not None and paint is not None and target not in self._entered:
                self._entered.add(target)
                self._count(target, paint)
                self._entered.discard(target)

    def _add(self, element: Element, around: _Paint) -> None:
        paint = _paint_of(element, around)
        times = paint.fill + (paint.stroke and paint.line) if paint else 0
        if not times or self.total > MAX_SVG_SEGMENTS:
            return
        known = self._known.get(element)
        if known is None:
            known = self._known[element] = self._measure(element)
        if known > _FEW:
            self.total += known * times


def _paint_of(element: Element, around: _Paint) -> _Paint | None:
    """Return how shapes in an element are certainly painted; None where something may hide them."""
    given = _read_properties(element)
    if given is None or any(
        given.get(name, shown[0]) not in shown for name, shown in _SHOWN.items()
    ):
        return None
    fill, stroke, line = around
    move = element.attributes.get("transform", "")
    if "transform" in given and not _PLAIN_MOVE.fullmatch(move):
        if not _PLAIN_SCALE.fullmatch(move):
            return None
        line = False
    if "fill" in given:
        fill = bool(_PLAIN_COLOR.fullmatch(given["fill"]))
    if "stroke" in given:
        stroke = bool(_PLAIN_COLOR.fullmatch(given["stroke"]))
    if "stroke-width" in given and not _PLAIN_WIDTH.fullmatch(given["stroke-width"]):
        line = False
    return _Paint(fill, stroke, line)


def _read_properties(element: Element) -> dict[str, str] | None:
    """Return the properties that matter, a `style` before attributes; None for what is not plain."""
    attributes = element.attributes
    if not _CONDITIONS.isdisjoint(attributes):
        return None
    given = {name: attributes[name] for name in _READ if name in attributes}
    for declaration in attributes.get("style", "").split(";"):
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name == "transform":
            return None
        if name in _READ:
            given[name] = value.strip()
    return given


def _measure(element: Element) -> int:
    """Return at least as many segments as a shape has: each takes a character or more."""
    given = element.attributes
    return len(given.get("d", "") if element.tag == "path" else given.get("points", ""))


def _count_exactly(element: Element) -> int:
    given = element.attributes
    return _count_path(given.get("d", "")) if element.tag == "path" else _count_points(given)


def _count_path(data: str) -> int:
    """Count the segments up to the first arc or error; an arc of no length has none."""
    count, at, is_closed = 0, 0, False
    data = data.lstrip(" \t\r\n\f\v,")
    if data[:1] not in ("M", "m"):
        return 0
    while count <= MAX_SVG_SEGMENTS:
        if (single := _SINGLE.match(data, at)) and data[
            single.end() : single.end() + 1
        ] in _LETTERS:
            at, count, is_closed = single.end(), count + 1, False
            continue
        match = _COMMANDS.match(data, at)
        if match is None:
            break
        at, kind, text = match.end(), match[1].upper(), match[2]
        if kind == "Z":
            count += not is_closed
            is_closed = True
            if not _BLANK.match(text):
                break
            continue
        good = _ARGUMENTS.match(text)
        assert good is not None  # it matches the empty text too
        repeats, left = divmod(_count_numbers(good[0], _COUNTS[kind]), _COUNTS[kind])
        count += repeats
        is_closed = is_closed and not repeats
        if left or not repeats or not _BLANK.match(text, good.end()):
            break
    return count


def _count_points(given: dict[str, str]) -> int:
    return _count_numbers(given.get("points", ""), 2) // 2


def _count_numbers(text: str, each: int) -> int:
    """Count numbers, up to those of one segment too many."""
    return sum(1 for _ in islice(_NUMBERS.finditer(text), each * (MAX_SVG_SEGMENTS + 1)))


_SHAPES: Final = frozenset({"path", "polyline", "polygon"})
