"""Static checks of pages, areas, positions and breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import PAGE
from workers.engine.syntax.suggestions import suggest_if_listed

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
_FLOAT: Final = ("float", "span", "float-within")
_NEW_PAGE: Final = ("page", "counter-reset")
_WITHOUT_FAMILY: Final = "img"  # its `page` is that of a PDF
# Page breaks take effect inside these elements only.
_IN_FLOW: Final = frozenset(("flow", "div", "blockquote", "ul", "ol", "li", "group"))


def check_pages(root: Element, findings: Findings) -> None:
    """Report unknown page families and flows, conflicting positions, and breaks without effect."""
    pages = list(root.elements("page"))
    families = {page.attributes.get("name", DEFAULT_FAMILY) for page in pages} | {DEFAULT_FAMILY}
    flows = {flow.attributes.get("name", BODY) for flow in root.elements("flow")}
    for page in pages:
        for area in page.elements("area"):
            _check_area(area, flows, findings)
            _check_height(area, page, pages, findings)
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
    """Check the descendants of an element; `in_flow` means that blocks here may break pages."""
    for element in parent.elements():
        _check_family(element, families, findings)
        if not in_flow:
            where = f"`{parent.tag}`, which cannot break pages"
            _check_without_effect(element, _page_breaks(element, _NEW_PAGE), where, findings)
        if element.tag == "box":
            _check_flow_box(element, findings)
        if element.tag == "figure":
            _check_float(element, parent, findings, in_flow=in_flow)
        is_in_flow = in_flow and element.tag in _IN_FLOW and not _is_positioned(element)
        _check_inside(element, families, findings, in_flow=is_in_flow)


def _check_float(figure: Element, parent: Element, findings: Findings, *, in_flow: bool) -> None:
    """Report a float where figures stand in the text, and attributes that depend on it."""
    if not in_flow:
        where = f"`{parent.tag}`, where figures stand in the text"
        _check_without_effect(figure, _FLOAT, where, findings)
    elif figure.attributes.get("float", "here") == "here":
        _check_without_effect(figure, _FLOAT[1:], "a figure that does not float", findings)
    else:
        breaks = _page_breaks(figure, ("break-before", "break-after", *_NEW_PAGE))
        _check_without_effect(figure, breaks, "a figure that floats", findings)
        if _has_columns(parent) and figure.attributes.get("span", "column") == "column":
            findings.error(
                "float-span",
                f"A `figure` in the columns of a `{parent.tag}` floats only across them; write "
                'span="columns", or give the columns to the `area`',
                figure.location,
            )


def _has_columns(element: Element) -> bool:
    return element.tag == "div" and element.attributes.get("columns", "1") != "1"


def _check_names(parent: Element, findings: Findings) -> None:
    """Report ids in repeated content: a link to one would be ambiguous."""
    for element in parent.walk():
        if element is not parent:
            where = f"`{parent.tag}`, which is repeated on many pages"
            _check_without_effect(element, ("id",), where, findings)


def _check_flow_box(box: Element, findings: Findings) -> None:
    _check_without_effect(box, ("layer",), "a box that is not of a page", findings)
    if _is_positioned(box):
        _check_position(box, findings)
        _check_without_effect(box, _page_breaks(box, _BREAKS), "a box with a position", findings)


def _page_breaks(element: Element, names: Iterable[str]) -> list[str]:
    """Return the names that affect pages; `counter-reset` does so only for the counter `page`."""
    without = {"page"} if element.tag == _WITHOUT_FAMILY else set()
    if PAGE not in element.attributes.get("counter-reset", PAGE).split():
        without.add("counter-reset")
    return [name for name in names if name not in without]


def _check_area(area: Element, flows: Iterable[str], findings: Findings) -> None:
    _check_position(area, findings)
    name = area.attributes.get("flow", BODY)
    if name not in flows:
        findings.error(
            "unknown-flow",
            f'The flow "{name[:40]}" of `area` is not declared{suggest_if_listed(findings, name, flows)}',
            area.location,
        )


def _check_height(
    area: Element, page: Element, pages: Iterable[Element], findings: Findings
) -> None:
    """Report an area of a page that is as high as its content."""
    alike = [one for one in pages if one.attributes.get("name") == page.attributes.get("name")]
    sizes = [one.attributes["size"] for one in (page, *alike) if "size" in one.attributes]
    if sizes and sizes[0].split()[1:] == ["auto"]:
        findings.error(
            "position-conflict",
            "An `area` has a place on its page, whose height is auto; give the page a height, or "
            "leave the area out",
            area.location,
        )


def _check_position(element: Element, findings: Findings) -> None:
    given = element.attributes
    for start, end, size in _OPPOSITE:
        if start in given and end in given and given.get(size, "auto") != "auto":
            findings.error(
                "position-conflict",
                f"`{start}`, `{end}` and `{size}` of `{element.tag}` are all given; two of them "
                "determine the third",
                element.location,
            )


def _check_family(element: Element, families: Iterable[str], findings: Findings) -> None:
    name = element.attributes.get("page")
    if name is None or "{{" in name or name in families or element.tag == _WITHOUT_FAMILY:
        return
    findings.error(
        "unknown-page",
        f'The page "{name[:40]}" of `{element.tag}` is not declared{suggest_if_listed(findings, name, families)}',
        element.location,
    )


def _check_without_effect(
    element: Element, names: Iterable[str], where: str, findings: Findings
) -> None:
    for name in _find_given(element, names):
        findings.error(
            "no-effect",
            f"`{name}` of `{element.tag}` has no effect in {where}; leave it out",
            element.location,
        )


def _find_given(element: Element, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name in element.attributes)


def _is_positioned(element: Element) -> bool:
    return element.tag == "box" and not _POSITION.isdisjoint(element.attributes)
