"""Containers: a box with a stack of blocks, or with columns."""

from __future__ import annotations

from collections.abc import Sequence

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.blocks.columns import lay_out_columns
from workers.engine.layout.blocks.floating import is_out_of_flow
from workers.engine.layout.blocks.stacks import collapses_child_margins, lay_out_stack
from workers.engine.layout.context import Fragment, LayoutContext, Region, Resume
from workers.engine.tree.nodes import Block, Break, Container


def lay_out_container(
    context: LayoutContext, node: Container, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the blocks of a container in a stack or in columns."""
    columns, collapses_top = node.columns, collapses_child_margins(node.style.box)

    def content(inner: Region, at: Resume) -> Fragment | None:
        context.path.append(node.source)
        fragment: Fragment | None
        if columns is not None and columns.count > 1:
            fragment = lay_out_columns(
                context, node.source, node.children, columns, inner, at, collapses_top=collapses_top
            )
        else:
            fragment = lay_out_stack(context, node.children, inner, at, collapses_top=collapses_top)
        context.path.pop()
        return fragment

    return lay_out_box(context, node, region, resume, content)


def measure_container(context: LayoutContext, node: Container) -> tuple[float, float]:
    """Return the min-content and max-content widths of a container, box included."""
    return outer_widths(node.style.box, *_widest(context, node.children))


def measure_break(_context: LayoutContext, _node: Break) -> tuple[float, float]:
    """Return zero widths: a break takes no space."""
    return 0.0, 0.0


def _widest(context: LayoutContext, children: Sequence[Block]) -> tuple[float, float]:
    measured = [context.measure(child) for child in children if not is_out_of_flow(child)]
    return (
        max((low for low, _ in measured), default=0.0),
        max((high for _, high in measured), default=0.0),
    )
