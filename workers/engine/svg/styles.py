"""Computed styles of SVG elements: presentation attributes, `style`, and rules with simple selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Final, NamedTuple

from workers.engine.data_tables import read_groups
from workers.engine.svg.reader import MAX_RULES, DrawingBudget, SvgElement, make_limit_error
from workers.engine.svg.values import (
    RGB,
    is_computed,
    simplify_value,
    to_color,
    to_length,
    to_opacity,
    to_reference,
)

_COMMENT: Final = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
_BRACE: Final = re.compile(r"[{}]")
_AT_RULE_HEAD: Final = re.compile(r"@([A-Za-z-]{0,20})[^;{]*+[;{]?")
_SIMPLE: Final = re.compile(
    r"""(?P<type>\*|[A-Za-z][\w-]*)|\#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)|:(?P<pseudo>[a-z-]+)
    |\[\s*(?P<name>[\w:|-]+)\s*(?:(?P<test>[~|^$*]?=)\s*(?P<quote>["']?)(?P<value>[^"'\]]*)(?P=quote)\s*)?\]""",
    re.ASCII | re.VERBOSE,
)
_COMBINATOR: Final = re.compile(r"\s*(>)\s*|\s+")
# Parts of selectors whose spaces and commas separate nothing.
_QUOTED: Final = re.compile(r"\[[^\]]*\]")
_MAX_COMPOUNDS: Final = 8
_IMPORTANT: Final = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)

Declarations = dict[str, str]


class Compound(NamedTuple):
    """A compound selector such as `type#id.class[name=value]:first-child`."""

    combinator: str  # to the compound before it: `>` for a child, empty for a descendant
    tag: str = ""  # empty for any
    element_id: str = ""  # empty for any
    classes: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str, str], ...] = ()  # name, test and value
    pseudo: tuple[str, ...] = ()

    def matches(self, element: SvgElement) -> bool:
        """Return whether an element matches."""
        return (
            (not self.tag or self.tag == element.tag)
            and (not self.element_id or self.element_id == element.attributes.get("id"))
            and self.classes <= element.classes
            and all(_has_attribute(element, *each) for each in self.attributes)
            and all(_PSEUDO[name](element) for name in self.pseudo)
        )


class StyleRule(NamedTuple):
    """One selector of a rule; `compounds` has its last one first."""

    specificity: tuple[int, int, int]
    order: int
    compounds: tuple[Compound, ...]
    declarations: Declarations
    important: Declarations

    def matches(self, element: SvgElement) -> bool:
        """Return whether an element matches."""
        return _matches(self.compounds, element)


