"""Blocks side by side, laid out: what the layout of rows makes and stacks ask of it."""

from __future__ import annotations

from dataclasses import dataclass

from workers.engine.layout.context import Misfit, Piece, Resume, Sheet


@dataclass(slots=True)
class RowPiece:
    """Blocks side by side, each at its place.

    `margin_below` is how far the margins of the blocks reach below it.
    """

    placed: list[tuple[float, float, Piece]]
    height: float
    resume: Resume
    misfit: Misfit | None = None
    forced: str = ""
    margin_below: float = 0.0

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first baseline of the first block that has one."""
        for _, y, piece in self.placed:
            baseline = piece.first_baseline
            if baseline is not None:
                return y + baseline
        return None

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the blocks."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        for dx, dy, piece in self.placed:
            piece.draw(sheet, x + dx, y + dy)
