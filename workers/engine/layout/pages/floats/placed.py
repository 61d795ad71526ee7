"""The figures placed in an area, and the area with its text and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from workers.engine.layout.context import Fragment, LayoutProblem, PageCanvas, Resume
from workers.engine.tree.nodes import Container, FloatTo


class PlacedFloat(NamedTuple):
    """A figure at `y` points from the upper or lower edge of its area."""

    node: Container
    fragment: Fragment
    y: float


@dataclass(slots=True)
class FloatingFragment:
    """The content of an area with figures above and below it; `used_height` is theirs together."""

    floats: Sequence[PlacedFloat]
    body: Fragment | None
    body_top: float
    height: float
    used_height: float
    resume: Resume
    forced: str
    problems: tuple[LayoutProblem, ...] = ()

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the content, in points."""
        baseline = None if self.body is None else self.body.first_baseline
        return None if baseline is None else self.body_top + baseline

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the content, then the figures, whose anchors have been drawn by then."""
        for problem in self.problems:
            canvas.report(problem)
        if self.body is not None:
            self.body.draw(canvas, x, y + self.body_top)
        tree = canvas.tree
        for node, fragment, offset in self.floats:
            if tree is not None:
                tree.enter_part(node, "Div")
            fragment.draw(canvas, x, y + offset)
            if tree is not None:
                tree.leave()


@dataclass(frozen=True, slots=True)
class PlacedFloats:
    """The figures placed in one area so far."""

    tops: tuple[tuple[Container, Fragment], ...] = ()
    bottoms: tuple[tuple[Container, Fragment], ...] = ()
    problems: tuple[LayoutProblem, ...] = ()
    is_alone: bool = False  # figures of `page`, which stand without text

    def __bool__(self) -> bool:
        return bool(self.tops or self.bottoms)

    def add(self, node: Container, fragment: Fragment, to: FloatTo) -> PlacedFloats:
        """Return the figures with one more."""
        if to is FloatTo.BOTTOM:
            return replace(self, bottoms=(*self.bottoms, (node, fragment)))
        is_alone = to is FloatTo.PAGE
        return replace(self, tops=(*self.tops, (node, fragment)), is_alone=is_alone)

    def takes(self, to: FloatTo) -> bool:
        """Return whether a figure may follow the others without being seen before one of them."""
        if not self:
            return True
        if self.is_alone or to is FloatTo.PAGE:
            return self.is_alone and to is FloatTo.PAGE
        return to is FloatTo.BOTTOM or not self.bottoms

    @property
    def nodes(self) -> tuple[Container, ...]:
        """The figures, those at the top first."""
        return tuple(node for node, _ in (*self.tops, *self.bottoms))


def edge_of(node: Container) -> FloatTo:
    """Return where a figure floats to."""
    assert node.floating is not None
    return node.floating.to
