"""Breaks between blocks: forced and avoided ones, and the page families on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workers.engine.layout.blocks.positioning import is_out_of_flow
from workers.engine.layout.context import AnyBlock
from workers.engine.tree.nodes import Break, Container, ListBlock, ListItem, Note, Paragraph
from workers.engine.tree.styles.computed import BreakTo

_FORCING: Final = frozenset((BreakTo.PAGE, BreakTo.COLUMN, BreakTo.LEFT, BreakTo.RIGHT))


def forced_break_before(block: AnyBlock) -> str:
    """Return the break that a block forces before itself, empty for none."""
    if isinstance(block, Break):
        return "" if block.need is not None else block.to
    breaks = block.style.breaks
    if breaks.counter_reset is not None and breaks.before is not BreakTo.LEFT:
        return BreakTo.RIGHT.value if breaks.before is BreakTo.RIGHT else BreakTo.PAGE.value
    if breaks.before in _FORCING:
        return breaks.before.value
    children = breaking_children(block)
    return forced_break_before(children[0]) if children else ""


def page_family_at_start(block: AnyBlock) -> str | None:
    """Return the page family of a block's first content, None for that of the flow."""
    if isinstance(block, Break):
        return None
    children = breaking_children(block)
    return page_family_at_start(children[0]) if children else block.style.breaks.page


def page_family_at_end(block: AnyBlock) -> str | None:
    """Return the page family of a block's last content, None for that of the flow."""
    if isinstance(block, Break):
        return None
    children = breaking_children(block)
    return page_family_at_end(children[-1]) if children else block.style.breaks.page


def forced_break_after(block: AnyBlock) -> str:
    """Return the break that a block forces after itself, empty for none."""
    if isinstance(block, Break):
        return ""
    after = block.style.breaks.after
    if after in _FORCING:
        return after.value
    children = breaking_children(block)
    return forced_break_after(children[-1]) if children else ""


def avoids_break_after(block: AnyBlock) -> bool:
    """Return whether a block, or its last content, avoids a break after it."""
    if isinstance(block, Break):
        return False
    if block.style.breaks.after is BreakTo.AVOID:
        return True
    children = breaking_children(block)
    return bool(children) and avoids_break_after(children[-1])


def avoids_break_before(block: AnyBlock) -> bool:
    """Return whether a block, or its first content, avoids a break before it."""
    if isinstance(block, Break):
        return False
    if block.style.breaks.before is BreakTo.AVOID:
        return True
    children = breaking_children(block)
    return bool(children) and avoids_break_before(children[0])


def breaking_children(block: AnyBlock) -> Sequence[AnyBlock]:
    """Return the children whose breaks propagate to a block (CSS Fragmentation 3, 3.1)."""
    if type(block) is Paragraph:
        return ()
    if type(block) is Container and block.columns is not None and block.columns.count > 1:
        return ()  # a break inside is a column break
    if type(block) is Note:
        return ()  # where notes are collected, they are on the surrounding pages
    return stacked_children(block)


def stacked_children(block: AnyBlock) -> Sequence[AnyBlock]:
    """Return the in-flow children of a block that is a stack."""
    if type(block) is Paragraph:
        return ()
    if isinstance(block, Container):
        children = block.children
        if children and (is_out_of_flow(children[0]) or is_out_of_flow(children[-1])):
            return [child for child in children if not is_out_of_flow(child)]
        return children
    if isinstance(block, ListItem | Note):
        return block.children
    if isinstance(block, ListBlock):
        return block.items
    return ()
