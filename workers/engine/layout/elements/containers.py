"""Containers: a box with a stack of blocks, or with columns."""

from __future__ import annotations

from workers.engine.layout.blocks.boxes import lay_out_box, outer_widths
from workers.engine.layout.blocks.columns import lay_out_columns
from workers.engine.layout.blocks.positioning import is_out_of_flow
from workers.engine.layout.blocks.stacks import lay_out_children
from workers.engine.layout.context import Fragment, LayoutContext, Region, Resume
from workers.engine.tree.nodes import Break, Container


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
