"""Rows and grids: blocks side by side, their widths and their alignment.

A row is as high as its highest block, or as its `height` or `min-height` if that is more. Margins
of blocks collapse through a row without border and padding as through a box: the least top margin
of the blocks is above the row, and the margins that extend below it collapse with those of the next
block.

With `align-items="normal"`, the default, blocks are aligned at the top, but text beside text on one
baseline.

Grids have cells in columns of fixed widths, filled in order and continued on further pages. A block
without a stated height is stretched to its cell and must fit into it. A grid breaks between its rows,
and inside one without a stated height that is taller than an area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf
from operator import attrgetter
from typing import Final, NamedTuple

from workers.engine.layout.blocks import boxes
from workers.engine.layout.blocks.columns import Track, distribute_width
from workers.engine.layout.blocks.positioning import is_positioned, make_positioned
from workers.engine.layout.blocks.stacks import (
    PlacedBlock,
    RowFragment,
    StackFragment,
    bottom_margin_after,
    collapses_child_margins,
    in_flow_children,
    is_broken_against_style,
    lay_out_stack,
    shared_top_margin,
    top_margin,
)
from workers.engine.layout.context import (
    EPSILON,
    AnyBlock,
    Fragment,
    LayoutContext,
    LayoutProblem,
    Region,
    Resume,
    describe_element,
    format_mm,
)
from workers.engine.tree import nodes
from workers.engine.tree.memo import Kind
from workers.engine.tree.node_values import FieldKind
from workers.engine.units import Length, LengthKind

_ONE_SHARE: Final = Length(1.0, LengthKind.FRACTION)
_SHARES_OF_SLACK: Final = {"center": 0.5, "end": 1.0}

# The blocks of a broken row that go on, by number, each with its position.
OpenBlocks = tuple[tuple[int, Resume], ...]


class _Places(NamedTuple):
    """The widths of blocks side by side in a region, and the gap between them, in points."""

    widths: Sequence[float]
    gap: float
    room: float
    is_rtl: bool

    def left_of(self, index: int) -> float:
        """Return the distance of a block from the left."""
        before = sum(self.widths[:index]) + index * self.gap
        return self.room - before - self.widths[index] if self.is_rtl else before

    def check(
        self, context: LayoutContext, node: nodes.Row | nodes.Grid, advice: str
    ) -> LayoutProblem | None:
        """Return the problem of blocks that are wider together than their region."""
        used = sum(self.widths) + self.gap * max(len(self.widths) - 1, 0)
        if used <= self.room + EPSILON:
            return None
        return context.too_wide(node.source, needed=used, available=self.room, advice=advice)


def _share_width(
    node: nodes.Row | nodes.Grid, lengths: Sequence[Length], gap: float, room: float
) -> _Places:
    tracks = [Track(length) for length in lengths]
    widths = distribute_width(tracks, room - gap * max(len(tracks) - 1, 0), base=room)
    return _Places(widths, gap, room, node.style.paragraph.is_rtl)


def lay_out_row(
    context: LayoutContext, node: nodes.Row, region: Region, resume: OpenBlocks | None
) -> Fragment | None:
    """Lay out blocks side by side; in a fragmented row each continues on its own."""
    least = _own_height(boxes.resolve_box(context, node.style.box, region))
    return _RowFiller(context.inside(node.source), node, region).fill(resume, least)


def measure_row(context: LayoutContext, node: nodes.Row) -> tuple[float, float]:
    """Return the min-content and max-content widths of a row."""
    min_content = max_content = node.gap * max(
        sum(not is_positioned(child) for child in node.children) - 1, 0
    )
    for child in node.children:
        if is_positioned(child):
            continue
        low, high = context.measure(child)
        min_content, max_content = min_content + low, max_content + high
    return min_content, max_content


def _own_height(used_box: boxes.UsedBox) -> float:
    """Return the least height of the content of a box, 0 where the content decides."""
    stated = used_box.min_height if used_box.height is None else used_box.height
    return max(stated - used_box.insets.top - used_box.insets.bottom, 0.0)


class _RowFiller:
    """One attempt to fill a region with the blocks of a row."""

    def __init__(self, context: LayoutContext, node: nodes.Row, region: Region) -> None:
        self.context = context
        self.node = node
        self.region = region
        self.children = in_flow_children(node)
        lengths = [_width_of(child) for child in self.children]
        self.places = _share_width(node, lengths, node.gap, region.width)
        self.tops = [0.0] * len(self.children)  # from the top of the row
        self.fragments: dict[int, Fragment] = {}  # of the blocks that are not finished

    def fill(self, resume: OpenBlocks | None, least: float) -> RowFragment | None:
        """Lay out the blocks from their beginning or resume positions; None if one of them does not fit."""
        starts = dict.fromkeys(range(len(self.children))) if resume is None else dict(resume)
        if resume is None:
            self.tops = self._top_margins()
        for index, start in starts.items():
            fragment = self._lay_out(index, start)
            if fragment is None:
                return None
            self.fragments[index] = fragment
        if resume is None and not self._lower_to_baseline():
            return None
        ends = [(index, each.resume) for index, each in self.fragments.items()]
        rest = tuple([end for end in ends if end[1] is not None])
        is_whole = resume is None and not rest
        height = max(map(self._bottom, self.fragments), default=0.0)
        if is_whole:
            height = max(height, least)
            self._align(height)
        placed = [
            PlacedBlock(self.places.left_of(i), self.tops[i], fragment, self.children[i])
            for i, fragment in self.fragments.items()
        ]
        row = RowFragment(placed, height, rest or None, is_split=not is_whole)
        if not rest:
            row.bottom_margin_after = self._margin_below(height)
        if resume is None:
            asides = [child for child in self.node.children if is_positioned(child)]
            row.placed += [
                PlacedBlock(0.0, 0.0, make_positioned(self.context, one), one) for one in asides
            ]
        advice = "Make the widths of its blocks, or the gap, smaller."
        row.problem = self.places.check(self.context, self.node, advice)
        return row

    def _lay_out(self, index: int, start: Resume) -> Fragment | None:
        region, top = self.region, self.tops[index]
        bottom = None if region.bottom is None else region.bottom - top
        given = Region(
            *(self.places.widths[index], region.height - top, region.is_top, bottom),
            has_fixed_width=True,
        )
        child = self.children[index]
        fragment = self.context.lay_out(child, given, start)
        if fragment is None or region.is_top:  # at the top of an area, `avoid` is ignored
            return fragment
        if fragment.height > given.height + EPSILON:
            return None
        return None if start is None and is_broken_against_style(child, fragment) else fragment

    # --- positions of blocks ------------------------------------------------------------------------

    def _top_margins(self) -> list[float]:
        """Return the distance from the row's top to each block: its top margin less the shared one."""
        width, node = self.region.width, self.node
        outside = shared_top_margin(node, width) if collapses_child_margins(node.style.box) else 0.0
        tops = [top_margin(child, width, is_first=True) for child in self.children]
        return [max(top - outside, 0.0) for top in tops]

    def _lower_to_baseline(self) -> bool:
        """Align text on the lowest first baseline; return False if a lowered block does not fit."""
        lines = {
            index: self.tops[index] + baseline
            for index, fragment in self.fragments.items()
            if self._aligns_baseline(self.children[index])
            and (baseline := fragment.first_baseline) is not None
        }
        lowest = max(lines.values(), default=0.0)
        return all(line == lowest or self._lower(i, lowest - line) for i, line in lines.items())

    def _lower(self, index: int, drop: float) -> bool:
        fragment, context = self.fragments[index], self.context
        self.tops[index] += drop
        if fragment.resume is None and self._bottom(index) <= self.region.height + EPSILON:
            return True
        # A lowered block that does not fit is laid out again, but not in nested rows: the work
        # would double with each level.
        again = None
        if not context.is_aligning_baselines:
            self.context = context._replace(is_aligning_baselines=True)
            again = self._lay_out(index, None)
            self.context = context
        if again is None:
            self.tops[index] -= drop
        self.fragments[index] = again or fragment
        return again is not None or self.region.is_top or context.is_aligning_baselines

    def _aligns_baseline(self, child: nodes.Block) -> bool:
        align = self.node.align
        return align == "baseline" or (align == "normal" and _begins_with_bare_text(child))

    def _align(self, height: float) -> None:
        """Move or stretch each block in the height of the row."""
        share = _SHARES_OF_SLACK.get(self.node.align, 0.0)
        for index, child in enumerate(self.children):
            slack = max(height - self._bottom(index), 0.0)
            if child.style.box.margin.top.kind is LengthKind.AUTO:
                self.tops[index] += slack
            elif self.node.align == "stretch" and slack:
                self._stretch(index, child, height - self.tops[index])
            else:
                self.tops[index] += slack * share

    def _stretch(self, index: int, child: nodes.Block, height: float) -> None:
        """Stretch the box of a block, unless it has a height or shape of its own."""
        fragment = self.fragments[index]
        if not isinstance(fragment, boxes.BoxFragment) or not _is_stretchable(child):
            return
        if fragment.used_box.max_height is not None:
            height = max(min(height, fragment.used_box.max_height), fragment.height)
        self.fragments[index] = replace(fragment, height=height)

    def _bottom(self, index: int) -> float:
        return self.tops[index] + self.fragments[index].height

    def _margin_below(self, height: float) -> float:
        if not collapses_child_margins(self.node.style.box):
            return 0.0
        width = self.region.width
        reached = [
            self._bottom(index) + bottom_margin_after(self.children[index], fragment, width)
            for index, fragment in self.fragments.items()
        ]
        return max(reached, default=height) - height


