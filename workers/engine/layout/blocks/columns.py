"""Multi-column layout: a stack of blocks that continues from one column to the next.

Columns are filled one after the other. Balanced columns are filled again at smaller heights until
the content just fits: the height of the tallest column (CSS Multi-column 1, 7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from operator import attrgetter
from typing import Final

from workers.engine.layout.blocks.boxes import draw_border, lay_out_box, outer_widths
from workers.engine.layout.blocks.positioning import is_out_of_flow
from workers.engine.layout.blocks.stacks import (
    collapses_child_margins,
    lay_out_children,
    lay_out_stack,
)
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    WholeFragment,
)
from workers.engine.tree.nodes import Break, ColumnLayout, Container, Source

# The search for the balanced height ends at this interval, in points.
_TOLERANCE: Final = 0.5
_MAX_TRIALS: Final = 16

FillFunction = Callable[..., Fragment | None]


@dataclass(slots=True)
class ColumnsFragment(WholeFragment):
    """Columns side by side, each with its distance from the left edge."""

    layout: ColumnLayout
    columns: list[tuple[float, Fragment]]
    height: float
    resume: Resume
    forced: str = ""
    problem: LayoutProblem | None = None

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the first column, in points."""
        return self.columns[0][1].first_baseline

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the columns, and a rule to the left of each but the leftmost."""
        if self.problem is not None:
            canvas.report(self.problem)
        leftmost = min(offset for offset, _ in self.columns)
        for offset, fragment in self.columns:
            if offset > leftmost and self.layout.rule.width:
                middle = x + offset - self.layout.gap / 2
                draw_border(
                    canvas.items, self.layout.rule, (middle, y), (middle, y + self.height), None
                )
            fragment.draw(canvas, x + offset, y)


def lay_out_columns(
    context: LayoutContext, node: Container, columns: ColumnLayout, region: Region, resume: Resume
) -> ColumnsFragment | None:
    """Lay out the blocks of a container in its columns; nested columns are a problem."""
    if context.is_in_columns:  # nested searches would multiply
        fragment = lay_out_children(context, node, node.children, region, resume)
        if fragment is None:
            return None
        whole = ColumnsFragment(
            columns, [(0.0, fragment)], fragment.height, fragment.resume, fragment.forced
        )
        return replace(whole, problem=_describe_nested(context, node.source))
    blocks, collapses_top = node.children, collapses_child_margins(node.style.box)
    context = context._replace(is_in_columns=True).inside(node.source)
    if region.height == inf and region.bottom is not None and not columns.is_balanced:
        given = region._replace(height=region.bottom, is_top=True)
        return fill_columns(context, blocks, columns, given, resume, is_bound=True)
    fill = partial(lay_out_stack, collapses_top=collapses_top)
    filled = fill_columns(context, blocks, columns, region, resume, fill=fill)
    if filled is None or filled.resume is not None:
        return filled
    if not columns.is_balanced and region.height != inf:
        return filled

    def try_height(height: float) -> ColumnsFragment | None:
        room = Region(region.width, height, is_top=False, top=region.top)
        return fill_columns(context, blocks, columns, room, resume, fill=fill)

    return balance_columns(filled, try_height)


def fill_columns(
    context: LayoutContext,
    blocks: Sequence[AnyBlock],
    columns: ColumnLayout,
    region: Region,
    resume: Resume,
    *,
    is_bound: bool = False,
    fill: FillFunction = lay_out_stack,
) -> ColumnsFragment | None:
    """Fill columns one after the other; None when nothing fits into the first.

    Bound content cannot continue elsewhere: the last column takes the rest. `fill` lays out one
    column like `lay_out_stack`.
    """
    width = max((region.width - columns.gap * (columns.count - 1)) / columns.count, 1.0)
    filled: list[tuple[float, Fragment]] = []
    at, forced = resume, ""
    bottom = region.bottom if columns.count == 1 else None
    for number in range(columns.count):
        is_rest = is_bound and number == columns.count - 1
        height = inf if is_rest else region.height
        given = Region(width, height, region.is_top, bottom, top=region.top)
        fragment = fill(context, blocks, given, at)
        if fragment is None:
            forced = ""
            break
        offset = number * (width + columns.gap)
        filled.append((region.width - width - offset if columns.is_rtl else offset, fragment))
        at, forced = fragment.resume, fragment.forced
        if at is None or (forced not in ("", "column") and not is_bound):
            break
    if not filled:
        return None
    height = max(fragment.height for _, fragment in filled)
    return ColumnsFragment(columns, filled, height, at, forced)


def balance_columns(
    filled: ColumnsFragment,
    try_height: Callable[[float], ColumnsFragment | None],
    measure: Callable[[Fragment], float] = attrgetter("height"),
) -> ColumnsFragment:
    """Return the columns at the least height at which all that `filled` has fits; that is the fallback.

    `try_height` fills them again up to a height, and `measure` returns that of the text of a column.
    """

    def text_height(columns: ColumnsFragment) -> float:
        return max(measure(fragment) for _, fragment in columns.columns)

    best, high = filled, text_height(filled)
    total = sum(measure(fragment) for _, fragment in filled.columns)
    low = total / filled.layout.count - _TOLERANCE
    for _ in range(_MAX_TRIALS):
        if high - low <= _TOLERANCE:
            break
        middle = (low + high) / 2
        trial = try_height(middle)
        if (
            trial is None
            or not _has_same_end(trial, filled)
            or text_height(trial) > middle + EPSILON
        ):
            low = middle
        else:
            best, high = trial, min(text_height(trial), middle)
    return best


def _has_same_end(trial: ColumnsFragment, filled: ColumnsFragment) -> bool:
    return (trial.resume, trial.forced) == (filled.resume, filled.forced)


def _describe_nested(context: LayoutContext, source: Source) -> LayoutProblem:
    return LayoutProblem(
        code="nested-columns",
        message=f"The columns of `{source.location.tag_name}` are inside other columns",
        advice="Use a row or a table inside columns, or end the outer ones before.",
        chain=context.chain(source),
    )


def lay_out_container(
    context: LayoutContext, node: Container, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the blocks of a container in a stack or in columns."""

    def content(inner: Region, at: Resume) -> Fragment | None:
        if node.columns is not None and node.columns.count > 1:
            return lay_out_columns(context, node, node.columns, inner, at)
        return lay_out_children(context, node, node.children, inner, at)

    return lay_out_box(context, node, region, resume, content)


def measure_container(context: LayoutContext, node: Container) -> tuple[float, float]:
    """Return the min-content and max-content widths of a container, box included."""
    in_flow = [child for child in node.children if not is_out_of_flow(child)]
    return outer_widths(node.style.box, *context.measure_widest(in_flow))


def measure_break(_context: LayoutContext, _node: Break) -> tuple[float, float]:
    """Return zero widths: a break takes no space."""
    return 0.0, 0.0
