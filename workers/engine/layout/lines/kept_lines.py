"""Text that a template remembers for its next documents: titles, labels, fixed sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from workers.engine.layout.context import LayoutContext
from workers.engine.layout.lines.fragments import Lines
from workers.engine.tree.memo import Kind
from workers.engine.tree.nodes import Inline, LineBreak, TextRun
from workers.engine.tree.styles.computed import Style

_MAX_CHARACTERS: Final = 600  # longer texts are rarely the same in two documents


def remember_lines(
    context: LayoutContext,
    inlines: Sequence[Inline],
    style: Style,
    width: float,
    break_: Callable[[], Lines],
) -> Lines:
    """Return the lines of a text at a width, or else those that `break_` returns.

    They depend on nothing but the text, its styles and the width.
    """
    described: list[Any] = [id(style.text), id(style.paragraph), width]
    if style.paragraph.initial_letter is not None or not describe_text(inlines, described):
        return break_()
    key = tuple(described)
    return context.memo.template.remember(LINES, key, break_, holds=(style, inlines))


def describe_text(inlines: Iterable[Inline], out: list[Any]) -> bool:
    """Append what the lines of a text depend on; return False unless all is text, and short."""
    length = 0
    for inline in inlines:
        if type(inline) is TextRun:
            out += (inline.text, id(inline.style), inline.link)
            length += len(inline.text)
        elif type(inline) is LineBreak:
            out.append(id(inline.style))
        else:
            return False
    return length <= _MAX_CHARACTERS


def _size_of(lines: Lines) -> int:
    parts = sum(len(line.fragments) for line in lines.lines)
    return 500 + 200 * len(lines.lines) + 300 * parts


LINES: Final[Kind[tuple[Any, ...], Lines]] = Kind(size_of=_size_of)