class RuleIndex:
    """The rules of all `style` elements, indexed by the id, class or type of their last compound."""

    def __init__(self, texts: list[str], budget: DrawingBudget, omitted: dict[str, None]) -> None:
        self._budget = budget
        self._omitted = omitted
        self._rules: dict[str, list[StyleRule]] = {}
        self._count = 0
        self._inline_styles: dict[SvgElement, tuple[Declarations, Declarations]] = {}
        for text in texts:
            self._read(text)

    def find(self, element: SvgElement) -> list[StyleRule]:
        """Return the rules that match an element, in cascade order."""
        if not self._rules:
            return []
        element_id = "#" + element.attributes.get("id", "")
        keys = ["", element.tag, element_id, *("." + name for name in element.classes)]
        candidates = [rule for key in keys for rule in self._rules.get(key, ())]
        self._budget.count_rules(sum(100 if len(rule.compounds) > 1 else 1 for rule in candidates))
        found = [rule for rule in candidates if rule.matches(element)]
        return sorted(found, key=lambda rule: (rule.specificity, rule.order))

    def read_style_attribute(self, element: SvgElement) -> tuple[Declarations, Declarations]:
        """Return the normal and important declarations of a `style` attribute; parsed once for all copies."""
        cached = self._inline_styles.get(element)
        if cached is None:
            cached = self._inline_styles[element] = parse_declarations(
                element.attributes["style"], self.is_accepted
            )
        return cached

    def is_accepted(self, name: str, value: str) -> bool:
        """Return whether a declaration is valid and supported.

        Invalid paints, computed lengths and unsupported properties are recorded as omitted.
        """
        if name in UNSUPPORTED:
            if value and value not in CSS_WIDE_KEYWORDS and not value.startswith(UNSUPPORTED[name]):
                self._omitted[f"the property `{name}`"] = None
            return False
        valid = is_valid(name, value)
        if is_computed(value) or (value and not valid and name in PAINTS | COLORS):
            self._omitted[f'the {name} "{value[:40]}"'] = None
        return valid

    def _read(self, text: str) -> None:
        text = _COMMENT.sub("", text.replace("<!--", "").replace("-->", ""))
        at = 0
        while (at := _skip_space(text, at)) < len(text):
            head = _AT_RULE_HEAD.match(text, at)
            if head is not None:
                self._omitted[f"the style rule @{head[1]}"] = None
                at = _end_of_block(text, head.end()) if head[0].endswith("{") else head.end()
                continue
            brace = text.find("{", at)
            if brace < 0:
                break
            end = text.find("}", brace)
            end = len(text) if end < 0 else end
            plain, important = parse_declarations(text[brace + 1 : end], self.is_accepted)
            for selector in _split_selectors(text[at:brace]):
                self._add(selector.strip(), plain, important)
            at = end + 1

    def _add(self, selector: str, plain: Declarations, important: Declarations) -> None:
        self._count += 1
        if self._count > MAX_RULES:
            raise make_limit_error("style rules", MAX_RULES)
        compounds = _read_selector(selector)
        if not compounds:
            if selector:
                self._omitted[f"the style selector {selector[:40]}"] = None
            return
        rule = StyleRule(_specificity(compounds), self._count, compounds, plain, important)
        last = compounds[0]
        key = "#" + last.element_id if last.element_id else last.tag
        if not last.element_id and last.classes:
            key = "." + min(last.classes)
        self._rules.setdefault(key, []).append(rule)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _end_of_block(text: str, at: int) -> int:
    """Return the end of a block whose opening brace was just read."""
    depth = 1
    for brace in _BRACE.finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def parse_declarations(
    text: str, is_accepted: Callable[[str, str], bool]
) -> tuple[Declarations, Declarations]:
    """Parse `name: value; …`; return the normal and the important declarations."""
    plain: Declarations = {}
    important: Declarations = {}
    for name, written in _split_declarations(text):
        mark = _IMPORTANT.search(written) if "!" in written else None
        value = written[: mark.start()].strip() if mark else written
        if is_accepted(name, value):
            (important if mark else plain)[name] = value
    return plain, important


def _split_declarations(text: str) -> Iterator[tuple[str, str]]:
    for declaration in text.split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if colon and name in ACCEPTED:
            yield name, simplify_value(value.strip())


def _split_selectors(text: str) -> list[str]:
    """Return the selectors of a list; commas in brackets separate none."""
    masked = _QUOTED.sub(lambda found: "x" * len(found[0]), text)
    ends = [*(at for at, char in enumerate(masked) if char == ","), len(text)]
    return [
        text[start:end] for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)
    ]


def _read_selector(text: str) -> tuple[Compound, ...]:
    """Return the compounds of a selector, the last first; empty for one that is not accepted."""
    compounds: list[Compound] = []
    at, combinator = 0, ""
    while at < len(text) and len(compounds) < _MAX_COMPOUNDS:
        start, compound = at, Compound(combinator)
        while (found := _SIMPLE.match(text, at)) is not None:
            if found["type"] and at != start:
                return ()
            compound = _add_simple(compound, found)
            at = found.end()
        between = _COMBINATOR.match(text, at)
        if at == start or any(name not in _PSEUDO for name in compound.pseudo):
            return ()
        if between is None:
            return (compound, *reversed(compounds)) if at == len(text) else ()
        compounds.append(compound)
        at, combinator = between.end(), between[1] or ""
    return ()


def _add_simple(compound: Compound, found: re.Match[str]) -> Compound:
    match found.lastgroup if found["name"] is None else "name":
        case "type":
            return compound._replace(tag=found["type"].replace("*", ""))
        case "id":
            return compound._replace(element_id=found["id"])
        case "class":
            return compound._replace(classes=compound.classes | {found["class"]})
        case "pseudo":
            return compound._replace(pseudo=(*compound.pseudo, found["pseudo"]))
        case _:
            name = found["name"].replace("|", ":")
            test = (name, found["test"] or "", found["value"] or "")
            return compound._replace(attributes=(*compound.attributes, test))


