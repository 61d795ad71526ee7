"""Static checks of single elements: attributes that depend on a type or on each other, and children.

Pages are checked for their areas, positions and breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.ports import ConformanceProfiles
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import (
    HEADINGS,
    PAGE,
    NumberFormat,
    chain_of,
    counter_of,
    find_counters,
)
from workers.engine.syntax.suggestions import join_words, suggest_if_listed
from workers.engine.syntax.values import BorderValue, ColorName
from workers.engine.syntax.vocabulary import ELEMENTS, read_attribute
from workers.engine.syntax.vocabulary.charts import CHART_KINDS, GAUGE, OF_RECORDS, WITH_AXES
from workers.engine.units import Color, ColorSpace, is_chromatic

SIGNING: Final = ("sign", "sign-field")

# A code, a message, and the elements concerned, the one that is wrong first.
Problem = tuple[str, str, *tuple[Element, ...]]


def find_problems(root: Element, findings: Findings) -> Iterator[Problem]:
    """Yield what is wrong with pages, the profile, numbers and single elements of a document.

    `findings` are those that the problems are added to, one by one.
    """
    yield from _check_pages(root)
    yield from _check_profile(root)
    yield from _check_inks(root)
    yield from _NumberChecker(root, findings).check(root)
    for element in root.walk():
        if element.tag in _TYPED:
            yield from _check_type(element)
        if check := _CHECKS.get(element.tag):
            yield from check(element)


# --- types ----------------------------------------------------------------------------------------------

_TYPED: Final = frozenset(
    name
    for name, spec in ELEMENTS.items()
    if any(attribute.types for attribute in spec.attributes.values())
)


def _check_type(element: Element) -> Iterator[Problem]:
    attributes = ELEMENTS[element.tag].attributes
    kind, own = attributes["type"], _type_of(element)
    if own not in kind.value_type.choices:
        return
    what = f'{"an" if element.tag[0] in "aeiou" else "a"} {element.tag} of type "{own}"'
    for name, spec in attributes.items():
        if own in spec.needed_by and name not in element.attributes:
            message = f"{what[0].upper()}{what[1:]} has no `{name}`, which it needs: "
            yield "missing-attribute", message + spec.value_type.accepts, element
        elif spec.types and own not in spec.types and name in element.attributes:
            message = f"`{name}` has no effect on {what}; it is for {_list(spec.types)}"
            yield "misplaced-attribute", message, element


def _type_of(element: Element) -> str | None:
    return element.attributes.get("type", ELEMENTS[element.tag].attributes["type"].default)


def _list(types: Iterable[str]) -> str:
    return join_words(sorted(types), "and")


# --- charts ---------------------------------------------------------------------------------------------


def _check_chart(element: Element) -> Iterator[Problem]:
    kind = _type_of(element) or ""
    if kind in CHART_KINDS:
        yield from _check_series(element, kind)
        yield from _check_axes(element, kind)


def _check_series(element: Element, kind: str) -> Iterator[Problem]:
    series = list(element.elements("series"))
    has_own = "y" in element.attributes
    if kind in GAUGE:
        if series:
            yield _refuse_child(series[0], kind, OF_RECORDS)
    elif has_own and series:
        message = "`chart` has both `y` and `series`; use `y` for one series, and `series` elements for several"
        yield "two-values", message, element
    elif not has_own and not series:
        message = "`chart` has neither `y` nor a `series`: it needs a value for each record"
        yield "missing-attribute", message, element
    elif kind not in WITH_AXES and (
        len(series) > 1 or any("for" in one.attributes for one in series)
    ):
        message = f'A chart of type "{kind}" has several series; it takes one, as its `y`'
        yield "misplaced-element", message, series[-1], element


def _check_axes(element: Element, kind: str) -> Iterator[Problem]:
    seen: set[bool] = set()
    for axis in element.elements("axis"):
        if kind not in WITH_AXES:
            yield _refuse_child(axis, kind, WITH_AXES)
            return
        is_horizontal = axis.attributes.get("side") == "bottom"
        if is_horizontal in seen:
            message = "The chart has two `axis` elements for one axis; one belongs to the bottom, the other to a side"
            yield "duplicate-key", message, axis
        seen.add(is_horizontal)


def _refuse_child(child: Element, kind: str, types: Iterable[str]) -> Problem:
    message = f'`{child.tag}` has no effect in a chart of type "{kind}"; it is for {_list(types)}'
    return "misplaced-element", message, child


# --- forms and security ---------------------------------------------------------------------------------


def _check_select(element: Element) -> Iterator[Problem]:
    if not any(child.tag == "option" for child in element.walk()):
        message = "`select` has no `option`, so nothing could be selected; add one for each choice"
        yield "missing-option", message, element


def _check_input(element: Element) -> Iterator[Problem]:
    given = element.attributes
    if "comb" in given and "max-length" in given:
        message = "`max-length` has no effect beside `comb`, which states the number of characters"
        yield "misplaced-attribute", message, element
    if _type_of(element) == "radio" and "value" not in given:
        message = 'An input of type "radio" has no `value`, which it needs: the value of the group while it is checked'
        yield "missing-attribute", message, element


def _check_security(element: Element) -> Iterator[Problem]:
    given = element.attributes
    others = [name for name in given if name not in (*SIGNING, "final")]
    if "sign" in given and others:
        message = f"A signed file is not encrypted, so `sign` excludes `{others[0]}`; leave one of them out"
        yield "signed-security", message, element
    elif "sign-field" in given and "sign" not in given:
        message = "`sign-field` is the field to sign, but there is no certificate; add `sign`"
        yield "signed-security", message, element


_CHECKS: Final[Mapping[str, Callable[[Element], Iterator[Problem]]]] = {
    "chart": _check_chart,
    "input": _check_input,
    "security": _check_security,
    "select": _check_select,
}


_SETTING: Final = ("counter-reset", "counter-set")


class _NumberChecker:
    """Finds counters that no `number` uses, and formats with more levels than there are counters."""

    def __init__(self, root: Element, findings: Findings) -> None:
        self._findings = findings
        self._counters = find_counters(root)
        # Data may name further counters.
        self._is_open = any("{{" in name for name in self._counters)

    def check(self, root: Element) -> Iterator[Problem]:
        """Yield the problems of all elements."""
        for element in root.walk():
            for name in _SETTING:
                counters = _read(element, name) or ()
                yield from self._check_names(element, name, [counter for counter, _ in counters])
            if "number" in element.attributes:
                yield from self._check_format(element)
            if element.attributes.get("counter") == PAGE:
                message = f'`counter` of `{element.tag}` is "page", which counts pages; choose another name'
                yield "wrong-value", message, element

    def _check_format(self, element: Element) -> Iterator[Problem]:
        shape: NumberFormat | None = _read(element, "number")
        if shape is None:
            return
        if not shape.is_plain:
            yield from self._check_names(element, "number", [one.name for one in shape.tokens])
            return
        counter = counter_of(element) or element.tag
        if "{{" in counter:
            return
        chain = chain_of(counter, self._counters)
        if len(shape.tokens) > len(chain):
            what = f'The number "{shape.text}" of `{element.tag}` has {len(shape.tokens)} levels'
            yield "number-levels", f"{what}; {_suggest_fix(counter, chain)}", element

    def _check_names(
        self, element: Element, name: str, counters: Iterable[str]
    ) -> Iterator[Problem]:
        for counter in () if self._is_open else counters:
            if counter not in self._counters and not (counter == PAGE and name != "number"):
                near = suggest_if_listed(self._findings, counter, self._counters)
                what = f'`{name}` of `{element.tag}` names the counter "{counter}"'
                message = f"{what}, but no style or element with a `number` counts by it{near}"
                yield "unknown-counter", message, element


def _suggest_fix(counter: str, chain: tuple[str, ...]) -> str:
    if counter in HEADINGS:
        known = " and ".join(f"`{name}`" for name in chain)
        return f"of the headings down to `{counter}` only {known} have a number"
    return f"name those above its own, as in {{h2}}.{{{counter}}}"


def _check_profile(root: Element) -> Iterator[Problem]:
    """Yield elements that the profile of a document forbids, and a missing `lang` that it requires."""
    profiles = _profiles_of(root)
    profile = profiles.archive
    if profiles.print is not None:
        yield from _check_print(root, profiles.print)
    if is_strict(root) and not root.attributes.get("lang", "").strip():
        message = (
            'The document has no `lang`, which screen readers need; add one, such as lang="en"'
        )
        yield "missing-lang", message, root
    if profiles.is_pdf2:
        for security in root.elements("security"):
            if security.attributes.get("encryption") == "aes-128":
                message = f'encryption="aes-128" is not of PDF 2.0, as profile="{profiles}" is; use "aes-256"'
                yield "profile-security", message, security
    if profile is None:
        return
    for security in root.elements("security"):
        if "sign" not in security.attributes:  # a signed file is not encrypted
            message = f'`security` encrypts the file, which profile="{profile}" forbids; leave one of them out'
            yield "profile-security", message, security
    if not profile.takes_files:
        for attachment in root.elements("attachment"):
            message = (
                f'`attachment` is not allowed with profile="{profile}"; '
                f'use profile="{"pdf/a-4f" if profiles.is_pdf2 else "pdf/a-3b"}"'
            )
            yield "profile-attachment", message, attachment
    advice = "a CMYK colour", "write it as #rrggbb or rgb(r g b)"
    yield from _check_colors(root, profile, _is_cmyk, *advice)


_UNPRINTED: Final = (
    "attachment",
    "einvoice",
    "security",
    "input",
    "textarea",
    "select",
    "signature",
)


def _check_print(root: Element, profile: str) -> Iterator[Problem]:
    """Yield what a file for print lacks, and what it cannot have (ISO 15930-7)."""
    if "output-intent" not in root.attributes:
        message = (
            f'profile="{profile}" needs `output-intent`, the name of the stored ICC profile of the '
            "press and paper; ask the printer for it"
        )
        yield "output-intent", message, root
    if not root.attributes.get("title", "").strip():
        message = f'profile="{profile}" needs a title; give `document` a `title`'
        yield "missing-title", message, root
    for element in root.walk():
        if element.tag in _UNPRINTED:
            message = f'`{element.tag}` is not allowed with profile="{profile}", which is for paper'
            yield "profile-print", message, element
    advice = "an RGB colour", "write it as cmyk(c m y k), a grey or a spot colour"
    yield from _check_colors(root, profile, is_chromatic, *advice)


def is_strict(root: Element) -> bool:
    """Return whether missing accessibility information is an error: the file is tagged by its profile."""
    return _profiles_of(root).is_tagged


def _profiles_of(root: Element) -> ConformanceProfiles:
    return read_attribute(root, "profile") or ConformanceProfiles()


def _check_colors(
    root: Element, profile: str, is_wrong: Callable[[Color], bool], what: str, advice: str
) -> Iterator[Problem]:
    """Yield uses of colours that do not match the output intent (ISO 19005-2, 6.2.4.3)."""
    declared = _declared_colors(root)
    for element in root.walk():
        if element.tag == "color":
            continue  # reported where it is used
        for name in element.attributes:
            colors = (_resolve(color, declared) for color in colors_in(_read(element, name)))
            if any(color is not None and is_wrong(color) for color in colors):
                used = f"`{name}` of `{element.tag}` is {what}"
                message = f'{used}, which profile="{profile}" does not allow; {advice}'
                yield "profile-color", message, element


def _check_inks(root: Element) -> Iterator[Problem]:
    """Yield a second value of one ink, of which a file has one alternate."""
    first: dict[str, Element] = {}
    for color in root.elements("color"):
        ink, value = color.attributes.get("spot"), color.attributes.get("value")
        known = first.setdefault(ink, color) if ink else color
        if known.attributes.get("value") != value:
            message = (
                f'The spot colour "{ink}" is "{value}" here and "{known.attributes.get("value")}" '
                "before; write the same `value`, as an ink has one"
            )
            yield "spot-value", message, color, known


def _declared_colors(root: Element) -> dict[str, Any]:
    colors = root.elements("color")
    return {color.attributes.get("name", ""): _read(color, "value") for color in colors}


def _read(element: Element, name: str) -> Any:
    """Return the value of an attribute, None if it is absent, data decide it, or other checks report it."""
    text = element.attributes.get(name, "{{")
    spec = ELEMENTS[element.tag].attributes.get(name) if element.tag in ELEMENTS else None
    return None if spec is None or "{{" in text else spec.read(text)


def colors_in(value: object) -> Iterator[Color | ColorName]:
    """Yield the colours in a value: itself, that of a border, or those of a tuple."""
    if isinstance(value, Color | ColorName):
        yield value
    elif isinstance(value, BorderValue):
        yield value.color
    elif type(value) is tuple:
        for part in value:
            yield from colors_in(part)


def _is_cmyk(color: Color) -> bool:
    return color.space is ColorSpace.CMYK


def _resolve(color: Color | ColorName, declared: Mapping[str, object]) -> Color | None:
    named = declared.get(color.name, color.standard) if isinstance(color, ColorName) else color
    return named if isinstance(named, Color) else None


BODY: Final = "body"
_OFFSETS: Final = ("left", "top", "right", "bottom")
_POSITION: Final = frozenset((*_OFFSETS, "layer"))
_OPPOSITE: Final = (("left", "right", "width"), ("top", "bottom", "height"))
_BREAKS: Final = (
    *("break-before", "break-after", "break-inside", "orphans", "widows", "page", "counter-reset"),
)
_FLOAT: Final = ("float", "span", "float-within")
_NEW_PAGE: Final = ("page", "counter-reset")
_WITHOUT_FAMILY: Final = "img"  # its `page` is that of a PDF
# Page breaks take effect inside these elements only.
_IN_FLOW: Final = frozenset(("flow", "div", "blockquote", "ul", "ol", "li", "group"))


def _check_pages(root: Element) -> Iterator[Problem]:
    """Yield conflicting positions, and breaks and ids without effect."""
    pages = list(root.elements("page"))
    for page in pages:
        for area in page.elements("area"):
            yield from _check_position(area)
            yield from _check_height(area, page, pages)
        for box in page.elements("box"):
            yield from _check_position(box)
            names = (*_BREAKS, "counter-set", "id")
            yield from _check_without_effect(box, names, "a box of a page")
            yield from _check_repeated(box)
        for tag in ("header", "footer"):
            for running in page.elements(tag):
                yield from _check_repeated(running)
    for flow in root.elements("flow"):
        yield from _check_inside(flow, in_flow=True)


def _check_repeated(parent: Element) -> Iterator[Problem]:
    """Check content that pages repeat, where a link to an id would be ambiguous."""
    yield from _check_inside(parent, in_flow=False)
    for element in parent.walk():
        if element is not parent:
            where = f"`{parent.tag}`, which is repeated on many pages"
            yield from _check_without_effect(element, ("id",), where)


def _check_inside(parent: Element, *, in_flow: bool) -> Iterator[Problem]:
    """Check the descendants of an element; `in_flow` means that blocks here may break pages."""
    for element in parent.elements():
        if not in_flow:
            where = f"`{parent.tag}`, which cannot break pages"
            yield from _check_without_effect(element, _page_breaks(element, _NEW_PAGE), where)
        if element.tag == "box":
            yield from _check_flow_box(element)
        if element.tag == "figure":
            yield from _check_float(element, parent, in_flow=in_flow)
        if element.tag in HEADINGS and element.attributes.get("span") == "columns":
            yield from _check_span(element, parent)
        is_in_flow = in_flow and element.tag in _IN_FLOW and not is_positioned(element)
        yield from _check_inside(element, in_flow=is_in_flow)


def _check_float(figure: Element, parent: Element, *, in_flow: bool) -> Iterator[Problem]:
    """Yield a float where figures stand in the text, and attributes that depend on it."""
    if not in_flow:
        where = f"`{parent.tag}`, where figures stand in the text"
        yield from _check_without_effect(figure, _FLOAT, where)
    elif figure.attributes.get("float", "here") == "here":
        yield from _check_without_effect(figure, _FLOAT[1:], "a figure that does not float")
    else:
        breaks = _page_breaks(figure, ("break-before", "break-after", *_NEW_PAGE))
        yield from _check_without_effect(figure, breaks, "a figure that floats")
        if _has_columns(parent) and figure.attributes.get("span", "column") == "column":
            what = f"A `figure` in the columns of a `{parent.tag}` floats only across them"
            advice = 'write span="columns", or give the columns to the `area`'
            yield "float-span", f"{what}; {advice}", figure


def _check_span(heading: Element, parent: Element) -> Iterator[Problem]:
    """Yield a heading of the body: no `div` is around it, as there may be around an inserted flow."""
    if parent.tag == "flow" and parent.attributes.get("name", BODY) == BODY:
        what = f"A `{heading.tag}` spans the columns of a `div`, not those of an `area`"
        advice = 'write the text of its columns in `<div columns="2">`'
        yield "heading-span", f"{what}; {advice}", heading


def _has_columns(element: Element) -> bool:
    return element.tag == "div" and element.attributes.get("columns", "1") != "1"


def _check_flow_box(box: Element) -> Iterator[Problem]:
    yield from _check_without_effect(box, ("layer",), "a box that is not of a page")
    if is_positioned(box):
        yield from _check_position(box)
        yield from _check_without_effect(box, _page_breaks(box, _BREAKS), "a box with a position")


def _page_breaks(element: Element, names: Iterable[str]) -> list[str]:
    """Return the names that affect pages; `counter-reset` does so only for the counter `page`."""
    without = {"page"} if element.tag == _WITHOUT_FAMILY else set()
    if PAGE not in element.attributes.get("counter-reset", PAGE).split():
        without.add("counter-reset")
    return [name for name in names if name not in without]


def _check_height(area: Element, page: Element, pages: Iterable[Element]) -> Iterator[Problem]:
    """Yield an area of a page that is as high as its content."""
    alike = [one for one in pages if one.attributes.get("name") == page.attributes.get("name")]
    sizes = [one.attributes["size"] for one in (page, *alike) if "size" in one.attributes]
    if sizes and sizes[0].split()[1:] == ["auto"]:
        what = "An `area` has a place on its page, whose height is auto"
        yield "position-conflict", f"{what}; give the page a height, or leave the area out", area


def _check_position(element: Element) -> Iterator[Problem]:
    given = element.attributes
    for start, end, size in _OPPOSITE:
        if start in given and end in given and given.get(size, "auto") != "auto":
            what = f"`{start}`, `{end}` and `{size}` of `{element.tag}` are all given"
            yield "position-conflict", f"{what}; two of them determine the third", element


def _check_without_effect(element: Element, names: Iterable[str], where: str) -> Iterator[Problem]:
    for name in names:
        if name in element.attributes:
            message = f"`{name}` of `{element.tag}` has no effect in {where}; leave it out"
            yield "no-effect", message, element


def is_positioned(element: Element) -> bool:
    """Return whether an element is out of the flow: it states an offset or a layer."""
    return element.tag == "box" and not _POSITION.isdisjoint(element.attributes)
