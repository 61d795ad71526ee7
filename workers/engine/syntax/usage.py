"""Warnings about unused styles, flows and parts, and about styles with properties without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import ALERTS, Element, PartExpansion
from workers.engine.syntax.page_checks import BODY
from workers.engine.syntax.suggestions import join_words
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES

# Row groups and rows pass it on to their cells.
_PASSED_TO_CELLS: Final = "vertical-align"
_ROWS: Final = frozenset({"thead", "tbody", "tfoot", "tr"})
# Elements without a box or text of their own; their descendants inherit from them.
_PASSING_ON_INHERITED: Final = frozenset({"document", "group"})
_EXEMPT: Final = frozenset(
    {"insert", "assert"}
)  # the box of an inserted flow accepts all properties
_ENTRY_STYLES: Final = {
    "toc": tuple(f"toc-{level}" for level in range(1, 7)),
    "index": ("index-1", "index-2", "index-3", "index-letter"),
    **dict.fromkeys(("footnote", "markdown"), ("footnote-call", "footnote-rule")),
    "figure": ("figure-caption",),
    # A Markdown payload may replace any of them.
    "flow": ("alert", "alert-title", *(f"alert-{kind}" for kind in ALERTS)),
}
_KEYS: Final = frozenset({"name", "element", "extends", "final"})


def check_usage(root: Element, findings: Findings) -> None:
    """Warn of unused styles, flows and parts."""
    _Usage(root, findings).check()


def check_effects(root: Element, findings: Findings) -> None:
    """Warn of properties in a style that have no effect on the elements it applies to."""
    usage = _Usage(root, findings)
    usage.check_element_styles()
    for element in root.walk():
        classes = element.attributes.get("class", "")
        if "{{" not in classes:
            for name in classes.split():
                usage.check_class(element, name)


class _Usage:
    def __init__(self, root: Element, findings: Findings) -> None:
        self._root = root
        self._findings = findings
        self._styles = {
            style.attributes["name"]: style
            for style in root.elements("style")
            if "name" in style.attributes
        }
        self._reported: set[tuple[str, str]] = set()

    def check(self) -> None:
        self._check_flows()
        self._check_parts()
        used = {style.attributes.get("extends", "") for style in self._root.elements("style")}
        used |= _find_entry_styles(self._root)
        is_open = False
        for element in self._root.walk():
            classes = element.attributes.get("class")
            if classes is None:
                continue
            if "{{" in classes:
                is_open = True  # an expression may name any style
                continue
            used.update(classes.split())
        if not is_open:
            self._check_styles(used)

    def _check_styles(self, used: set[str]) -> None:
        for name, style in self._styles.items():
            if name not in used and style.location.linkage is None:
                self._findings.warn(
                    "unused-style", f'The style "{name}" is used by no element', style.location
                )

    def _check_flows(self) -> None:
        placed = {BODY} | {
            element.attributes.get("flow", BODY)
            for element in self._root.walk()
            if element.tag in ("insert", "area")
        }
        for flow in self._root.elements("flow"):
            name = flow.attributes.get("name", BODY)
            if name not in placed:
                self._findings.warn(
                    "unused-flow",
                    f'The flow "{name}" is never drawn: no `insert` and no `area` names it',
                    flow.location,
                )

    def _check_parts(self) -> None:
        parts = list(self._root.elements("part"))
        if not parts:
            return
        used = {
            element.name
            for element in self._root.walk()
            if isinstance(element, PartExpansion) and not element.is_unused
        }
        for part in parts:
            name = part.attributes.get("name", "")
            if name not in used and part.location.linkage is None:
                self._findings.warn(
                    "unused-part", f'The part "{name}" is never used', part.location
                )

    def check_element_styles(self) -> None:
        for style in self._root.elements("style"):
            target = style.attributes.get("element")
            if target is not None and target in ELEMENTS and "name" not in style.attributes:
                idle = _find_ineffective(style.attributes, target)
                if idle:
                    self._findings.warn(
                        "no-effect",
                        f"This `style` gives `{target}` {join_words(idle, 'and')}, which has no effect there",
                        style.location,
                    )

    def check_class(self, element: Element, name: str) -> None:
        tag = element.tag
        if name not in self._styles or tag not in ELEMENTS or tag in _EXEMPT:
            return
        if (tag, name) in self._reported:
            return
        self._reported.add((tag, name))
        idle = _find_ineffective(self._properties_of(name), tag)
        if idle:
            self._findings.warn(
                "no-effect",
                f'The style "{name}" gives `{tag}` {join_words(idle, "and")}, which has no effect there',
                element.location,
            )

    def _properties_of(self, name: str) -> dict[str, str]:
        """Return the attributes of a style merged with those it extends; cycles are reported elsewhere."""
        found: dict[str, str] = {}
        seen: set[str] = set()
        while name in self._styles and name not in seen:
            seen.add(name)
            attributes = self._styles[name].attributes
            found = {**attributes, **found}
            name = attributes.get("extends", "")
        return found


def _find_entry_styles(root: Element) -> frozenset[str]:
    """Return the styles that contents, indexes and notes use implicitly."""
    tags = {element.tag for element in root.walk() if element.tag in _ENTRY_STYLES}
    return frozenset(name for tag in tags for name in _ENTRY_STYLES[tag])


def _find_ineffective(given: Mapping[str, str], tag: str) -> list[str]:
    """Return the properties among `given` that have no effect on an element of a tag."""
    accepted = ELEMENTS[tag].attributes
    known = ELEMENTS["style"].attributes
    return [
        name
        for name in given
        if name in known
        and name not in _KEYS
        and name not in accepted
        and not (tag in _ROWS and name == _PASSED_TO_CELLS)
        and not (
            tag in _PASSING_ON_INHERITED and name in PROPERTIES and PROPERTIES[name].is_inherited
        )
    ]
