"""Boxes: blocks below each other in a box, or in its columns."""

from __future__ import annotations

from collections.abc import Sequence

from workers.engine.layout.columns import lay_out_columns
from workers.engine.layout.context import Context, Piece, Resume, Space
from workers.engine.layout.frames import lay_out_framed, outer_widths
from workers.engine.layout.positions import is_aside
from workers.engine.layout.stacks import lay_out_stack, lets_margins_through
from workers.engine.tree.nodes import Block, Break, Container


def lay_out_container(
    context: Context, node: Container, space: Space, resume: Resume
) -> Piece | None:
    """Lay out the blocks of a container below each other, or in columns."""
    columns, is_through = node.columns, lets_margins_through(node.style.box)

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        piece: Piece | None
        if columns is not None and columns.count > 1:
            piece = lay_out_columns(
                context, node.source, node.children, columns, inner, at, is_through=is_through
            )
        else:
            piece = lay_out_stack(context, node.children, inner, at, is_through=is_through)
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_container(context: Context, node: Container) -> tuple[float, float]:
    """Give the widths of the widest of a container's blocks, box included."""
    return outer_widths(node.style.box, *_widest(context, node.children))


def measure_break(_context: Context, _node: Break) -> tuple[float, float]:
    """Give no width: a break is no thing."""
    return 0.0, 0.0


def _widest(context: Context, children: Sequence[Block]) -> tuple[float, float]:
    measured = [context.measure(child) for child in children if not is_aside(child)]
    return (
        max((low for low, _ in measured), default=0.0),
        max((high for _, high in measured), default=0.0),
    )
