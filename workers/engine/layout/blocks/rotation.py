"""Boxes rotated by a quarter turn: they take the space of the rotated shape.

Other angles affect drawing only, in `boxes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workers.engine.layout.context import (
    EPSILON,
    Fragment,
    LayoutContext,
    LayoutProblem,
    PageCanvas,
    Region,
    Resume,
    UnbrokenFragment,
)


@dataclass(slots=True)
class RotatedFragment(UnbrokenFragment):
    """A fragment on its side; the fragment inside rotates its drawing about its centre."""

    fragment: Fragment
    width: float  # of the fragment inside, so its height in the flow
    problem: LayoutProblem | None = None

    @property
    def height(self) -> float:
        """The height in the flow, which is the width of the rotated fragment, in points."""
        return self.width

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the fragment centred in the space it takes."""
        if self.problem is not None:
            canvas.report(self.problem)
        shift = (self.fragment.height - self.width) / 2
        self.fragment.draw(canvas, x + shift, y - shift)


def lay_out_rotated(
    context: LayoutContext, block: Any, region: Region, _resume: Resume
) -> Fragment | None:
    """Lay out a block rotated by 90 or 270 degrees, as wide as its max-content width."""
    _, width = context.measure(block)
    if width > region.height + EPSILON and not region.is_top:
        return None
    fragment = context.layouts[type(block)](context, block, Region(width), None)
    assert fragment is not None
    turned = RotatedFragment(fragment, width)
    if fragment.height > region.width + EPSILON:
        turned.problem = context.too_wide(
            block.source, needed=fragment.height, available=region.width, advice="Make it lower."
        )
    elif width > region.height + EPSILON:
        turned.problem = context.too_tall(block.source, needed=width, available=region.height)
    return turned
