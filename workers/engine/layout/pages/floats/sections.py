"""The figures of a flow that float, those that wait for an area, and the ends of their sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from workers.engine.layout.context import AnyBlock
from workers.engine.tree.nodes import Container, ListBlock, ListItem, Paragraph

_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
_NO_LEVEL: Final = 7  # of a figure before the first heading


class FlowFloats(NamedTuple):
    """The figures of a flow that float: their order, and the heading that ends each one's section."""

    order: Mapping[Container, int]
    ends: Mapping[Container, AnyBlock]


NO_FLOATS: Final = FlowFloats({}, {})


class FloatQueue(NamedTuple):
    """The figures that wait for the next area, and the page break that waits for them."""

    waiting: tuple[Container, ...] = ()
    held_break: str = ""


EMPTY_QUEUE: Final = FloatQueue()


def find_floats(blocks: Sequence[AnyBlock]) -> FlowFloats:
    """Return the figures of a flow that float."""
    order: dict[Container, int] = {}
    ends: dict[Container, AnyBlock] = {}
    open_: list[tuple[Container, int]] = []
    level = _NO_LEVEL
    for block in _walk(blocks):
        if isinstance(block, Container):
            order[block] = len(order)
            if block.floating is not None and block.floating.stays_in_section:
                open_.append((block, level))
            continue
        level = _LEVELS[block.role.value]
        ends.update((figure, block) for figure, own in open_ if own >= level)
        open_ = [(figure, own) for figure, own in open_ if own < level]
    return FlowFloats(order, ends)


def _walk(blocks: Sequence[AnyBlock]) -> Iterator[Container | Paragraph]:
    """Yield the headings and the figures that float, in document order."""
    for block in blocks:
        match block:
            case Container(floating=floating) if floating is not None:
                yield block
            case Container() | ListItem():
                yield from _walk(block.children)
            case ListBlock():
                yield from _walk(block.items)
            case Paragraph() if block.role.value in _LEVELS:
                yield block
            case _:
                pass
