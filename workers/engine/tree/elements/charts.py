"""Charts: the values of their series, evaluated for each record, and the formats of axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Any, Final

from babel import dates as babel_dates
from babel import numbers as babel_numbers

from workers.engine.diagnostics import SourceLocation
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.vocabulary import read_attribute
from workers.engine.syntax.vocabulary.charts import CHART_KINDS
from workers.engine.syntax.vocabulary.specs import FIELDS
from workers.engine.tree.build_state import Evaluation, Scope
from workers.engine.tree.compiler.attributes import CompiledAttribute, find_color
from workers.engine.tree.compiler.builders import EMPTY, NodeBuilder, Nodes, sequence
from workers.engine.tree.compiler.context import CompileContext
from workers.engine.tree.compiler.control_flow import CompiledLoop, compile_controlled, compile_loop
from workers.engine.tree.elements.block_builder import BlockBuilder, Frame
from workers.engine.tree.elements.figures import FieldBuilder, compile_barcode, make_image
from workers.engine.tree.expressions.runtime import (
    ARITHMETIC,
    MAX_MAGNITUDE,
    describe_type,
    to_text,
)
from workers.engine.tree.node_values import CategoryKind, ChartAxis, ChartSeries
from workers.engine.tree.nodes import Chart, describe_loops
from workers.engine.tree.styles.cascade import ComputedStyle

_SIDEWAYS: Final = frozenset({"bar"})  # the value axis is the lower edge
_BELOW: Final = "below zero"
_VALUE: Final = "value"  # the name that filters of an axis are applied to
_STEPPED: Final = frozenset({"number", "percent", "currency"})
_UNGROUPED: Final = 10_000  # smaller integers on the category axis are mostly years
_LONGEST: Final = 15  # digits of a number without a format
_SMALLEST: Final = Decimal(1).scaleb(-30)  # values nearer to zero are zero


def compile_chart(element: Element, context: CompileContext) -> NodeBuilder:
    """Compile a chart."""
    if element.attributes.get("type") == "gauge":
        return _compile_gauge(element, context)
    return _compile_records(element, context)


def _compile_records(element: Element, context: CompileContext) -> NodeBuilder:
    if "data" not in element.attributes:  # reported by the checks
        return EMPTY
    records = _Records(element, context)
    series = records.series()
    axes = _compile_axes(element, context, is_sideways=_kind_of(element) in _SIDEWAYS)
    records.close()

    def make(frame: Frame) -> Chart:
        inner, is_rtl = frame.enter(), frame.style.paragraph.is_rtl
        items = records.loop.evaluate_items(inner)
        xs, x_kind = records.read_xs(inner, items)
        made = frame.inside(items=items)
        value_axis, x_axis = (
            axis.read(inner, is_rtl=is_rtl, x_kind=kind)
            for axis, kind in zip(axes, (CategoryKind.NUMBER, x_kind), strict=True)
        )
        return _make_chart(element, frame, xs, x_kind, made, value_axis, x_axis)

    return BlockBuilder(element, context, *_OPTIONS, make=make, inner=series)


def _compile_gauge(element: Element, context: CompileContext) -> NodeBuilder:
    location = element.location
    value, most = (
        context.compile_expression(element.attributes.get(name, default), location)
        for name, default in (("value", "none"), ("max", "1"))
    )

    def make(frame: Frame) -> Chart:
        scope = frame.scope
        shown = _read_number(scope, value.evaluate(scope), "value", location)
        full = _read_number(scope, most.evaluate(scope), "max", location)
        if full is not None and full <= 0:
            message = f"`max` of `chart` is not above zero{describe_loops(scope.loop)}; accepted is a number above 0"
            scope.state.findings.error("wrong-value", message, location)
            full = None
        share = None if shown is None or not full else min(max(float(shown / full), 0.0), 1.0)
        plain = ChartAxis(_AxisFormat(scope, None, None))
        chart = _make_chart(element, frame, (), CategoryKind.TEXT, (), plain, plain)
        return replace(chart, gauge=share)

    return BlockBuilder(element, context, *_OPTIONS, make=make)


_OPTIONS: Final = ("alt", "title", "stack", "legend", "colors", "hatch", "values")


def _kind_of(element: Element) -> str:
    return read_attribute(element, "type") or "column"


def _make_chart(
    element: Element,
    frame: Frame,
    xs: tuple[object, ...],
    x_kind: CategoryKind,
    series: tuple[ChartSeries, ...],
    value_axis: ChartAxis,
    x_axis: ChartAxis,
) -> Chart:
    """Return a chart with the texts and options that every chart has."""
    alt, title, stack, legend, colors, hatch, values = frame.read()
    found = (frame.find_color(color) for color in colors or ())
    kind = _kind_of(element)
    return Chart(
        frame.source,
        frame.style,
        kind,
        alt or "",
        xs,
        x_kind,
        series,
        value_axis,
        x_axis,
        title or "",
        stack or ("sum" if kind == "area" else "none"),
        legend,
        tuple(color for color in found if color is not None),
        hatch,
        values,
        id=frame.read_id(),
    )


class _Records:
    """The records of a chart, and the expressions evaluated for each."""

    def __init__(self, element: Element, context: CompileContext) -> None:
        self._element, self._place = element, element.location
        self._outer = context
        self._is_round = _is_round(element)
        self.loop: CompiledLoop = compile_loop(element, context, "data")
        self._used: set[str] = set()
        x = element.attributes.get("x")
        self._x = None if x is None else self.loop.context.compile_expression(x, self._place)

    def series(self) -> NodeBuilder:
        """Compile the series: the elements, or the one that the chart states itself."""
        y = self._element.attributes.get("y")
        if y is not None:
            evaluation = self._y(y, self._outer, self._place)

            def build(scope: Scope, _parent: ComputedStyle, out: Nodes) -> None:
                out.append(self._read(scope, evaluation, "", None))

            return build
        return sequence(
            [
                compile_controlled(child, self._outer, self._compile_series)
                for child in self._element.elements("series")
            ]
        )

    def close(self) -> None:
        """Record the names used inside in the context outside."""
        self.loop.context.used.update(self._used)
        self.loop.propagate_names()

    def read_xs(self, scope: Scope, items: list[object]) -> tuple[tuple[object, ...], CategoryKind]:
        """Return the values of the category axis and their kind: numbers, dates, or else texts."""
        if self._x is None:
            return tuple(Decimal(at) for at in range(1, len(items) + 1)), CategoryKind.NUMBER
        x = self._x
        values = [x.evaluate(iteration) for iteration in self.loop.iterate(scope, items)]
        kinds = {type(value) for value in values if value is not None and value != ""}
        if kinds == {Decimal}:
            return tuple(map(self._checked(scope, "x"), values)), CategoryKind.NUMBER
        if kinds and kinds <= {date, datetime}:
            zone = scope.formats.zone
            return tuple(_as_moment(value, zone) for value in values), CategoryKind.TIME
        return tuple("" if value is None else to_text(value) for value in values), CategoryKind.TEXT

    def _checked(self, scope: Scope, name: str) -> Callable[[object], Decimal | None]:
        return lambda value: _read_number(scope, value, name, self._place)

    def _y(self, text: str, context: CompileContext, location: SourceLocation) -> Evaluation:
        own = context.with_names(self.loop.names)
        evaluation = own.compile_expression(text, location)
        self._used.update(name for each in evaluation.expressions for name in each.all_names)
        return evaluation

    def _compile_series(self, element: Element, context: CompileContext) -> NodeBuilder:
        evaluation = self._y(element.attributes.get("y", "none"), context, element.location)
        label, color = context.compile_attributes(element, "label", "color")
        sheet = context.sheet

        def build(scope: Scope, _parent: ComputedStyle, out: Nodes) -> None:
            own = find_color(sheet, color.read(scope), scope, element.location)
            out.append(self._read(scope, evaluation, label.read(scope) or "", own))

        return build

    def _read(self, scope: Scope, y: Evaluation, label: str, color: Any) -> ChartSeries:
        items = scope.items
        state = scope.state
        state.count_iterations(len(items), y.location)
        exact: list[Decimal | None] = []
        is_told = False
        for iteration in self.loop.iterate(scope, items):
            value = y.evaluate(iteration)
            wrong = None if value is None else _find_wrong(value)
            if not wrong and self._is_round and value and value < 0:
                wrong = _BELOW
            if wrong and not is_told:
                is_told = True  # of one series the first only
                _report(iteration, wrong, "y", y.location)
            exact.append(None if wrong or value is None or value == "" else _rounded(value))
        floats = tuple(None if value is None else float(value) for value in exact)
        return ChartSeries(label, floats, tuple(exact), color)


def _as_moment(value: object, zone: Any) -> datetime | None:
    """Return a date or an instant as local time in the document's time zone."""
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  (of no zone)
    return value.astimezone(zone).replace(tzinfo=None) if value.tzinfo else value


