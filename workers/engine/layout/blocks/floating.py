"""Figures that float: in the text they leave an anchor without height (CSS Page Floats 3)."""

from __future__ import annotations

from dataclasses import dataclass

from workers.engine.layout.blocks.positioning import is_positioned, make_positioned
from workers.engine.layout.context import (
    AnyBlock,
    Fragment,
    LayoutContext,
    PageCanvas,
    UnbrokenFragment,
)
from workers.engine.tree.nodes import Container


def is_floating(block: AnyBlock) -> bool:
    """Return whether a block floats to an edge of its area."""
    return type(block) is Container and block.floating is not None


def is_out_of_flow(block: AnyBlock) -> bool:
    """Return whether a block takes no space where it is written."""
    return type(block) is Container and (block.position is not None or block.floating is not None)


def make_out_of_flow(context: LayoutContext, block: AnyBlock) -> Fragment | None:
    """Return the fragment of a block that is out of flow here, None for one in the flow."""
    if is_positioned(block):
        return make_positioned(context, block)
    if context.places_floats and is_floating(block):
        return FloatAnchor(block)
    return None


@dataclass(slots=True)
class FloatAnchor(UnbrokenFragment):
    """The place where a figure that floats is written; in the structure tree it stands here."""

    node: AnyBlock
    height: float = 0.0

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Record the figure."""
        tree = canvas.tree
        if tree is not None:
            tree.enter_part(self.node, "Div")
            tree.leave()
        canvas.add_float(self.node)