def _has_attribute(element: SvgElement, name: str, test: str, value: str) -> bool:
    """Return whether an attribute passes a test (Selectors 4 §6)."""
    found = element.attributes.get(name)
    if found is None or not (value or test in ("", "=")):
        return False
    return {
        "": True,
        "=": found == value,
        "~=": value in found.split(),
        "|=": found == value or found.startswith(f"{value}-"),
        "^=": found.startswith(value),
        "$=": found.endswith(value),
        "*=": value in found,
    }[test]


def _is_first(element: SvgElement, *, from_end: bool = False) -> bool:
    if element.parent is None:
        return True
    children = element.parent.children
    ordered = reversed(children) if from_end else iter(children)
    return next(child for child in ordered if isinstance(child, SvgElement)) is element


_PSEUDO: Final[dict[str, Callable[[SvgElement], bool]]] = {
    "root": lambda element: element.parent is None,
    "first-child": _is_first,
    "last-child": partial(_is_first, from_end=True),
}


def _specificity(compounds: tuple[Compound, ...]) -> tuple[int, int, int]:
    """Return the specificity (Selectors 4 §17)."""
    return (
        sum(bool(part.element_id) for part in compounds),
        sum(len(part.classes) + len(part.attributes) + len(part.pseudo) for part in compounds),
        sum(bool(part.tag) for part in compounds),
    )


def _matches(compounds: tuple[Compound, ...], element: SvgElement) -> bool:
    """Return whether an element matches a selector, the last of whose compounds is the first here."""
    if not compounds[0].matches(element):
        return False
    path = [element]
    while len(compounds) > 1 and (above := path[-1].parent) is not None:
        path.append(above)
    places: Sequence[int] = [0]  # in the path, where the compound at hand matches
    for after, compound in pairwise(compounds):
        is_child = after.combinator == ">"
        reach = [at + 1 for at in places] if is_child else range(places[0] + 1, len(path))
        places = [at for at in reach if at < len(path) and compound.matches(path[at])]
        if not places:
            return False
    return True


_TABLE: Final = read_groups(__package__, "properties.txt")
INHERITED: Final = _TABLE["inherited"]
NON_INHERITED: Final = _TABLE["other"]
KNOWN: Final = frozenset(INHERITED) | frozenset(NON_INHERITED)
UNSUPPORTED: Final = {name: tuple(values.split()) for name, values in _TABLE["unsupported"].items()}
# Shorthands are expanded.
ACCEPTED: Final = KNOWN | UNSUPPORTED.keys() | {"font", "marker"}
# `transform` is not a presentation attribute of every element, so it is read separately.
ATTRIBUTES: Final = (KNOWN - {"transform"}) | {"font-variant", "writing-mode"}
FONT_SIZES: Final = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}


# --- validity ---------------------------------------------------------------------------------

PAINTS: Final = frozenset({"fill", "stroke"})
COLORS: Final = frozenset({"color", "stop-color"})
CSS_WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert"})
_PAINT_KEYWORDS: Final = frozenset({"none", "currentcolor", "context-fill", "context-stroke"})
_KEYWORDS: Final = {
    "clip-rule": frozenset({"nonzero", "evenodd"}),
    "fill-rule": frozenset({"nonzero", "evenodd"}),
    "stroke-linecap": frozenset({"butt", "round", "square"}),
    "stroke-linejoin": frozenset({"miter", "miter-clip", "round", "bevel", "arcs"}),
    "text-anchor": frozenset({"start", "middle", "end"}),
    "visibility": frozenset({"visible", "hidden", "collapse"}),
}
_OPACITIES: Final = frozenset({"fill-opacity", "opacity", "stop-opacity", "stroke-opacity"})
_CHECKED: Final = PAINTS | COLORS | _KEYWORDS.keys() | _OPACITIES | {"stroke-width"}
_MAX_LENGTH: Final = 1000  # characters; a longer value is invalid


def is_valid(name: str, value: str) -> bool:
    """Return whether a value is valid for a property; unchecked properties accept any value."""
    return name not in _CHECKED or (len(value) <= _MAX_LENGTH and _is_valid(name, value))


