"""Boxes turned by a quarter: they take the room of their turned shape (language.md 1.5, rotate).

Other angles only turn the drawing; `frames` does that for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workers.engine.layout.context import (
    EPSILON,
    Context,
    Misfit,
    Piece,
    Resume,
    Sheet,
    Space,
)


@dataclass(slots=True)
class TurnedPiece:
    """A piece lying on its side; the piece itself turns its drawing about its middle."""

    piece: Piece
    width: float  # of the piece, so the height it takes
    misfit: Misfit | None = None
    resume: Resume = None
    forced: str = ""
    first_baseline: float | None = None

    @property
    def height(self) -> float:
        """Give the height it takes."""
        return self.width

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw the piece about the middle of the room it takes."""
        if self.misfit is not None:
            sheet.report(self.misfit)
        shift = (self.piece.height - self.width) / 2
        self.piece.draw(sheet, x + shift, y - shift)


def lay_out_turned(context: Context, block: Any, space: Space, _resume: Resume) -> Piece | None:
    """Lay out a block that is turned by 90 or 270 degrees: as wide as it says or its text wants."""
    _, width = context.measure(block)
    if width > space.height + EPSILON and not space.is_top:
        return None
    piece = context.layouts[type(block)](context, block, Space(width), None)
    assert piece is not None
    turned = TurnedPiece(piece, width)
    if piece.height > space.width + EPSILON:
        turned.misfit = context.too_wide(
            block.source, need=piece.height, room=space.width, advice="Make it lower."
        )
    elif width > space.height + EPSILON:
        turned.misfit = context.too_tall(block.source, need=width, room=space.height)
    return turned
