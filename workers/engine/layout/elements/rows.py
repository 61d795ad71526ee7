"""Rows: blocks side by side, their widths and their alignment.

A row is as high as its highest block, or as its `height` or `min-height` if that is more. Margins
of blocks collapse through a row without border and padding as through a box: the least top margin
of the blocks is above the row, and the margins that extend below it collapse with those of the next
block.

With `align-items="normal"`, the default, blocks are aligned at the top, but text beside text on one
baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workers.engine.layout.blocks.boxes import (
    BoxFragment,
    UsedBox,
    lay_out_box,
    outer_widths,
    resolve_box,
)
from workers.engine.layout.blocks.columns import Track, distribute_width
from workers.engine.layout.blocks.positioning import is_positioned, make_positioned
from workers.engine.layout.blocks.stacks import (
    RowFragment,
    bottom_margin_after,
    collapses_child_margins,
    in_flow_children,
    is_broken_against_style,
    shared_top_margin,
    top_margin,
)
from workers.engine.layout.context import EPSILON, AnyBlock, Fragment, LayoutContext, Region, Resume
from workers.engine.tree.node_values import FieldKind
from workers.engine.tree.nodes import (
    Barcode,
    Block,
    Break,
    Chart,
    Container,
    FormField,
    Image,
    ListBlock,
    Paragraph,
    Row,
    Rule,
)
from workers.engine.units import Length, LengthKind

_ONE_SHARE: Final = Length(1.0, LengthKind.FRACTION)
_DONE: Final[object] = ("done",)  # the resume position of a finished block while others continue
_SHARES_OF_SLACK: Final = {"center": 0.5, "end": 1.0}


def lay_out_row(
    context: LayoutContext, node: Row, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out blocks side by side; in a fragmented row each continues on its own."""
    least = _own_height(resolve_box(context, node.style.box, region))

    def content(inner: Region, at: Resume) -> Fragment | None:
        return _RowFiller(context.inside(node.source), node, inner).fill(at, least)

    return lay_out_box(context, node, region, resume, content)


def measure_row(context: LayoutContext, node: Row) -> tuple[float, float]:
    """Return the min-content and max-content widths of a row, box included."""
    min_content = max_content = node.gap * max(
        sum(not is_positioned(child) for child in node.children) - 1, 0
    )
    for child in node.children:
        if is_positioned(child):
            continue
        low, high = context.measure(child)
        min_content, max_content = min_content + low, max_content + high
    return outer_widths(node.style.box, min_content, max_content)


def _own_height(used_box: UsedBox) -> float:
    """Return the least height of the content of a box, 0 where the content decides."""
    stated = used_box.min_height if used_box.height is None else used_box.height
    return max(stated - used_box.insets.top - used_box.insets.bottom, 0.0)


