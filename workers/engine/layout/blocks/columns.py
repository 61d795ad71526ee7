"""Columns: how a width is distributed among them, and a stack that continues from one to the next.

Columns are filled one after the other. Balanced columns are filled again at smaller heights until
the content just fits: the height of the tallest column (CSS Multi-column 1, 7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from operator import attrgetter
from typing import Final, NamedTuple

from workers.engine.layout.blocks.boxes import draw_border
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
from workers.engine.tree.nodes import ColumnLayout, Container, ListBlock, ListItem, Source
from workers.engine.units import Length, LengthKind

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

    @property
    def bottom_margin_after(self) -> float:
        """The bottom margin of the last block of the last column, in points."""
        margin: float = getattr(self.columns[-1][1], "bottom_margin_after", 0.0)
        return margin

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the columns, and a rule to the left of each but the leftmost."""
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
        fragment = lay_out_children(context, node, region, resume)
        if fragment is None:
            return None
        ends = fragment.height, fragment.resume, fragment.forced
        problem = _describe_nested(context, node.source)
        return ColumnsFragment(columns, [(0.0, fragment)], *ends, problem)
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
            or (trial.resume, trial.forced) != (filled.resume, filled.forced)
            or text_height(trial) > middle + EPSILON
        ):
            low = middle
        else:
            best, high = trial, min(text_height(trial), middle)
    return best


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
    if node.columns is not None and node.columns.count > 1:
        return lay_out_columns(context, node, node.columns, region, resume)
    return lay_out_children(context, node, region, resume)


def measure_stack(
    context: LayoutContext, node: Container | ListBlock | ListItem
) -> tuple[float, float]:
    """Return the min-content and max-content widths of blocks below each other."""
    return context.measure_widest(child for child in node.children if not is_out_of_flow(child))


def measure_nothing(_context: LayoutContext, _node: object) -> tuple[float, float]:
    """Return zero widths: of a break, a page's foot, which takes that of the paper, and a rule, which
    takes that of its container.
    """
    return 0.0, 0.0


class Track(NamedTuple):
    """A column: its stated width, and for `auto` its min-content and max-content widths, in points.

    `unbreakable` is the width of content that cannot be broken at all: unwrapped lines, pictures.
    """

    width: Length
    min_content: float = 0.0
    max_content: float = 0.0
    min_width: float = 0.0
    max_width: float | None = None
    unbreakable: float = 0.0


def distribute_width(
    tracks: Sequence[Track], available: float, *, base: float, stretch: bool = False
) -> list[float]:
    """Return the widths of tracks that share `available` points; percentages refer to `base`.

    Lengths and percentages get their full width, even if their sum exceeds `available`. `auto`
    tracks get their max-content width if all can, else a width between min-content and max-content;
    `fr` tracks share the rest. With `stretch` and no `fr`, `auto` tracks also share the rest, in
    proportion to their content.
    """
    autos = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.AUTO]
    shares = [i for i, track in enumerate(tracks) if track.width.kind is LengthKind.FRACTION]
    widths = [_clamp(track, track.width.resolve(base) or 0.0) for track in tracks]
    for index in autos + shares:
        widths[index] = 0.0
    left = max(available - sum(widths), 0.0)
    reserved = sum(max(tracks[i].min_content, tracks[i].min_width) for i in shares)
    for i, width in _size_auto_tracks(tracks, autos, max(left - reserved, 0.0)).items():
        widths[i] = width
    left = max(left - sum(widths[i] for i in autos), 0.0)
    if shares:
        claims = {i: _Claim(tracks[i].width.value, *_limits(tracks[i])) for i in shares}
        for i, width in _share(left, claims).items():
            widths[i] = width
    elif stretch and left > EPSILON:
        _stretch(tracks, autos, widths, left)
    return widths


def _size_auto_tracks(
    tracks: Sequence[Track], autos: Sequence[int], room: float
) -> dict[int, float]:
    """Return the widths of `auto` tracks.

    Where there is less than their min-content widths, the columns with the longest words are cut, and
    unbreakable content keeps its width as long as there is any space for it (compare CSS 2.2, 17.5.2.2).
    """
    high = {i: _clamp(tracks[i], tracks[i].max_content) for i in autos}
    if sum(high.values()) <= room + EPSILON:
        return high
    low = {i: min(_clamp(tracks[i], tracks[i].min_content), high[i]) for i in autos}
    min_width, max_width = sum(low.values()), sum(high.values())
    if min_width < room:
        factor = (room - min_width) / (max_width - min_width)
        return {i: low[i] + (high[i] - low[i]) * factor for i in autos}
    unbreakable = {
        i: min(max(tracks[i].unbreakable, tracks[i].min_width), wide) for i, wide in low.items()
    }
    if sum(unbreakable.values()) >= room:
        return _share(room, {i: _Claim(wide, 0.0, inf) for i, wide in unbreakable.items()})
    return _share(room, {i: _Claim(1.0, unbreakable[i], low[i]) for i in autos})


class _Claim(NamedTuple):
    """What a track has of a room that several share: a weight, and the least and the most in points."""

    weight: float
    least: float
    most: float


def _share(room: float, claims: Mapping[int, _Claim]) -> dict[int, float]:
    """Return widths in proportion to the weights of tracks, within the limits of each.

    What the limit of a track adds or leaves is of the others (CSS Flexbox 1, 9.7).
    """
    widths: dict[int, float] = {}
    while claims:
        total = sum(claim.weight for claim in claims.values())
        unit = room / total if total else 0.0
        moved = {
            i: min(max(weight * unit, least), most) - weight * unit
            for i, (weight, least, most) in claims.items()
        }
        excess = sum(moved.values())
        held = [i for i in claims if moved[i] * excess > 0] or [*claims]
        widths.update((i, claims[i].weight * unit + moved[i]) for i in held)
        room = max(room - sum(widths[i] for i in held), 0.0)
        claims = {i: claim for i, claim in claims.items() if i not in held}
    return widths


def _stretch(
    tracks: Sequence[Track], autos: Sequence[int], widths: list[float], room: float
) -> None:
    open_ = [i for i in autos if tracks[i].max_width is None]
    total = sum(widths[i] for i in open_)
    for i in open_:
        widths[i] += room * widths[i] / total if total else room / len(open_)


def _limits(track: Track) -> tuple[float, float]:
    """Return the least and the most width of a track; the least has priority."""
    most = inf if track.max_width is None else track.max_width
    return track.min_width, max(most, track.min_width)


def _clamp(track: Track, width: float) -> float:
    least, most = _limits(track)
    return min(max(width, least), most)
