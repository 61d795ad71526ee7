"""Lists and notes, with a marker or a number beside their first line; contents and indexes.

Markers are placed in the list's own padding, on the side where lines start. A marker ends 0.4 em
before the item's edge. Notes have their number inside; they are at the bottom of a page or collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Final

from workers.engine.layout.blocks.stacks import StackFragment, lay_out_children
from workers.engine.layout.context import Fragment, LayoutContext, PageCanvas, Region, Resume
from workers.engine.layout.elements.text import NUMBER_GAP, set_number
from workers.engine.layout.lines.drawing import draw_lines, text_measurer
from workers.engine.layout.lines.fragments import Line, line_metrics
from workers.engine.layout.references import PageLocation, PageReferences
from workers.engine.syntax.identifiers import is_in_arabic_script
from workers.engine.tree.expressions.running_text import apply_text_transform
from workers.engine.tree.memo import Kind, Lifetime
from workers.engine.tree.nodes import (
    Contents,
    Index,
    Inline,
    Label,
    Leader,
    ListItem,
    Note,
    NoteCall,
    PageRange,
    Paragraph,
    ParagraphExtras,
    Role,
    TextRun,
)
from workers.engine.tree.references.resolver import IndexTerm, ReferenceText, Title
from workers.engine.tree.styles.cascade import ComputedStyle
from workers.engine.tree.styles.computed import BreakTo, Style, TextStyle

MARKER_GAP: Final = 0.4  # em


def lay_out_item(
    context: LayoutContext, node: ListItem, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out one item; one without content is as high as a line."""
    fragment = _lay_out_content(context, node, region, resume)
    if fragment is None or not node.marker or resume is not None:
        return fragment and replace(fragment, item=node)
    style = node.style
    marker = set_number(context, TextRun(node.marker, style.text), style, node.source)
    gap = MARKER_GAP * style.text.size
    left = region.width + gap if style.paragraph.is_rtl else -gap - marker.width
    return replace(fragment, item=node, label=partial(_draw_label, node, marker, left))