def _find_wrong(value: object) -> str:
    """Return the type of a value that is neither a number nor empty; empty if it is fine."""
    if value == "":
        return ""
    if not isinstance(value, Decimal):
        return describe_type(value)
    is_shown = value.is_finite() and value.adjusted() <= MAX_MAGNITUDE
    return "" if is_shown else "a number that is too large to be shown"


def _rounded(value: Decimal) -> Decimal:
    return Decimal(0) if abs(value) < _SMALLEST else value


def _read_number(scope: Scope, value: Any, name: str, location: SourceLocation) -> Decimal | None:
    """Return a number, None for an empty value; anything else is reported."""
    if value is None or value == "":
        return None
    wrong = _find_wrong(value)
    if wrong:
        _report(scope, wrong, name, location)
        return None
    return _rounded(value)


def _report(scope: Scope, wrong: str, name: str, location: SourceLocation) -> None:
    accepted = "accepted is a number, or nothing for a gap"
    if wrong == _BELOW:
        accepted = "accepted are numbers from 0 on, as slices are parts of a whole"
    message = (
        f"`{name}` of `{location.tag_name}` is {wrong}{describe_loops(scope.loop)}; {accepted}"
    )
    scope.state.findings.error("wrong-value", message, location)


# --- axes -----------------------------------------------------------------------------------------------


