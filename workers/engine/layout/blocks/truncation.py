"""`overflow="ellipsis"`: lines that end in …."""

from __future__ import annotations

from typing import Final

from workers.engine.characters import cut_at_cluster
from workers.engine.layout.context import EPSILON
from workers.engine.layout.lines import (
    AtomicInline,
    GlyphStyle,
    InlineFragment,
    Line,
    reorder_fragments,
)
from workers.engine.tree.styles.computed import Align

ELLIPSIS: Final = "…"


def add_ellipsis(line: Line, width: float, align: Align) -> Line:
    """Return a line that ends in …, no wider than `width`; a line without text is unchanged."""
    indent = line.x if align in (Align.LEFT, Align.JUSTIFY) else 0.0
    room = width - indent + EPSILON
    parts = _without_justification(line.fragments)
    while parts:
        last = parts.pop()
        if isinstance(last.glyph_style, AtomicInline):
            continue
        cut = _truncate_text(last, room)
        if cut is not None or not parts:
            parts.append(
                cut or last._replace(text=ELLIPSIS, width=last.glyph_style.measure(ELLIPSIS))
            )
            break
    if not parts:
        return line
    used = parts[-1].x + parts[-1].width
    slack = width - indent - used
    shift = {Align.RIGHT: slack, Align.DECIMAL: slack, Align.CENTER: slack / 2}.get(align, 0.0)
    placed = (
        reorder_fragments(tuple(parts))
        if any(part.glyph_style.level for part in parts)
        else tuple(parts)
    )
    return line._replace(
        x=indent + shift, width=used, fragments=placed, word_spacing=0.0, boundary=0
    )


def _without_justification(parts: tuple[InlineFragment, ...]) -> list[InlineFragment]:
    """Return the fragments of a line at their natural widths."""
    closed: list[InlineFragment] = []
    x = 0.0
    for part in parts:
        width = (
            part.width
            if isinstance(part.glyph_style, AtomicInline)
            else part.glyph_style.measure(part.text)
        )
        closed.append(InlineFragment(x, width, part.text, part.glyph_style))
        x += width
    return closed


def _truncate_text(part: InlineFragment, room: float) -> InlineFragment | None:
    """Shorten a text so that … fits behind it; None when no character is left."""
    glyph_style = part.glyph_style
    assert isinstance(glyph_style, GlyphStyle)
    low, high = 0, len(part.text)
    while low < high:
        middle = (low + high + 1) // 2
        if part.x + glyph_style.measure(part.text[:middle].rstrip() + ELLIPSIS) <= room:
            low = middle
        else:
            high = middle - 1
    text = part.text[: cut_at_cluster(part.text, low)].rstrip()
    return (
        part._replace(text=text + ELLIPSIS, width=glyph_style.measure(text + ELLIPSIS))
        if text
        else None
    )