def _is_stretchable(block: nodes.Block) -> bool:
    """Return whether a block has no height or shape of its own."""
    if isinstance(
        block,
        nodes.Break | nodes.Image | nodes.Barcode | nodes.Chart | nodes.FormField | nodes.Rule,
    ):
        return False
    return block.style.box.height.kind is LengthKind.AUTO and not block.style.box.rotate % 180


def _begins_with_bare_text(block: AnyBlock) -> bool:
    """Return whether a block is a form field, or starts with text without a visible box around it."""
    if isinstance(block, nodes.FormField):
        return block.kind is not FieldKind.SIGNATURE
    box = block.style.box
    if box.background is not None or box.background_image is not None or box.rotate:
        return False
    if box.padding.top or box.border.top.width or box.margin.top.kind is LengthKind.AUTO:
        return False
    if isinstance(block, nodes.Container | nodes.Row):
        return bool(block.children) and _begins_with_bare_text(block.children[0])
    return isinstance(block, nodes.Paragraph | nodes.ListBlock)


def _width_of(child: nodes.Block) -> Length:
    width = child.style.box.width
    return _ONE_SHARE if width.kind is LengthKind.AUTO else width


class GridResume(NamedTuple):
    """A position in a grid: the cell, counted from the first of all, and the blocks of its row by
    column if that is broken.
    """

    cell: int
    blocks: OpenBlocks = ()