def _is_round(element: Element) -> bool:
    kind = CHART_KINDS.get(element.attributes.get("type", ""))
    return kind is not None and kind.is_round


def _compile_axes(
    element: Element, context: CompileContext, *, is_sideways: bool
) -> tuple[_Axis, _Axis]:
    values: Element | None = None
    categories: Element | None = None
    for child in element.elements("axis"):
        if (child.attributes.get("side") == "bottom") is is_sideways:
            values = values or child
        else:
            categories = categories or child
    is_share = element.attributes.get("stack") == "share"
    bare = "percent" if is_share or _is_round(element) else None
    return _Axis(values, context, bare=bare), _Axis(categories, context, is_grouped=False)


class _Axis:
    """The compiled attributes of an axis; defaults if it has no element."""

    def __init__(
        self,
        element: Element | None,
        context: CompileContext,
        *,
        is_grouped: bool = True,
        bare: str | None = None,
    ) -> None:
        self._element = element
        self._is_grouped = is_grouped
        self._attributes: list[CompiledAttribute[Any]] = []
        self._format: Evaluation | None = None
        self._bare = bare
        if element is None:
            return
        names = ("side", "title", "min", "max", "ticks", "grid", "labels")
        self._attributes = [context.compile_attribute(element, name) for name in names]
        written = element.attributes.get("format", "").strip()
        if written:
            inner = context.with_names({_VALUE: None})
            self._format = inner.compile_expression(f"{_VALUE} | {written}", element.location)
            self._bare = written if written in _STEPPED else None

    def read(self, scope: Scope, *, is_rtl: bool, x_kind: CategoryKind) -> ChartAxis:
        """Return the axis of a document's chart."""
        written = _AxisFormat(scope, self._format, self._bare, self._is_grouped)
        if self._element is None:
            return ChartAxis(written)
        side, title, low, high, ticks, grid, labels = (
            each.read(scope) for each in self._attributes
        )
        if side in ("start", "end"):
            side = "right" if (side == "end") is not is_rtl else "left"
        least, most = (self._bound(scope, bound, x_kind) for bound in (low, high))
        if least is not None and most is not None and least >= most:
            scope.state.findings.error(
                "wrong-value", "`min` of `axis` is not below its `max`", self._element.location
            )
            least = most = None
        return ChartAxis(written, side or "", title or "", least, most, ticks, grid, labels)

    def _bound(
        self, scope: Scope, bound: Decimal | date | None, x_kind: CategoryKind
    ) -> float | None:
        if bound is None:
            return None
        if x_kind is CategoryKind.NUMBER and isinstance(bound, Decimal):
            return float(bound)
        if x_kind is CategoryKind.TIME and isinstance(bound, date):
            return float(bound.toordinal())
        accepted = _BOUNDS[x_kind]
        assert self._element is not None
        scope.state.findings.error(
            "wrong-value", f"`min` and `max` of this `axis` take {accepted}", self._element.location
        )
        return None


