"""What can be told wrong of pages, areas and breaks before any data are known (language.md 1.7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import PAGE
from workers.engine.syntax.suggestions import nearest

DEFAULT_FAMILY: Final = "default"
BODY: Final = "body"
_OFFSETS: Final = ("left", "top", "right", "bottom")
_POSITION: Final = frozenset((*_OFFSETS, "layer"))
_OPPOSITE: Final = (("left", "right", "width"), ("top", "bottom", "height"))
_BREAKS: Final = (
    "break-before",
    "break-after",
    "break-inside",
    "orphans",
    "widows",
    "page",
    "counter-reset",
)
_NEW_PAGE: Final = ("page", "counter-reset")
# In these a block stands in the stack that fills the pages; everywhere else it begins no page.
_IN_FLOW: Final = frozenset(("flow", "div", "blockquote", "ul", "ol", "li", "group"))


def check_pages(root: Element, findings: Findings) -> None:
    """Find what is wrong in page families, areas, positions, and properties that begin a page."""
    pages = list(root.elements("page"))
    families = {page.attributes.get("name", DEFAULT_FAMILY) for page in pages} | {DEFAULT_FAMILY}
    flows = {flow.attributes.get("name", BODY) for flow in root.elements("flow")}
    for page in pages:
        for area in page.elements("area"):
            _check_area(area, flows, findings)
        for box in page.elements("box"):
            _check_position(box, findings)
            _check_without_effect(box, (*_BREAKS, "counter-set", "id"), "a box of a page", findings)
            _check_inside(box, families, findings, in_flow=False)
            _check_names(box, findings)
        for tag in ("header", "footer"):
            for running in page.elements(tag):
                _check_inside(running, families, findings, in_flow=False)
                _check_names(running, findings)
    for flow in root.elements("flow"):
        _check_family(flow, families, findings)
        _check_inside(flow, families, findings, in_flow=True)
    for style in root.elements("style"):
        _check_family(style, families, findings)


def _check_inside(
    parent: Element, families: Iterable[str], findings: Findings, *, in_flow: bool
) -> None:
    """Check all below an element; `in_flow` says that blocks here fill the pages."""
    for element in parent.elements():
        _check_family(element, families, findings)
        if not in_flow:
            where = f"`{parent.tag}`, which fills no pages"
            _check_without_effect(element, _page_breaks(element, _NEW_PAGE), where, findings)
        if element.tag == "box":
            _check_flow_box(element, findings)
        stays = in_flow and element.tag in _IN_FLOW and not _is_aside(element)
        _check_inside(element, families, findings, in_flow=stays)


def _check_names(parent: Element, findings: Findings) -> None:
    """Tell ids on what stands on every page: a link could lead to any of them."""
    for element in parent.walk():
        if element is not parent:
            where = f"`{parent.tag}`, which stands on many pages"
            _check_without_effect(element, ("id",), where, findings)


def _check_flow_box(box: Element, findings: Findings) -> None:
    _check_without_effect(box, ("layer",), "a box that is not of a page", findings)
    if _is_aside(box):
        _check_position(box, findings)
        _check_without_effect(box, _page_breaks(box, _BREAKS), "a box with a position", findings)


def _page_breaks(element: Element, names: Iterable[str]) -> list[str]:
    """Return the names of what acts on pages: other counters are counted anywhere."""
    resets = element.attributes.get("counter-reset", PAGE)
    return [name for name in names if name != "counter-reset" or PAGE in resets.split()]


def _check_area(area: Element, flows: Iterable[str], findings: Findings) -> None:
    _check_position(area, findings)
    name = area.attributes.get("flow", BODY)
    if name not in flows:
        findings.error(
            "unknown-flow",
            f'The flow "{name[:40]}" of `area` is declared nowhere{_nearest(name, flows, findings)}',
            area.place,
        )


def _check_position(element: Element, findings: Findings) -> None:
    given = element.attributes
    for start, end, size in _OPPOSITE:
        if start in given and end in given and given.get(size, "auto") != "auto":
            findings.error(
                "position-conflict",
                f"`{start}`, `{end}` and `{size}` of `{element.tag}` are all given; two of them "
                "tell the third",
                element.place,
            )


def _check_family(element: Element, families: Iterable[str], findings: Findings) -> None:
    name = element.attributes.get("page")
    if name is None or "{{" in name or name in families:
        return
    findings.error(
        "unknown-page",
        f'The page "{name[:40]}" of `{element.tag}` is declared nowhere{_nearest(name, families, findings)}',
        element.place,
    )


def _check_without_effect(
    element: Element, names: Iterable[str], where: str, findings: Findings
) -> None:
    for name in _given(element, names):
        findings.error(
            "no-effect",
            f"`{name}` of `{element.tag}` has no effect in {where}; leave it out",
            element.place,
        )


def _given(element: Element, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name in element.attributes)


def _is_aside(element: Element) -> bool:
    return element.tag == "box" and not _POSITION.isdisjoint(element.attributes)


def _nearest(word: str, words: Iterable[str], findings: Findings) -> str:
    return nearest(word, words) if findings.lists_errors else ""
