"""Lines of texts that a template keeps for its next documents: titles, labels, fixed sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines.fragments import Lines
from workers.engine.tree.nodes import Inline, LineBreak, TextRun
from workers.engine.tree.styles.computed import Style

MAX_KEPT: Final = 128  # texts of one template
# Of one document: what differs in each document must not push out what is the same in all of them.
_MAX_NEW: Final = 32
_MAX_CHARACTERS: Final = 600  # of a text
_MAX_INLINES: Final = 8


def break_kept_lines(
    context: LayoutContext,
    inlines: Sequence[Inline],
    style: Style,
    width: float,
    break_: Callable[[], Lines],
) -> Lines:
    """Return the kept lines of a text at a width, or else those that `break_` returns.

    They depend on nothing but the text, its styles and the width.
    """
    kept = context.kept
    if kept is None or len(inlines) > _MAX_INLINES or style.paragraph.initial_letter is not None:
        return break_()
    described: list[Any] = [id(style.text), id(style.paragraph), width]
    length = 0
    for inline in inlines:
        if type(inline) is TextRun:
            described += (inline.text, id(inline.style), inline.link)
            length += len(inline.text)
        elif type(inline) is LineBreak:
            described.append(id(inline.style))
        else:
            return break_()
    if length > _MAX_CHARACTERS:
        return break_()
    key = tuple(described)
    entry = kept.lines.pop(key, None)
    if entry is None:
        lines = break_()
        if context.new_lines >= _MAX_NEW:
            return lines
        context.new_lines += 1
        # The identities in the key are those of styles, which live with the entry.
        entry = lines, style, inlines
        if len(kept.lines) >= MAX_KEPT:
            del kept.lines[next(iter(kept.lines))]
    kept.lines[key] = entry  # the last one used is the last one to go
    found: Lines = entry[0]
    return found
