"""Blocks that are laid out again by later passes and trials, where they fit as a whole each time.

A document with references or notes is laid out in passes, and an area with notes in trials. Most of
their blocks depend on nothing but the width, so that the first fragment serves again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workers.engine.layout.blocks.boxes import ContentLayout, lay_out_box
from workers.engine.layout.context import AnyBlock, Fragment, LayoutContext, Region, Resume
from workers.engine.tree.nodes import ListBlock, ListItem, Note, Paragraph, Table
from workers.engine.tree.styles.computed import Overflow


def lay_out_repeatedly(
    context: LayoutContext,
    node: Paragraph | ListBlock | Note | Table,
    region: Region,
    resume: Resume,
    content: ContentLayout,
    *,
    is_constant: Callable[[Any], bool] | None = None,
) -> Fragment | None:
    """Lay out a box like `lay_out_box`, and return the same fragment where it fits whole again.

    `is_constant` returns whether the content of the node depends on the width alone; that of text,
    lists and notes is known here.
    """
    if context.references is None or resume is not None or region.bottom is not None:
        return lay_out_box(context, node, region, resume, content)
    kept = context.whole_fragments.get(node)
    if kept is not None:
        width, has_fixed_width, whole = kept
        is_alike = width == region.width and has_fixed_width == region.has_fixed_width
        if is_alike and whole.height <= region.height:
            return whole
    fragment = lay_out_box(context, node, region, resume, content)
    if (
        fragment is not None
        and fragment.resume is None
        and fragment.height <= region.height
        and node.style.box.overflow is not Overflow.SHRINK
        and (is_constant or _depends_on_width_alone)(node)
    ):
        context.whole_fragments[node] = region.width, region.has_fixed_width, fragment
    return fragment


def _depends_on_width_alone(node: AnyBlock) -> bool:
    """Return whether a block consists of text without page numbers and line grid."""
    if isinstance(node, Paragraph):
        extra = node.extra
        shows_pages = extra is not None and (extra.has_references or extra.leader is not None)
        return node.style.paragraph.line_grid is None and not shows_pages
    children: Sequence[AnyBlock]
    if isinstance(node, ListBlock):
        children = node.items
    elif isinstance(node, ListItem) or (isinstance(node, Note) and node.number):
        children = node.children
    else:
        return False  # among them a note that is numbered on its page
    return all(map(_depends_on_width_alone, children))