class _Cell(NamedTuple):
    """A block that is laid out in a row of a grid, from its position on."""

    column: int
    block: nodes.Block
    start: Resume


_STRETCHED: Final[Kind[tuple[nodes.Block, float, float], nodes.Block]] = Kind()


def lay_out_grid(
    context: LayoutContext, node: nodes.Grid, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the rows of a grid that fit into a region."""
    start = resume or GridResume(0)
    return _GridFiller(context.inside(node.source), node, region, start).fill()


def measure_grid(context: LayoutContext, node: nodes.Grid) -> tuple[float, float]:
    """Return the min-content and max-content widths of a grid."""
    low, high = context.measure_widest(node.children)
    stated = sum(length.value for length in node.columns if length.kind is LengthKind.POINTS)
    stated += node.column_gap * max(len(node.columns) - 1, 0)
    open_ = sum(length.kind is not LengthKind.POINTS for length in node.columns)
    return stated + low * open_, stated + high * open_


class _GridFiller:
    """One attempt to fill a region; skipped cells are counted."""

    def __init__(
        self, context: LayoutContext, node: nodes.Grid, region: Region, start: GridResume
    ) -> None:
        self.context = context
        self.node = node
        self.region = region
        self.first, self.begun = start
        self.rest: OpenBlocks = ()
        self.children = [child for child in node.children if not isinstance(child, nodes.Break)]
        self.total = node.skip + len(self.children)
        self.places = _share_width(node, node.columns, node.column_gap, region.width)
        self.widths = self.places.widths
        self.cells: list[PlacedBlock] = []
        self.rows = 0  # of the stated height
        self.too_tall: LayoutProblem | None = None

    def fill(self) -> RowFragment | None:
        left = ceil((self.total - self.first) / max(len(self.widths), 1))
        if left <= 0 or not self.widths:
            return RowFragment([], 0.0, None)
        self.rows = min(self._count_even(), left)
        filled = self._fill_rows(left)
        if filled is None:
            return None
        rows, height = filled
        if self.node.fills_columns:
            self.cells.sort(key=attrgetter("x"), reverse=self.node.style.paragraph.is_rtl)
        after = self.first + rows * len(self.widths)
        resume = GridResume(after, self.rest) if self.rest or after < self.total else None
        is_split = bool(self.begun or self.rest)
        advice = "Make its columns, their gap, or their number smaller."
        problem = self.places.check(self.context, self.node, advice) or self.too_tall
        return RowFragment(self.cells, height, resume, problem, is_split=is_split)

    def _count_even(self) -> int:
        """Return how many rows of the stated height fit, at least one."""
        height, gap, room = self.node.row_height, self.node.row_gap, self.region.height
        if height is None or room == inf:
            return self.total
        return max(int((room + gap + EPSILON) / max(height + gap, EPSILON)), 1)

    def _fill_rows(self, left: int) -> tuple[int, float] | None:
        """Fill rows of the stated height, or as high as their highest block; return how many, and how high."""
        y = 0.0
        for row in range(left):
            room = self.region.height - y
            is_top = self.region.is_top and not row
            cells = self._find_cells(row)
            fragments = self._lay_out_row(cells, inf, is_top=True)
            height = self.node.row_height
            if height is None:
                height = _height_of(fragments)
                is_too_tall = is_top or height > self.context.area.height + EPSILON
                if height > room + EPSILON and is_too_tall:
                    parts = self._lay_out_row(cells, room, is_top=is_top)
                    if any(parts) and _height_of(parts) <= room + EPSILON:
                        fragments, height = parts, _height_of(parts)
                        self.rest = tuple(
                            [
                                (cell.column, part.resume if part else cell.start)
                                for cell, part in zip(cells, parts, strict=True)
                                if part is None or part.resume is not None
                            ]
                        )
            if height > room + EPSILON:
                if row:
                    return row, y - self.node.row_gap
                if not self.region.is_top:
                    return None
                self.too_tall = self.context.too_tall(
                    self.node.source, needed=height, available=self.region.height
                )
            for (column, block, _), fragment in zip(cells, fragments, strict=True):
                if fragment is not None:
                    if fragment.height > height + EPSILON:
                        fragment.problem = self._describe_too_tall(block, fragment.height, height)
                    size = self.widths[column], height
                    self.cells.append(
                        PlacedBlock(self.places.left_of(column), y, fragment, block, size)
                    )
            y += height + self.node.row_gap
            if self.rest:
                return row, y - self.node.row_gap
        return left, y - self.node.row_gap

    def _find_cells(self, row: int) -> list[_Cell]:
        """Return the blocks of a row that are not finished."""
        begun = {} if row else dict(self.begun)
        columns = begun or range(len(self.widths))
        found = [(column, self._child_at(row, column)) for column in columns]
        return [_Cell(at, block, begun.get(at)) for at, block in found if block is not None]

    def _lay_out_row(
        self, cells: Sequence[_Cell], room: float, *, is_top: bool
    ) -> list[StackFragment | None]:
        """Return the blocks of a row, or what is left of them, as far as they fit."""
        height = self.node.row_height
        regions = [Region(self.widths[cell.column], room, is_top, height) for cell in cells]
        return [
            lay_out_stack(self.context, (cell.block,), region, cell.start)
            for cell, region in zip(cells, regions, strict=True)
        ]

    def _child_at(self, row: int, column: int) -> nodes.Block | None:
        """Return the block of a cell of this fragment, stretched to a stated height."""
        inside = row * len(self.widths) + column
        if self.node.fills_columns:
            inside = column * self.rows + row
        number = self.first + inside - self.node.skip
        if not 0 <= number < len(self.children):
            return None
        child, height = self.children[number], self.node.row_height
        return child if height is None else self._stretched(child, self.widths[column], height)

    def _stretched(self, child: nodes.Block, width: float, height: float) -> nodes.Block:
        """Return a block stretched to the height of its cell, unless it has a height or shape of its own."""
        if not _is_stretchable(child) or is_positioned(child):
            return child
        box = child.style.box

        def stretch() -> nodes.Block:
            above = box.margin.top
            edges = 0.0 if above.kind is LengthKind.BETWEEN else above.resolve(width) or 0.0
            # The bottom margin of a paragraph applies between blocks only; a box may want its
            # border off.
            if isinstance(child, nodes.Container):
                edges += box.margin.bottom.resolve(width) or 0.0
            own = Length(max(height - edges, 0.0))
            stretched = replace(child, style=replace(child.style, box=replace(box, height=own)))
            memo.store(boxes.IN_CELL, stretched, True)
            return stretched

        memo = self.context.memo
        return memo.remember(_STRETCHED, (child, width, height), stretch)

    def _describe_too_tall(self, child: nodes.Block, need: float, room: float) -> LayoutProblem:
        source, context = child.source, self.context
        return LayoutProblem(
            code="content-overflows",
            message=f"Content does not fit: {describe_element(source, context.path)} needs {format_mm(need)}, "
            f"the cell allows {format_mm(room)}",
            advice="Make it lower, or grid-auto-rows higher.",
            chain=context.chain(source),
        )


def _height_of(fragments: Sequence[StackFragment | None]) -> float:
    return max((each.height for each in fragments if each is not None), default=0.0)