class _RowFiller:
    """One attempt to fill a region with the blocks of a row."""

    def __init__(self, context: LayoutContext, node: Row, region: Region) -> None:
        self.context = context
        self.node = node
        self.region = region
        self.children = in_flow_children(node)
        self.widths = _widths_of(node, self.children, region.width)
        self.tops = [0.0] * len(self.children)  # from the top of the row
        self.fragments: list[Fragment | None] = []

    def fill(self, resume: Resume, least: float) -> RowFragment | None:
        """Lay out the blocks from their beginning or resume positions; None if one of them does not fit."""
        if resume is None:
            self.tops = self._top_margins()
        starts = resume or (None,) * len(self.children)
        for index, start in enumerate(starts):
            fragment = None if start is _DONE else self._lay_out(index, start)
            if fragment is None and start is not _DONE:
                return None
            self.fragments.append(fragment)
        if resume is None and not self._lower_to_baseline():
            return None
        is_finished = all(
            fragment is None or fragment.resume is None for fragment in self.fragments
        )
        is_whole = resume is None and is_finished
        height = max(map(self._bottom, range(len(self.fragments))), default=0.0)
        if is_whole:
            height = max(height, least)
            self._align(height)
        row = RowFragment(self._placed(), height, None if is_finished else self._resumes())
        if is_finished:
            row.bottom_margin_after = self._margin_below(height)
        if resume is None:
            asides = [child for child in self.node.children if is_positioned(child)]
            row.placed += [(0.0, 0.0, make_positioned(self.context, one), one) for one in asides]
        self._check_width(row)
        return row

    def _lay_out(self, index: int, start: Resume) -> Fragment | None:
        region, top = self.region, self.tops[index]
        bottom = None if region.bottom is None else region.bottom - top
        given = Region(
            self.widths[index], region.height - top, region.is_top, bottom, has_fixed_width=True
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
        standing = [
            index for index, child in enumerate(self.children) if self._aligns_baseline(child)
        ]
        lines = {
            index: self.tops[index] + baseline
            for index in standing
            if (fragment := self.fragments[index])
            and (baseline := fragment.first_baseline) is not None
        }
        lowest = max(lines.values(), default=0.0)
        return all(line == lowest or self._lower(i, lowest - line) for i, line in lines.items())

    def _lower(self, index: int, drop: float) -> bool:
        fragment, context = self.fragments[index], self.context
        assert fragment is not None
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

    def _aligns_baseline(self, child: Block) -> bool:
        align = self.node.align
        return align == "baseline" or (align == "normal" and _begins_with_bare_text(child))

    def _align(self, height: float) -> None:
        """Move or stretch each block in the height of the row."""
        share = _SHARES_OF_SLACK.get(self.node.align, 0.0)
        for index, (child, fragment) in enumerate(zip(self.children, self.fragments, strict=True)):
            assert fragment is not None
            slack = max(height - self._bottom(index), 0.0)
            if not isinstance(child, Break) and child.style.box.margin.top.kind is LengthKind.AUTO:
                self.tops[index] += slack
            elif self.node.align == "stretch" and slack:
                self._stretch(index, child, height - self.tops[index])
            else:
                self.tops[index] += slack * share

    def _stretch(self, index: int, child: Block, height: float) -> None:
        """Stretch the box of a block, unless it has a height or shape of its own."""
        fragment = self.fragments[index]
        if not isinstance(fragment, BoxFragment) or isinstance(
            child, Image | Barcode | Chart | FormField | Rule
        ):
            return
        box = fragment.used_box.box
        if box.height.kind is not LengthKind.AUTO or box.rotate % 180:
            return
        if fragment.used_box.max_height is not None:
            height = max(min(height, fragment.used_box.max_height), fragment.height)
        self.fragments[index] = replace(fragment, height=height)

    def _bottom(self, index: int) -> float:
        fragment = self.fragments[index]
        return 0.0 if fragment is None else self.tops[index] + fragment.height

    def _margin_below(self, height: float) -> float:
        if not collapses_child_margins(self.node.style.box):
            return 0.0
        reached = [
            self._bottom(index) + bottom_margin_after(child, fragment, self.region.width)
            for index, (child, fragment) in enumerate(
                zip(self.children, self.fragments, strict=True)
            )
            if fragment is not None
        ]
        return max(reached, default=height) - height

    # --- the fragment ------------------------------------------------------------------------------

    def _placed(self) -> list[tuple[float, float, Fragment, AnyBlock]]:
        placed: list[tuple[float, float, Fragment, AnyBlock]] = []
        x = 0.0
        for width, top, fragment, child in zip(
            self.widths, self.tops, self.fragments, self.children, strict=True
        ):
            if fragment is not None:
                is_rtl = self.node.style.paragraph.is_rtl
                left = self.region.width - x - width if is_rtl else x
                placed.append((left, top, fragment, child))
            x += width + self.node.gap
        return placed

    def _resumes(self) -> tuple[Resume, ...]:
        return tuple(
            _DONE if fragment is None or fragment.resume is None else fragment.resume
            for fragment in self.fragments
        )

    def _check_width(self, row: RowFragment) -> None:
        used = sum(self.widths) + self.node.gap * max(len(self.widths) - 1, 0)
        if used > self.region.width + EPSILON:
            row.problem = self.context.too_wide(
                self.node.source,
                needed=used,
                available=self.region.width,
                advice="Make the widths of its blocks, or the gap, smaller.",
            )


def _begins_with_bare_text(block: AnyBlock) -> bool:
    """Return whether a block is a form field, or starts with text without a visible box around it."""
    if isinstance(block, Break):
        return False
    if isinstance(block, FormField):
        return block.kind is not FieldKind.SIGNATURE
    box = block.style.box
    if box.background is not None or box.background_image is not None or box.rotate:
        return False
    if box.padding.top or box.border.top.width or box.margin.top.kind is LengthKind.AUTO:
        return False
    if isinstance(block, Container | Row):
        return bool(block.children) and _begins_with_bare_text(block.children[0])
    return isinstance(block, Paragraph | ListBlock)


def _widths_of(node: Row, children: Sequence[Block], available: float) -> list[float]:
    tracks = [Track(_width_of(child)) for child in children]
    gaps = node.gap * max(len(children) - 1, 0)
    return distribute_width(tracks, available - gaps, base=available)


def _width_of(child: Block) -> Length:
    if isinstance(child, Break) or child.style.box.width.kind is LengthKind.AUTO:
        return _ONE_SHARE
    return child.style.box.width
