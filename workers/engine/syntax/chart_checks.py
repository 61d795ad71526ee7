"""Static checks of charts: which attributes and children each chart type needs and accepts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import ELEMENTS
from workers.engine.syntax.vocabulary.charts import CHART_TYPES
from workers.engine.syntax.wording import join_words

_GAUGE: Final = frozenset({"gauge"})
_AXES: Final = frozenset({"column", "bar", "line", "area", "scatter"})
_SMALL: Final = frozenset({"sparkline", "gauge"})
_ALL: Final = frozenset(CHART_TYPES)
_SINGLE: Final = _ALL - _AXES  # types of one series
_STACKED: Final = frozenset({"column", "bar", "area"})
_NEEDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"value": _GAUGE, "data": _ALL - _GAUGE, "x": _ALL - _SMALL}
)
# The chart types that use an attribute; every type uses the attributes that are not listed.
_TAKERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "value": _GAUGE,
        "max": _GAUGE,
        "data": _ALL - _GAUGE,
        "x": _ALL - _SMALL,
        "y": _ALL - _GAUGE,
        "title": _ALL - _SMALL,
        "legend": _ALL - _SMALL,
        "values": _ALL - _SMALL - {"scatter"},
        "stack": _STACKED,
        "hatch": _ALL - _SMALL - {"line", "scatter"},
    }
)


def check_charts(root: Element, findings: Findings) -> None:
    """Report attributes and children that a chart's type needs and lacks, or does not use."""
    for element in root.walk():
        if element.tag == "chart" and element.attributes.get("type") in CHART_TYPES:
            _check_chart(element, element.attributes["type"], findings)


def _check_chart(element: Element, kind: str, findings: Findings) -> None:
    given = element.attributes
    specs = ELEMENTS["chart"].attributes
    for name, types in _NEEDS.items():
        if kind in types and name not in given:
            findings.error(
                "missing-attribute",
                f'A chart of type "{kind}" has no `{name}`, which it needs: '
                f"{specs[name].value_type.accepts}",
                element.location,
            )
    for name, types in _TAKERS.items():
        if name in given and kind not in types:
            findings.error(
                "misplaced-attribute",
                f'`{name}` has no effect on a chart of type "{kind}"; it is for '
                f"{join_words(sorted(types), 'and')}",
                element.location,
            )
    _check_series(element, kind, findings)
    _check_axes(element, kind, findings)


def _check_series(element: Element, kind: str, findings: Findings) -> None:
    series = list(element.elements("series"))
    has_own = "y" in element.attributes
    if kind == "gauge":
        if series:
            _refuse_child(series[0], kind, findings)
        return
    if has_own and series:
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
    elif kind in _SINGLE and (len(series) > 1 or any("for" in s.attributes for s in series)):
        findings.error(
            "misplaced-element",
            f'A chart of type "{kind}" has several series; it takes one, as its `y`',
            series[-1].location,
            element.location,
        )


def _check_axes(element: Element, kind: str, findings: Findings) -> None:
    seen: set[bool] = set()
    for axis in element.elements("axis"):
        if kind not in _AXES:
            _refuse_child(axis, kind, findings)
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


def _refuse_child(child: Element, kind: str, findings: Findings) -> None:
    types = _ALL - _GAUGE if child.tag == "series" else _AXES
    findings.error(
        "misplaced-element",
        f'`{child.tag}` has no effect in a chart of type "{kind}"; it is for '
        f"{join_words(sorted(types), 'and')}",
        child.location,
    )