@lru_cache(maxsize=1024)
def _is_valid(name: str, value: str) -> bool:
    if value in CSS_WIDE_KEYWORDS:
        return True
    if name in PAINTS:
        return _is_paint(value)
    if name in COLORS:
        return value.lower() == "currentcolor" or to_color(value) is not None
    keywords = _KEYWORDS.get(name)
    if keywords is not None:
        return value.lower() in keywords
    length = to_length(value, 1.0)
    return length is not None and (name in _OPACITIES or length >= 0)


def _is_paint(value: str) -> bool:
    reference = to_reference(value)
    if reference is not None:
        value = reference[1] or "none"
    return value.lower() in _PAINT_KEYWORDS or to_color(value) is not None


SvgStyle = dict[str, str]

INITIAL: Final[SvgStyle] = INHERITED | NON_INHERITED


def resolve_style(element: SvgElement, parent: SvgStyle, sheet: RuleIndex) -> SvgStyle:
    """Return the computed style of an element; font sizes are in px, colours as written."""
    declared = _collect_declarations(element, sheet)
    style = {name: parent[name] for name in INHERITED}
    style |= NON_INHERITED
    if not declared:
        return style
    for name, value in declared.items():
        if value == "inherit":
            style[name] = parent[name]
        elif value in ("initial", "unset", "revert"):
            style[name] = (
                parent[name] if name in INHERITED and value != "initial" else INITIAL[name]
            )
        else:
            style[name] = value
    style["font-size"] = _font_size(style["font-size"], parent["font-size"])
    return style


def _collect_declarations(element: SvgElement, sheet: RuleIndex) -> Declarations:
    """Return the declarations for an element in cascade order (CSS Cascade 5 §6)."""
    declared = {
        name: value
        for name, written in element.attributes.items()
        if name in ATTRIBUTES and sheet.is_accepted(name, value := written.strip())
    }
    important: Declarations = {}
    for rule in sheet.find(element):
        declared |= rule.declarations
        important |= rule.important
    if "style" in element.attributes:
        plain, inline_important = sheet.read_style_attribute(element)
        declared |= plain
        important |= inline_important
    declared |= important
    if "font" in declared:
        declared = _expand_font(declared["font"]) | declared
    if "marker" in declared:
        declared = (
            dict.fromkeys(("marker-start", "marker-mid", "marker-end"), declared["marker"])
            | declared
        )
    return {name: value for name, value in declared.items() if name in KNOWN}


def _expand_font(text: str) -> Declarations:
    """Expand the shorthand `font: italic bold 12px/1.2 family`."""
    found: Declarations = {}
    tokens = text.split()
    for at, token in enumerate(tokens):
        if token in ("italic", "oblique"):
            found["font-style"] = token
        elif token in ("bold", "bolder", "lighter") or token.isdigit():
            found["font-weight"] = token
        elif token[:1].isdigit() or token[:1] == "." or token in FONT_SIZES:
            found["font-size"] = token.partition("/")[0]
            found["font-family"] = " ".join(tokens[at + 1 :])
            break
    return found


def _font_size(text: str, parent: str) -> str:
    parent_size = float(parent)
    if text in FONT_SIZES:
        return repr(FONT_SIZES[text])
    if text in ("smaller", "larger"):
        return repr(parent_size / 1.2 if text == "smaller" else parent_size * 1.2)
    size = to_length(text, parent_size, parent_size)
    return parent if size is None or size < 0 else repr(size)


def font_size(style: SvgStyle) -> float:
    """Return the font size in user units."""
    return float(style["font-size"])


def is_bold(style: SvgStyle) -> bool:
    """Return whether text is bold; `bolder` is, as fonts have two weights."""
    weight = style["font-weight"]
    return weight in ("bold", "bolder") or (weight.isdigit() and int(weight[:4]) >= 600)


def parse_color(text: str, style: SvgStyle) -> tuple[RGB, float] | None:
    """Return a colour of an element and its opacity, None where it is none or invalid."""
    return to_color(style["color"] if text.lower() == "currentcolor" else text)


def opacity(style: SvgStyle, name: str = "opacity") -> float:
    """Return an opacity from 0 to 1."""
    return to_opacity(style[name])
