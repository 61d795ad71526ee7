"""What a document declares and does not use, and properties that do nothing where a style puts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS, PROPERTIES

BODY: Final = "body"
# In tables, sections and rows hand it down to their cells.
_HANDED_DOWN: Final = "vertical-align"
_ROWS: Final = frozenset({"thead", "tbody", "tfoot", "tr"})
# These have no box and no text of their own: what is inherited goes on to what is inside.
_PASSING: Final = frozenset({"document", "group"})
_UNJUDGED: Final = frozenset({"insert", "assert"})  # an inserted flow's box takes what it is given
_ENTRY_STYLES: Final = {
    "toc": tuple(f"toc-{level}" for level in range(1, 7)),
    "index": ("index-1", "index-2", "index-3", "index-letter"),
}
_KEYS: Final = frozenset({"name", "element", "extends", "final"})


def check_usage(root: Element, findings: Findings) -> None:
    """Warn of styles and flows that nothing uses."""
    _Usage(root, findings).check()


def check_effects(root: Element, findings: Findings) -> None:
    """Warn of properties that a style gives to elements which do nothing with them."""
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
        self._told: set[tuple[str, str]] = set()

    def check(self) -> None:
        self._check_flows()
        used = {style.attributes.get("extends", "") for style in self._root.elements("style")}
        used |= _entry_styles(self._root)
        is_open = False
        for element in self._root.walk():
            classes = element.attributes.get("class")
            if classes is None:
                continue
            if "{{" in classes:
                is_open = True  # any style may be meant
                continue
            used.update(classes.split())
        if not is_open:
            self._check_styles(used)

    def _check_styles(self, used: set[str]) -> None:
        for name, style in self._styles.items():
            if name not in used:
                self._findings.warn(
                    "unused-style", f'The style "{name}" is used by no element', style.place
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
                    f'The flow "{name}" is printed nowhere: no `insert` and no `area` names it',
                    flow.place,
                )

    def check_element_styles(self) -> None:
        for style in self._root.elements("style"):
            target = style.attributes.get("element")
            if target is not None and target in ELEMENTS and "name" not in style.attributes:
                idle = _idle(style.attributes, target)
                if idle:
                    self._findings.warn(
                        "no-effect",
                        f"This `style` gives `{target}` {_listed(idle)}, which has no effect there",
                        style.place,
                    )

    def check_class(self, element: Element, name: str) -> None:
        tag = element.tag
        if name not in self._styles or tag not in ELEMENTS or tag in _UNJUDGED:
            return
        if (tag, name) in self._told:
            return
        self._told.add((tag, name))
        idle = _idle(self._properties_of(name), tag)
        if idle:
            self._findings.warn(
                "no-effect",
                f'The style "{name}" gives `{tag}` {_listed(idle)}, which has no effect there',
                element.place,
            )

    def _properties_of(self, name: str) -> dict[str, str]:
        """Give all attributes of a style and those it extends; a circle is told by the checks."""
        found: dict[str, str] = {}
        seen: set[str] = set()
        while name in self._styles and name not in seen:
            seen.add(name)
            attributes = self._styles[name].attributes
            found = {**attributes, **found}
            name = attributes.get("extends", "")
        return found


def _entry_styles(root: Element) -> frozenset[str]:
    """Return the styles that contents and indexes use without naming them."""
    tags = {element.tag for element in root.walk() if element.tag in _ENTRY_STYLES}
    return frozenset(name for tag in tags for name in _ENTRY_STYLES[tag])


def _idle(given: Mapping[str, str], tag: str) -> list[str]:
    """Give the properties among `given` that an element of a tag does nothing with."""
    accepted = ELEMENTS[tag].attributes
    known = ELEMENTS["style"].attributes
    return [
        name
        for name in given
        if name in known
        and name not in _KEYS
        and name not in accepted
        and not (tag in _ROWS and name == _HANDED_DOWN)
        and not (tag in _PASSING and name in PROPERTIES and PROPERTIES[name].is_inherited)
    ]


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
