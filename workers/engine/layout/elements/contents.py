"""Contents and indexes: their entries as paragraphs below each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from workers.engine.layout.context import Context, Piece, Resume, Space
from workers.engine.layout.crossings import CrossState, FoundPage
from workers.engine.layout.frames import lay_out_framed, outer_widths
from workers.engine.layout.labels import measure_label
from workers.engine.layout.stacks import lay_out_stack, lets_margins_through
from workers.engine.tree.nodes import (
    Contents,
    EntryStyle,
    Extra,
    Index,
    Inline,
    Label,
    Leader,
    Paragraph,
    Role,
    Run,
)
from workers.engine.tree.styles import BreakTo, Style, TextStyle
from workers.engine.tree.titles import Pieces, Term, Title
from workers.engine.tree.whitespace import transform

_SHORT: Final = 4.0  # em, of a number that has a column
_RANGE: Final = "\u2013"


def lay_out_contents(
    context: Context, node: Contents | Index, space: Space, resume: Resume
) -> Piece | None:
    """Lay out the entries of contents or an index below each other."""
    entries = _entries_of(context, node)

    def content(inner: Space, at: Resume) -> Piece | None:
        context.path.append(node.source)
        is_through = lets_margins_through(node.style.box)
        piece = lay_out_stack(context, entries, inner, at, is_through=is_through)
        context.path.pop()
        return piece

    return lay_out_framed(context, node, space, resume, content)


def measure_contents(context: Context, node: Contents | Index) -> tuple[float, float]:
    """Return the widths of the widest entry, box included."""
    if context.crossings is not None:
        context.crossings.is_measured = True
    measured = [context.measure(entry) for entry in _entries_of(context, node)]
    low = max((low for low, _ in measured), default=0.0)
    high = max((high for _, high in measured), default=0.0)
    return outer_widths(node.style.box, low, high)


def _entries_of(context: Context, node: Contents | Index) -> Sequence[Paragraph]:
    """Return the entries, made once for all areas of a pass."""
    state = context.crossings
    if state is None:
        return ()
    key = ("entries", id(node))
    known: tuple[Contents | Index, Sequence[Paragraph]] | None = context.memory.get(key)
    if known is None:
        entries = (
            _contents_entries(context, node, state)
            if isinstance(node, Contents)
            else _index_entries(context, node, state)
        )
        known = context.memory[key] = (node, entries)
    return known[1]


# --- contents -------------------------------------------------------------------------------------------


def _contents_entries(context: Context, node: Contents, state: CrossState) -> Sequence[Paragraph]:
    """Make the entries of contents once for all passes: their pages are read as they are drawn."""
    key = ("contents", id(node))
    known: tuple[Contents, list[Paragraph]] | None = context.memory.get(key)
    if known is None:
        titles = [t for t in state.titles(node.kind) if node.first <= t.level <= node.last]
        widths = {
            level: _number_width(context, node.entries[level - 1], list(group))
            for level, group in groupby(sorted(titles, key=_level), key=_level)
        }
        made = [_contents_entry(node, title, widths[title.level]) for title in titles]
        known = context.memory[key] = (node, made)
    return known[1]


def _number_width(context: Context, entry: EntryStyle, titles: Sequence[Title]) -> float:
    """Return the room for the numbers of a level: what its style says, or what most of them need.

    Titles stand in line beside short numbers; a long one among them pushes its own title alone.
    """
    numbering = entry.style.numbering
    if numbering is not None and numbering.width is not None:
        return numbering.width
    text = entry.style.text
    numbers = {title.number for title in titles if title.number}
    widths = [measure_label(context, text, number) for number in numbers]
    short = [width for width in widths if width <= _SHORT * text.size]
    return max(short or widths, default=0.0)


def _contents_entry(node: Contents, title: Title, width: float) -> Paragraph:
    entry = node.entries[title.level - 1]
    inlines = tuple(_inlines_of(title.text, entry))
    label = Label(title.number, width) if title.number else None
    refers = any(not isinstance(inline, Run) for inline in inlines)
    extra = Extra(label, Leader(node.leader, title.target), refers)
    return Paragraph(node.source, Role.CONTENTS_ENTRY, entry.style, inlines, extra=extra)


def _inlines_of(pieces: Pieces, entry: EntryStyle) -> Iterator[Inline]:
    for piece in pieces:
        if isinstance(piece, str):
            yield Run(transform(piece, entry.transform), entry.style.text)
        else:
            yield replace(piece, style=entry.style.text)


def _level(title: Title) -> int:
    return title.level


# --- the index ------------------------------------------------------------------------------------------


def _index_entries(context: Context, node: Index, state: CrossState) -> Sequence[Paragraph]:
    """Make the entries of an index; one whose pages are those of the pass before is the same."""
    kept: tuple[Index, list[tuple[tuple[FoundPage, ...], Paragraph]]] | None
    kept = context.memory.get(("index", id(node)))
    terms = state.crossings.terms
    styles = [entry.style for entry in node.entries]
    heads = [replace(s, breaks=replace(s.breaks, after=BreakTo.AVOID)) for s in styles]
    made: list[tuple[tuple[FoundPage, ...], Paragraph]] = []
    for number, term in enumerate(terms):
        pages = {page: name for name in reversed(term.spots) if (page := state.pages.get(name))}
        found = tuple(sorted(pages))
        if kept is not None and kept[1][number][0] == found:
            made.append(kept[1][number])
        else:
            kind = -1 if term.is_first else term.level - 1
            style = styles[kind] if term.spots else heads[kind]  # that one stays with those below
            made.append((found, _index_entry(node, term, style, found, pages)))
    context.memory["index", id(node)] = (node, made)
    return [paragraph for _, paragraph in made]


def _index_entry(
    node: Index,
    term: Term,
    style: Style,
    found: Sequence[FoundPage],
    pages: dict[FoundPage, str],
) -> Paragraph:
    entry = node.entries[-1 if term.is_first else term.level - 1]
    text = style.text
    inlines: list[Inline] = [Run(transform(term.text, entry.transform), text)]
    for first, last in _ranges(found):
        shown = str(first.number) if first == last else f"{first.number}{_RANGE}{last.number}"
        inlines += _link(shown, text, pages[first])
    return Paragraph(node.source, Role.CONTENTS_ENTRY, style, tuple(inlines))


def _link(shown: str, style: TextStyle, name: str) -> tuple[Run, Run]:
    return Run(", ", style), Run(shown, style, f"#{name}")


def _ranges(pages: Iterable[FoundPage]) -> list[tuple[FoundPage, FoundPage]]:
    """Merge pages that follow each other in one numbering run."""
    ranges: list[tuple[FoundPage, FoundPage]] = []
    for page in pages:
        last = ranges[-1][1] if ranges else None
        if last is not None and last.run == page.run and last.position + 1 == page.position:
            ranges[-1] = (ranges[-1][0], page)
        else:
            ranges.append((page, page))
    return ranges
