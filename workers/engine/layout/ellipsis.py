"""Ellipsis: as much of a piece as a room holds, its last line ending in … (language.md 1.9).

A piece that can be shortened has a method `shorten` (text, stacks, boxes and items do); any other
stands whole or not at all.
"""

from __future__ import annotations

from typing import Final

from workers.engine.characters import cut_at_cluster
from workers.engine.layout.context import EPSILON, Piece
from workers.engine.layout.lines import Inset, Line, Look, Part, arrange
from workers.engine.tree.styles import Align

DOTS: Final = "…"


def shorten_piece(piece: Piece, room: float, *, is_cut: bool = False) -> Piece | None:
    """Give as much of a finished piece as stands in a height; None when nothing of it does.

    `is_cut` says that something after it is left out, so that its last line ends in … anyway.
    """
    shorten = getattr(piece, "shorten", None)
    if shorten is None:
        return piece if piece.height <= room + EPSILON else None
    shortened: Piece | None = shorten(room, is_cut=is_cut)
    return shortened


def end_in_dots(line: Line, width: float, align: Align) -> Line:
    """Give a line that ends in …, no wider than `width`; one without text stays as it is."""
    indent = line.x if align in (Align.LEFT, Align.JUSTIFY) else 0.0
    room = width - indent + EPSILON
    parts = _set_close(line.parts)
    while parts:
        last = parts.pop()
        if isinstance(last.look, Inset):
            continue
        cut = _cut_text(last, room)
        if cut is not None or not parts:
            parts.append(cut or last._replace(text=DOTS, width=last.look.measure(DOTS)))
            break
    if not parts:
        return line
    used = parts[-1].x + parts[-1].width
    slack = width - indent - used
    shift = {Align.RIGHT: slack, Align.DECIMAL: slack, Align.CENTER: slack / 2}.get(align, 0.0)
    placed = arrange(tuple(parts)) if any(part.look.level for part in parts) else tuple(parts)
    return line._replace(x=indent + shift, width=used, parts=placed, word_spacing=0.0)


def _set_close(parts: tuple[Part, ...]) -> list[Part]:
    """Give the parts of a line as if it were not justified."""
    closed: list[Part] = []
    x = 0.0
    for part in parts:
        width = part.width if isinstance(part.look, Inset) else part.look.measure(part.text)
        closed.append(Part(x, width, part.text, part.look))
        x += width
    return closed


def _cut_text(part: Part, room: float) -> Part | None:
    """Cut the end of a text so that … has room behind it; None when no character is left."""
    look = part.look
    assert isinstance(look, Look)
    low, high = 0, len(part.text)
    while low < high:
        middle = (low + high + 1) // 2
        if part.x + look.measure(part.text[:middle].rstrip() + DOTS) <= room:
            low = middle
        else:
            high = middle - 1
    text = part.text[: cut_at_cluster(part.text, low)].rstrip()
    return part._replace(text=text + DOTS, width=look.measure(text + DOTS)) if text else None
