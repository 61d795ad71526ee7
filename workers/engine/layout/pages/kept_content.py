"""Headers and footers that a template keeps for its next documents.

The text of most headers and footers is the same in every document of a template, though data and page
numbers are in it. Their layout depends on nothing but that text, its styles and the width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from workers.engine.layout.context import Fragment, LayoutContext
from workers.engine.layout.lines.hyphenation import can_hyphenate
from workers.engine.tree.document import RunningBox
from workers.engine.tree.nodes import Block, Container, LineBreak, Paragraph, Row, TextRun
from workers.engine.tree.styles.computed import Overflow, Style, TextStyle

MAX_KEPT: Final = 16  # headers and footers of one template
_MAX_PARTS: Final = 400  # of a description; a text has three, a paragraph five
_MAX_CHARACTERS: Final = 2_000


def lay_out_kept(
    context: LayoutContext,
    box: RunningBox,
    blocks: tuple[Block, ...],
    width: float,
    lay_out: Callable[[], Fragment],
) -> Fragment:
    """Return the kept layout of a header or footer that consists of text, or else a new one.

    A layout is kept only if it reported nothing, so that each document has its findings.
    """
    if context.kept is None or context.grid_y is not None:
        return lay_out()
    described: list[Any] = [id(box.style), id(box.source.location), width]
    if not _describe(blocks, described) or len(described) > _MAX_PARTS:
        return lay_out()
    key, kept = tuple(described), context.kept.running_content
    entry = kept.pop(key, None)
    if entry is not None:
        kept[key] = entry  # the last one used is the last one to go
        found: Fragment = entry[0]
        return found
    reports_before = context.findings.report_count
    fragment = lay_out()
    if context.findings.report_count == reports_before and _is_keepable(box, blocks):
        # The identities in the key are those of parts of the box and the blocks, which live with it.
        kept[key] = fragment, box, blocks
        if len(kept) > MAX_KEPT:
            del kept[next(iter(kept))]
    return fragment


def _describe(blocks: Iterable[Block], out: list[Any]) -> bool:
    """Append what the layout of blocks depends on; return False unless all of them are text."""
    for block in blocks:
        if isinstance(block, Paragraph):
            is_text = _describe_paragraph(block, out)
        elif isinstance(block, Row):
            out += (Row, id(block.style), block.gap, block.align, len(block.children))
            is_text = _describe(block.children, out)
        elif isinstance(block, Container):
            if block.position or block.floating or block.columns:
                return False
            out += (Container, id(block.style), block.is_box, len(block.children))
            is_text = _describe(block.children, out)
        else:
            return False
        if not is_text or block.id is not None:
            return False
        # The place is in messages about content that does not fit.
        out += (id(block.source.location), block.source.loop)
    return True


def _describe_paragraph(node: Paragraph, out: list[Any]) -> bool:
    if node.extra is not None or node.outline is not None:
        return False
    out += (Paragraph, id(node.style), len(node.inlines))
    for inline in node.inlines:
        if type(inline) is TextRun:
            out += (inline.text, id(inline.style), inline.link)
        elif type(inline) is LineBreak:
            out.append(id(inline.style))
        else:
            return False
    return True


def _is_keepable(box: RunningBox, blocks: Iterable[Block]) -> bool:
    """Return whether a layout is small, and its styles ask for nothing that is reported once."""
    styles, texts = [box.style], list[TextRun]()
    _collect(blocks, styles, texts)
    return (
        all(map(_is_plain, styles))
        and sum(len(run.text) for run in texts) <= _MAX_CHARACTERS
        and not any(_may_report(run.style, styles) for run in texts)
    )


def _collect(blocks: Iterable[Any], styles: list[Style], texts: list[TextRun]) -> None:
    for block in blocks:
        styles.append(block.style)
        if isinstance(block, Paragraph):
            texts += [inline for inline in block.inlines if isinstance(inline, TextRun)]
        else:
            _collect(block.children, styles, texts)


def _is_plain(style: Style) -> bool:
    return (
        style.box.background_image is None
        and style.box.overflow is not Overflow.SHRINK
        and style.paragraph.initial_letter is None
        and style.paragraph.line_grid is None
    )


def _may_report(text: TextStyle, styles: Iterable[Style]) -> bool:
    """Return whether a font may lack what a style asks for, or a language has no hyphenation."""
    hyphenates = any(style.paragraph.hyphens == "auto" for style in styles)
    return bool(text.features) or (hyphenates and not can_hyphenate(text.lang))
