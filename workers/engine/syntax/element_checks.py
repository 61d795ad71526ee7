"""Static checks of single elements: attributes that depend on a type or on each other, and children.

Pages are checked for their areas, positions and breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.ports import ConformanceProfiles
from workers.engine.syntax.names import PROFILE
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import (
    COUNTER_RESET,
    COUNTER_SET,
    HEADINGS,
    NUMBER_FORMAT,
    PAGE,
    chain_of,
    counter_of,
    find_counters,
)
from workers.engine.syntax.suggestions import join_words, suggest_if_listed
from workers.engine.syntax.values import BorderValue, ColorName, ValueType
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.syntax.vocabulary.content import CHART_KINDS, GAUGE, OF_RECORDS, WITH_AXES
from workers.engine.units import Color, ColorSpace

SIGNING: Final = ("sign", "sign-field")


def check_elements(root: Element, findings: Findings) -> None:
    """Report attributes and children that an element needs and lacks, or does not use."""
    for element in root.walk():
        if element.tag in _TYPED:
            _check_type(element, findings)
        if check := _CHECKS.get(element.tag):
            check(element, findings)


# --- types ----------------------------------------------------------------------------------------------

_TYPED: Final = frozenset(
    name
    for name, spec in ELEMENTS.items()
    if any(attribute.types for attribute in spec.attributes.values())
)


def _check_type(element: Element, findings: Findings) -> None:
    attributes = ELEMENTS[element.tag].attributes
    kind, own = attributes["type"], _type_of(element)
    if own not in kind.value_type.choices:
        return
    what = f'{"an" if element.tag[0] in "aeiou" else "a"} {element.tag} of type "{own}"'
    for name, spec in attributes.items():
        if own in spec.needed_by and name not in element.attributes:
            message = f"{what[0].upper()}{what[1:]} has no `{name}`, which it needs: "
            findings.error("missing-attribute", message + spec.value_type.accepts, element.location)
        elif spec.types and own not in spec.types and name in element.attributes:
            message = f"`{name}` has no effect on {what}; it is for {_list(spec.types)}"
            findings.error("misplaced-attribute", message, element.location)


def _type_of(element: Element) -> str | None:
    return element.attributes.get("type", ELEMENTS[element.tag].attributes["type"].default)


def _list(types: Iterable[str]) -> str:
    return join_words(sorted(types), "and")


# --- charts ---------------------------------------------------------------------------------------------


def _check_chart(element: Element, findings: Findings) -> None:
    kind = _type_of(element) or ""
    if kind in CHART_KINDS:
        _check_series(element, kind, findings)
        _check_axes(element, kind, findings)


def _check_series(element: Element, kind: str, findings: Findings) -> None:
    series = list(element.elements("series"))
    has_own = "y" in element.attributes
    if kind in GAUGE:
        if series:
            _refuse_child(series[0], kind, OF_RECORDS, findings)
    elif has_own and series:
        findings.error(
            "two-values",
            "`chart` has both `y` and `series`; use `y` for one series, and `series` elements for "
            "several",
            element.location,
        )
    elif not has_own and not series:
        findings.error(
            "missing-attribute",
            "`chart` has neither `y` nor a `series`: it needs a value for each record",
            element.location,
        )
    elif kind not in WITH_AXES and (
        len(series) > 1 or any("for" in one.attributes for one in series)
    ):
        findings.error(
            "misplaced-element",
            f'A chart of type "{kind}" has several series; it takes one, as its `y`',
            series[-1].location,
            element.location,
        )


def _check_axes(element: Element, kind: str, findings: Findings) -> None:
    seen: set[bool] = set()
    for axis in element.elements("axis"):
        if kind not in WITH_AXES:
            _refuse_child(axis, kind, WITH_AXES, findings)
            return
        is_horizontal = axis.attributes.get("side") == "bottom"
        if is_horizontal in seen:
            findings.error(
                "duplicate-key",
                "The chart has two `axis` elements for one axis; one belongs to the bottom, the other "
                "to a side",
                axis.location,
            )
        seen.add(is_horizontal)


def _refuse_child(child: Element, kind: str, types: Iterable[str], findings: Findings) -> None:
    findings.error(
        "misplaced-element",
        f'`{child.tag}` has no effect in a chart of type "{kind}"; it is for {_list(types)}',
        child.location,
    )


# --- forms and security ---------------------------------------------------------------------------------


def _check_select(element: Element, findings: Findings) -> None:
    if not any(child.tag == "option" for child in element.walk()):
        findings.error(
            "missing-option",
            "`select` has no `option`, so nothing could be selected; add one for each choice",
            element.location,
        )


def _check_input(element: Element, findings: Findings) -> None:
    given = element.attributes
    if "comb" in given and "max-length" in given:
        findings.error(
            "misplaced-attribute",
            "`max-length` has no effect beside `comb`, which states the number of characters",
            element.location,
        )
    if _type_of(element) == "radio" and "value" not in given:
        findings.error(
            "missing-attribute",
            'An input of type "radio" has no `value`, which it needs: the value of the group while '
            "it is checked",
            element.location,
        )


def _check_security(element: Element, findings: Findings) -> None:
    given = element.attributes
    others = [name for name in given if name not in (*SIGNING, "final")]
    if "sign" in given and others:
        findings.error(
            "signed-security",
            f"A signed file is not encrypted, so `sign` excludes `{others[0]}`; leave one of "
            "them out",
            element.location,
        )
    elif "sign-field" in given and "sign" not in given:
        findings.error(
            "signed-security",
            "`sign-field` is the field to sign, but there is no certificate; add `sign`",
            element.location,
        )


_CHECKS: Final[Mapping[str, Callable[[Element, Findings], None]]] = {
    "chart": _check_chart,
    "input": _check_input,
    "security": _check_security,
    "select": _check_select,
}


_SETTING: Final[dict[str, ValueType[Any]]] = {
    "counter-reset": COUNTER_RESET,
    "counter-set": COUNTER_SET,
}


def check_numbers(root: Element, findings: Findings) -> None:
    """Report counters that no `number` uses, and formats with more levels than there are counters."""
    checker = _NumberChecker(root, findings)
    for element in root.walk():
        for name, kind in _SETTING.items():
            if name in element.attributes:
                checker.check_setting(element, name, kind)
        if "number" in element.attributes:
            checker.check_format(element)
        if element.attributes.get("counter") == PAGE:
            findings.error(
                "wrong-value",
                f'`counter` of `{element.tag}` is "page", which counts pages; choose another name',
                element.location,
            )


class _NumberChecker:
    def __init__(self, root: Element, findings: Findings) -> None:
        self._findings = findings
        self._counters = find_counters(root)
        # Data may name further counters.
        self._is_open = any("{{" in name for name in self._counters)

    def check_setting(self, element: Element, name: str, kind: ValueType[Any]) -> None:
        written = element.attributes[name]
        if "{{" in written and not element.is_literal:
            return
        try:
            counters = [counter for counter, _ in kind.parse(written)]
        except ValueError:  # reported by the check of the value
            return
        self._check_names(element, name, counters)

    def check_format(self, element: Element) -> None:
        written = element.attributes["number"]
        if "{{" in written and element.tag != "style":
            return
        try:
            shape = NUMBER_FORMAT.parse(written)
        except ValueError:
            return
        if shape is None:
            return
        if not shape.is_plain:
            self._check_names(element, "number", [token.name for token in shape.tokens])
            return
        counter = counter_of(element) or element.tag
        if "{{" in counter:
            return
        chain = chain_of(counter, self._counters)
        if len(shape.tokens) > len(chain):
            self._findings.error(
                "number-levels",
                f'The number "{written}" of `{element.tag}` has {len(shape.tokens)} levels; '
                f"{_suggest_fix(counter, chain)}",
                element.location,
            )

    def _check_names(self, element: Element, name: str, counters: Iterable[str]) -> None:
        if self._is_open:
            return
        for counter in counters:
            if counter not in self._counters and not (counter == PAGE and name != "number"):
                near = suggest_if_listed(self._findings, counter, self._counters)
                self._findings.error(
                    "unknown-counter",
                    f'`{name}` of `{element.tag}` names the counter "{counter}", but no style or '
                    f"element with a `number` counts by it{near}",
                    element.location,
                )


def _suggest_fix(counter: str, chain: tuple[str, ...]) -> str:
    if counter in HEADINGS:
        known = " and ".join(f"`{name}`" for name in chain)
        return f"of the headings down to `{counter}` only {known} have a number"
    return f"name those above its own, as in {{h2}}.{{{counter}}}"


def check_profile(root: Element, findings: Findings) -> None:
    """Report elements that the profile of a document forbids, and a missing `lang` that it requires."""
    profile = _profiles_of(root).archive
    if is_strict(root) and not root.attributes.get("lang", "").strip():
        findings.error(
            "missing-lang",
            'The document has no `lang`, which screen readers need; add one, such as lang="en"',
            root.location,
        )
    if profile is None:
        return
    for security in root.elements("security"):
        if "sign" in security.attributes:
            continue  # it is not encrypted
        findings.error(
            "profile-security",
            f'`security` encrypts the file, which profile="{profile}" forbids; leave one of them out',
            security.location,
        )
    if not profile.takes_files:
        for attachment in root.elements("attachment"):
            findings.error(
                "profile-attachment",
                f'`attachment` is not allowed with profile="{profile}"; use profile="pdf/a-3b"',
                attachment.location,
            )
    _check_colors(root, profile, findings)


def is_strict(root: Element) -> bool:
    """Return whether missing accessibility information is an error: the file is tagged by its profile."""
    return _profiles_of(root).is_tagged


def _profiles_of(root: Element) -> ConformanceProfiles:
    try:
        return PROFILE.parse(root.attributes.get("profile", ""))
    except ValueError:  # absent, or reported by the check of the value
        return ConformanceProfiles()


def _check_colors(root: Element, profile: str, findings: Findings) -> None:
    """Report uses of CMYK, which does not match the sRGB output intent (ISO 19005-2, 6.2.4.3)."""
    declared = _declared_colors(root)
    for element in root.walk():
        if element.tag == "color":
            continue  # reported where it is used
        for name, text in element.attributes.items():
            if any(_is_cmyk(color, declared) for color in _colors_of(element, name, text)):
                findings.error(
                    "profile-color",
                    f'`{name}` of `{element.tag}` is a CMYK colour, which profile="{profile}" does '
                    "not allow; write it as #rrggbb or rgb(r g b)",
                    element.location,
                )


def _declared_colors(root: Element) -> dict[str, Any]:
    colors = root.elements("color")
    return {
        color.attributes.get("name", ""): next(
            _colors_of(color, "value", color.attributes.get("value", "")), None
        )
        for color in colors
    }


def _colors_of(element: Element, name: str, text: str) -> Iterator[Color | ColorName]:
    spec = ELEMENTS[element.tag].attributes.get(name) if element.tag in ELEMENTS else None
    if spec is None or "{{" in text:
        return
    try:
        value = spec.value_type.parse(text)
    except ValueError:
        return  # reported by the check of the value
    yield from colors_in(value)


def colors_in(value: Any) -> Iterator[Color | ColorName]:
    """Yield the colours in a value: itself, that of a border, or those of a tuple."""
    if isinstance(value, Color | ColorName):
        yield value
    elif isinstance(value, BorderValue):
        yield value.color
    elif type(value) is tuple:
        for part in value:
            yield from colors_in(part)


def _is_cmyk(color: Color | ColorName, declared: Mapping[str, Any]) -> bool:
    named = declared.get(color.name, color.standard) if isinstance(color, ColorName) else color
    return isinstance(named, Color) and named.space is ColorSpace.CMYK


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
    for name in names:
        if name in element.attributes:
            findings.error(
                "no-effect",
                f"`{name}` of `{element.tag}` has no effect in {where}; leave it out",
                element.location,
            )


def _is_positioned(element: Element) -> bool:
    return element.tag == "box" and not _POSITION.isdisjoint(element.attributes)
