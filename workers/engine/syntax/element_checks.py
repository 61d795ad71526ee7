"""Static checks of single elements: attributes that depend on a type or on each other, and children."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.suggestions import join_words
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.syntax.vocabulary.charts import CHART_KINDS, GAUGE, OF_RECORDS, WITH_AXES

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


_CHECKS: Final[Mapping[str, Callable[[Element, Findings], None]]] = MappingProxyType(
    {
        "chart": _check_chart,
        "input": _check_input,
        "security": _check_security,
        "select": _check_select,
    }
)