def lay_out_note(
    context: LayoutContext, node: Note, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the part of a note that fits."""
    number = _number_line(context, node)
    hanging_indent = _hanging_indent(node, number)
    room = region._replace(width=max(region.width - hanging_indent, 1.0), bottom=None)
    fragment = _lay_out_content(context, node, room, resume)
    if fragment is None:
        return None
    is_rtl = node.style.paragraph.is_rtl
    fragment.left = 0.0 if is_rtl else hanging_indent
    if number is None or resume is not None:
        return fragment
    left = region.width - number.width if is_rtl else 0.0
    return replace(fragment, label=partial(_draw_label, node, number, left))


def _lay_out_content(
    context: LayoutContext, node: ListItem | Note, region: Region, resume: Resume
) -> StackFragment | None:
    fragment = lay_out_children(context, node, region, resume)
    if fragment is not None and not node.children:
        fragment.height = line_metrics(node.style.text, node.style.paragraph, context.fonts)[0]
    return fragment


def _draw_label(
    node: ListItem | Note,
    label: Line,
    left: float,
    canvas: PageCanvas,
    x: float,
    y: float,
    baseline: float | None,
) -> None:
    """Draw a marker or number `left` points beside a stack, on its first baseline."""
    down = 0.0 if baseline is None else baseline - label.baseline
    with canvas.part(node, "Lbl"):
        draw_lines(canvas, (label,), x + left, y + down, node)


def measure_note(context: LayoutContext, node: Note) -> tuple[float, float]:
    """Return the min-content and max-content widths of a note, its number included."""
    hanging_indent = _hanging_indent(node, _number_line(context, node))
    low, high = context.measure_widest(node.children)
    return low + hanging_indent, high + hanging_indent


def number_of(context: LayoutContext, node: Note) -> str:
    """Return the number of a note: its own, or the one counted on its page."""
    state = context.references
    return node.number or ("" if state is None else state.note_numbers.get(node.id, ""))


_NUMBERS: Final[Kind[tuple[Note, str], Line]] = Kind()


def _number_line(context: LayoutContext, node: Note) -> Line | None:
    """Return the number as a line that links back to the call."""
    text = number_of(context, node)
    if not text:
        return None
    run = NoteCall(text, node.marker_style, f"#{node.call_anchor}")
    return context.memo.remember(
        _NUMBERS, (node, text), lambda: set_number(context, run, node.style, node.source)
    )


def _hanging_indent(node: Note, number: Line | None) -> float:
    """Return the indent for the number of a note; a wider number moves its own text only."""
    if number is None:
        return 0.0
    own = number.width + NUMBER_GAP * node.style.text.size
    return max(own, node.number_width or 0.0)


_MAX_ALIGNED_NUMBER: Final = 4.0  # em, of a number that titles are aligned after
_EN_DASH: Final = "\u2013"
_ARABIC_COMMA: Final = "\u060c"


@dataclass(frozen=True, slots=True)
class ShownEntries:
    """Entries of contents or an index in a filled area."""

    node: Contents | Index
    entries: Sequence[Paragraph]

    def still_shows(self, context: LayoutContext) -> bool:
        """Return whether the entries are the same."""
        return _entries_of(context, self.node) == self.entries


def lay_out_contents(
    context: LayoutContext, node: Contents | Index, region: Region, resume: Resume
) -> Fragment | None:
    """Lay out the entries of contents or of an index."""
    entries = _entries_of(context, node)
    if context.references is not None:
        context.references.record(ShownEntries(node, entries))
    return lay_out_children(context, node, region, resume, entries)


def measure_contents(context: LayoutContext, node: Contents | Index) -> tuple[float, float]:
    """Return the min-content and max-content widths of the entries."""
    if context.references is not None:
        context.references.affects_widths = True
    return context.measure_widest(_entries_of(context, node))


_CONTENTS: Final[Kind[Contents, Sequence[Paragraph]]] = Kind()
_INDEX: Final[Kind[Index, Sequence[Paragraph]]] = Kind(Lifetime.ONE_PASS)
# One entry by its number and the pages found for it, which may be those of the pass before.
_INDEX_ENTRIES: Final[Kind[tuple[Index, int, tuple[PageLocation, ...]], Paragraph]] = Kind()


def _entries_of(context: LayoutContext, node: Contents | Index) -> Sequence[Paragraph]:
    """Return the entries, cached for all areas of a pass."""
    state = context.references
    if state is None:
        return ()
    if isinstance(node, Contents):
        return context.memo.remember(
            _CONTENTS, node, lambda: _contents_entries(context, node, state)
        )
    return context.memo.remember(_INDEX, node, lambda: _index_entries(context, node, state))


# --- contents -------------------------------------------------------------------------------------------


def _contents_entries(
    context: LayoutContext, node: Contents, state: PageReferences
) -> Sequence[Paragraph]:
    """Return the entries of contents; page numbers are read when drawn."""
    titles = [t for t in state.titles(node.kind) if node.first <= t.level <= node.last]
    widths = {
        level: _number_width(context, node.entries[level - 1], list(group))
        for level, group in groupby(sorted(titles, key=_level), key=_level)
    }
    styles = [entry.style for entry in node.entries]
    heads = [_kept_with_next(style) for style in styles]
    next_levels = [*(title.level for title in titles[1:]), 0]
    return [
        _contents_entry(
            node,
            title,
            (heads if next_level > title.level else styles)[title.level - 1],
            widths[title.level],
        )
        for title, next_level in zip(titles, next_levels, strict=False)
    ]


def _number_width(context: LayoutContext, entry: ComputedStyle, titles: Sequence[Title]) -> float:
    """Return the width reserved for the numbers of a level: the stated one, or that of most
    numbers.

    Titles align after short numbers; a long number moves its own title only.
    """
    numbering = entry.style.numbering
    if numbering is not None and numbering.width is not None:
        return numbering.width
    text = entry.style.text
    measure, gap = text_measurer(context.fonts, text), NUMBER_GAP * text.size
    widths = [measure(f"{title.number} ") + gap for title in titles if title.number]
    short = [width for width in widths if width <= _MAX_ALIGNED_NUMBER * text.size]
    return max(short or widths, default=0.0)


def _contents_entry(node: Contents, title: Title, style: Style, width: float) -> Paragraph:
    entry = node.entries[title.level - 1]
    inlines = tuple(_inlines_of(title.text, entry))
    label = Label(title.number, width) if title.number else None
    refers = any(not isinstance(inline, TextRun) for inline in inlines)
    extra = ParagraphExtras(label, Leader(node.leader, title.target), refers)
    return Paragraph(node.source, Role.CONTENTS_ENTRY, style, inlines, extra=extra)


def _inlines_of(parts: ReferenceText, entry: ComputedStyle) -> Iterator[Inline]:
    for part in parts:
        if isinstance(part, str):
            yield TextRun(apply_text_transform(part, entry.transform), entry.style.text)
        else:
            yield replace(part, style=entry.style.text)


def _level(title: Title) -> int:
    return title.level


def _kept_with_next(style: Style) -> Style:
    """Return the style of an entry that the entries below it follow: they are not separated."""
    if style.breaks.after is not BreakTo.AUTO:
        return style
    return replace(style, breaks=replace(style.breaks, after=BreakTo.AVOID))


# --- the index ------------------------------------------------------------------------------------------


def _index_entries(
    context: LayoutContext, node: Index, state: PageReferences
) -> Sequence[Paragraph]:
    """Return the entries of an index; those whose pages did not change since the last pass are
    reused.
    """
    terms = state.cross_references.terms
    styles = [entry.style for entry in node.entries]
    heads = [_kept_with_next(style) for style in styles]
    entries: list[Paragraph] = []
    for number, term in enumerate(terms):
        pages = {page: name for name in reversed(term.anchors) if (page := state.find_page(name))}
        kind = -1 if term.is_first else term.level - 1
        # A term without pages is kept with its subentries.
        style = styles[kind] if term.anchors else heads[kind]
        found = tuple(sorted(pages))
        make = partial(_index_entry, node, term, style, found, pages)
        entries.append(context.memo.remember(_INDEX_ENTRIES, (node, number, found), make))
    return entries


def _index_entry(
    node: Index,
    term: IndexTerm,
    style: Style,
    found: Sequence[PageLocation],
    pages: dict[PageLocation, str],
) -> Paragraph:
    entry = node.entries[-1 if term.is_first else term.level - 1]
    text = style.text
    inlines: list[Inline] = [TextRun(apply_text_transform(term.text, entry.transform), text)]
    for first, last in _ranges(found):
        shown = str(first.number) if first == last else f"{first.number}{_EN_DASH}{last.number}"
        inlines += _link(shown, text, pages[first])
    return Paragraph(node.source, Role.CONTENTS_ENTRY, style, tuple(inlines))


def _link(shown: str, style: TextStyle, name: str) -> tuple[TextRun, PageRange]:
    comma = _ARABIC_COMMA if is_in_arabic_script(style.lang) else ","
    return TextRun(f"{comma} ", style), PageRange(shown, style, f"#{name}")


def _ranges(pages: Iterable[PageLocation]) -> list[tuple[PageLocation, PageLocation]]:
    """Merge consecutive pages of one numbering run into ranges."""
    ranges: list[tuple[PageLocation, PageLocation]] = []
    for page in pages:
        last = ranges[-1][1] if ranges else None
        if last is not None and last.run == page.run and last.position + 1 == page.position:
            ranges[-1] = (ranges[-1][0], page)
        else:
            ranges.append((page, page))
    return ranges
