"""The fragment of a row, which the row layout makes and stacks read."""

from __future__ import annotations

from dataclasses import dataclass

from workers.engine.layout.context import AnyBlock, Fragment, LayoutProblem, PageCanvas, Resume


@dataclass(slots=True)
class RowFragment:
    """Blocks side by side, each at its place.

    `bottom_margin_after` is how far the blocks' bottom margins extend below the row, in points.
    """

    placed: list[tuple[float, float, Fragment, AnyBlock]]
    height: float
    resume: Resume
    problem: LayoutProblem | None = None
    forced: str = ""
    bottom_margin_after: float = 0.0

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline of the first block that has one."""
        for _, y, fragment, _ in self.placed:
            baseline = fragment.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw the blocks."""
        if self.problem is not None:
            canvas.report(self.problem)
        tree = canvas.tree
        for dx, dy, fragment, block in self.placed:
            if tree is not None:
                tree.enter(block)
            fragment.draw(canvas, x + dx, y + dy)
            if tree is not None:
                tree.leave()