def _is_scientific(value: Decimal, step: Decimal | None) -> bool:
    """Return whether a number, or the distance of ticks, is too long to be written out."""
    size = step if step is not None else value
    return value.adjusted() >= _LONGEST or (bool(size) and size.adjusted() <= -_LONGEST // 2)


_BOUNDS: Final = {
    CategoryKind.NUMBER: "numbers, as its values are",
    CategoryKind.TIME: "dates, as its values are",
    CategoryKind.TEXT: "nothing, as its values are texts",
}


@dataclass(frozen=True, slots=True, eq=False)
class _AxisFormat:
    """Formats the numbers and dates of an axis in the language of the chart."""

    _scope: Scope
    _evaluation: Evaluation | None
    _bare: str | None
    _is_grouped: bool = True

    def write_number(self, value: Decimal, step: Decimal | None) -> str:
        """Return a number as text.

        As a tick, with as many decimals as the distance of ticks has.
        """
        with localcontext(ARITHMETIC):
            if self._evaluation is not None and (self._bare is None or step is None):
                return self._evaluate(value)
            if self._bare is None and value and _is_scientific(value, step):
                return str(
                    babel_numbers.format_scientific(value, locale=self._scope.formats.locale)
                )
            options: dict[str, object] = {}
            if step is not None:
                options = self._places(step)
            if not self._is_grouped and abs(value) < _UNGROUPED:
                options["group"] = False
            name = self._bare or "number"
            return self._scope.formats[name, (), tuple(options.items())](value)

    def _places(self, step: Decimal) -> dict[str, object]:
        exponent = step.normalize().as_tuple().exponent
        places = max(-exponent, 0) if isinstance(exponent, int) else 0
        if self._bare == "percent":
            places = max(places - 2, 0)
        if self._bare == "currency" and places:
            return {}  # as the currency has
        if places > _LONGEST // 2:  # only a zero is written out there
            return {}
        return {"places": Decimal(places)}

    def write_date(self, moment: datetime, unit: str) -> str:
        """Return a date as a tick."""
        if self._evaluation is not None:
            with localcontext(ARITHMETIC):
                return self._evaluate(moment)
        locale = self._scope.formats.locale
        if unit in ("hour", "minute"):
            return str(babel_dates.format_time(moment, "short", locale=locale))
        return str(babel_dates.format_skeleton(_SKELETONS[unit], moment, locale=locale))

    def _evaluate(self, value: object) -> str:
        assert self._evaluation is not None
        inner = self._scope.fork()
        inner.names[_VALUE] = value
        shown = self._evaluation.evaluate(inner)
        return "" if shown is None else to_text(shown)


_SKELETONS: Final = {"year": "y", "month": "MMM", "day": "MMMd"}

# What stands in a line too, by its tag.
FIGURES: Final[dict[str, Callable[[Element, CompileContext], NodeBuilder]]] = {
    "img": make_image,
    "barcode": compile_barcode,
    "chart": compile_chart,
    **dict.fromkeys(FIELDS, FieldBuilder),
}
