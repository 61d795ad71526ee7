"""Style sheets in an SVG: rules with simple selectors, matched to elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from workers.engine.layout.svg.limits import MAX_RULES, DrawingBudget, make_limit_error
from workers.engine.layout.svg.properties import ACCEPTED, UNSUPPORTED
from workers.engine.layout.svg.reader import SvgElement
from workers.engine.layout.svg.validity import COLORS, CSS_WIDE_KEYWORDS, PAINTS, is_valid

_COMMENT: Final = re.compile(r"/\*(?>.*?(?:\*/|\Z))", re.DOTALL)
_BRACE: Final = re.compile(r"[{}]")
_AT_RULE_HEAD: Final = re.compile(r"@([A-Za-z-]{0,20})[^;{]*+[;{]?")
_COMPOUND: Final = re.compile(r"(\*|[A-Za-z][\w-]*)?((?:[.#][\w-]+)*)", re.ASCII)
_SIMPLE: Final = re.compile(r"[.#][\w-]+", re.ASCII)
_IMPORTANT: Final = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)

Declarations = dict[str, str]


class Compound(NamedTuple):
    """A compound selector `type#id.class`."""

    tag: str  # empty for any
    element_id: str  # empty for any
    classes: frozenset[str]

    def matches(self, element: SvgElement) -> bool:
        """Return whether an element matches."""
        return (
            (not self.tag or self.tag == element.tag)
            and (not self.element_id or self.element_id == element.attributes.get("id"))
            and self.classes <= element.classes
        )


class StyleRule(NamedTuple):
    """One selector of a rule; `ancestors` are compounds of its descendant combinators, innermost last."""

    specificity: tuple[int, int, int]
    order: int
    compound: Compound
    ancestors: tuple[Compound, ...]
    declarations: Declarations
    important: Declarations


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
        self._budget.count_rules(sum(100 if rule.ancestors else 1 for rule in candidates))
        found = [
            rule
            for rule in candidates
            if rule.compound.matches(element) and _matches_ancestors(rule.ancestors, element.parent)
        ]
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

        Invalid paints and unsupported properties are recorded as omitted.
        """
        if name in UNSUPPORTED:
            if value and value not in CSS_WIDE_KEYWORDS and not value.startswith(UNSUPPORTED[name]):
                self._omitted[f"the property `{name}`"] = None
            return False
        if is_valid(name, value):
            return True
        if value and name in PAINTS | COLORS:
            self._omitted[f'the {name} "{value[:40]}"'] = None
        return False

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
            for selector in text[at:brace].split(","):
                self._add(selector.strip(), plain, important)
            at = end + 1

    def _add(self, selector: str, plain: Declarations, important: Declarations) -> None:
        self._count += 1
        if self._count > MAX_RULES:
            raise make_limit_error("style rules", MAX_RULES)
        # The child combinator is read as the descendant combinator.
        parts = [_read_compound(part) for part in selector.replace(">", " ").split()]
        compounds = [part for part in parts if part is not None]
        if not compounds or len(compounds) < len(parts) or len(parts) > 8:
            if selector:
                self._omitted[f"the style selector {selector[:40]}"] = None
            return
        *ancestors, last = compounds
        rule = StyleRule(
            _specificity(compounds), self._count, last, tuple(ancestors), plain, important
        )
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
            yield name, value.strip()


def _read_compound(text: str) -> Compound | None:
    match = _COMPOUND.fullmatch(text)
    if match is None or not text:
        return None
    simple = _SIMPLE.findall(match[2])
    elements_by_id = [part[1:] for part in simple if part[0] == "#"]
    if len(elements_by_id) > 1:
        return None
    tag = match[1] if match[1] not in (None, "*") else ""
    classes = frozenset(part[1:] for part in simple if part[0] == ".")
    return Compound(tag, elements_by_id[0] if elements_by_id else "", classes)


def _specificity(compounds: list[Compound]) -> tuple[int, int, int]:
    """Return the specificity (Selectors 4 §17)."""
    return (
        sum(bool(part.element_id) for part in compounds),
        sum(len(part.classes) for part in compounds),
        sum(bool(part.tag) for part in compounds),
    )


def _matches_ancestors(ancestors: tuple[Compound, ...], ancestor: SvgElement | None) -> bool:
    """Return whether the compounds match enclosing elements, from the inside out."""
    remaining = len(ancestors)
    while remaining and ancestor is not None:
        if ancestors[remaining - 1].matches(ancestor):
            remaining -= 1
        ancestor = ancestor.parent
    return not remaining
