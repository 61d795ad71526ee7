"""What the parts of a document say of each other: references, contents, and the index.

While a document is built its headings, captions, marks and references are gathered in order. When
all is built, numbers and texts are known, and references to them can be checked; pages are known to
layout alone. A document without such elements gathers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from workers.engine.diagnostics import Findings
from workers.engine.tree.collation import collation_key, initial_of
from workers.engine.tree.gathered import Gathered, Named
from workers.engine.tree.nodes import (
    Block,
    CellTemplate,
    Container,
    Grid,
    Image,
    Inline,
    ListBlock,
    Paragraph,
    Reference,
    Row,
    Source,
    Spot,
    Table,
    TableRow,
    where_in_loops,
)
from workers.engine.tree.nodes import Run as TextRun
from workers.engine.tree.titles import Crossings, Pieces, Term, Title

MAX_TEXT: Final = 500  # characters of a text that a reference or an entry shows
MAX_ENTRIES: Final = 200_000  # of all contents and indexes together
_PUNCTUATION: Final = ".:,; \u00a0"
_DOTS: Final = "…"


class Closing:
    """Makes what layout needs of what was gathered; what cannot be shown becomes a finding."""

    def __init__(self, gathered: Gathered, findings: Findings) -> None:
        self._gathered = gathered
        self._findings = findings
        self._texts: dict[str, Pieces] = {}
        self._open: list[str] = []

    def close(self, blocks: Iterable[Block], known: Mapping[str, Any]) -> Crossings:
        """Return what layout needs; `known` are the ids that elements have."""
        gathered = self._gathered
        self._find_others(blocks)
        numbers: dict[str, str] = {}
        asked: dict[str, Source] = {}
        for reference in gathered.references:
            target = reference.target
            if target not in known:  # reported with the links
                continue
            if reference.show == "page":
                asked.setdefault(target, reference.source)
            elif reference.show == "number":
                numbers[target] = self._number_of(reference)
            else:
                for piece in self._text_of(reference):
                    if isinstance(piece, Reference):
                        asked.setdefault(piece.target, reference.source)
        titles = {
            kind: tuple(self._title(level, paragraph) for level, paragraph in listed)
            for kind, listed in gathered.titles.items()
        }
        for title in (title for listed in titles.values() for title in listed):
            for piece in title.text:
                if isinstance(piece, Reference):
                    asked.setdefault(piece.target, piece.source)
        terms = tuple(sort_terms(gathered.marks, gathered.index_lang)) if gathered.indexes else ()
        for term in terms:
            asked |= dict.fromkeys(term.spots, gathered.indexes[0].source)
        self._check_lists(titles, len(terms))
        return Crossings(titles, terms, self._texts, numbers, asked)

    def _check_lists(self, titles: Mapping[str, tuple[Title, ...]], terms: int) -> None:
        """Warn of contents and indexes with nothing in them, and refuse far too many entries."""
        entries = 0
        for contents in self._gathered.contents:
            listed = sum(
                contents.first <= title.level <= contents.last
                for title in titles.get(contents.kind, ())
            )
            entries += listed
            if not listed:
                self._findings.warn(
                    "empty-contents",
                    "The contents are empty: the document has no title that `toc` lists",
                    contents.source.place,
                )
        for index in self._gathered.indexes:
            entries += terms
            if not terms:
                self._findings.warn(
                    "empty-index",
                    "The index is empty: no `mark` names a term",
                    index.source.place,
                )
        if entries > MAX_ENTRIES:
            sources = [node.source for node in self._gathered.contents]
            sources += [node.source for node in self._gathered.indexes]
            self._findings.error(
                "too-many-entries",
                f"The contents and indexes have {entries:,} entries together, accepted are at most "
                f"{MAX_ENTRIES:,}. Print fewer of them, or list fewer levels",
                sources[-1].place,
            )

    def _title(self, level: int, paragraph: Paragraph) -> Title:
        label = paragraph.extra.label if paragraph.extra else None
        text = _cut(self._pieces(paragraph.inlines))
        number = "" if label is None else label.text.strip()
        return Title(level, number, text, paragraph.id or "")

    # --- what references show ----------------------------------------------------------------------

    def _number_of(self, reference: Reference) -> str:
        named = self._gathered.named.get(reference.target)
        number = named.number.rstrip(_PUNCTUATION) if named is not None else ""
        if not number:
            self._refuse(
                reference,
                "no-number",
                "has none. Give it a style with `number`, or show its text or page",
                "number",
            )
        return number

    def _text_of(self, reference: Reference) -> Pieces:
        """Return the text of a reference's target, references in it written out."""
        target = reference.target
        known = self._texts.get(target)
        if known is not None:
            return known
        if target in self._open or len(self._open) >= _DEEPEST:
            self._refuse(
                reference,
                "reference-circle",
                f"shows itself, or texts in texts more than {_DEEPEST} deep. Show a number or page",
                "text",
            )
            return ()
        self._open.append(target)
        named = self._gathered.named.get(target)
        pieces = () if named is None else _cut(self._pieces(named.inlines))
        self._open.pop()
        if not pieces and not self._open:
            self._refuse(
                reference, "no-text", "has none. Show its number or page, or write it", "text"
            )
        self._texts[target] = pieces
        return pieces

    def _pieces(self, inlines: Iterable[Inline]) -> Iterator[str | Reference]:
        for inline in inlines:
            match inline:
                case TextRun():
                    yield inline.text
                case Reference(show="page"):
                    yield inline
                case Reference(show="number"):
                    named = self._gathered.named.get(inline.target)
                    yield "" if named is None else named.number.rstrip(_PUNCTUATION)
                case Reference():
                    yield from self._text_of(inline)
                case Spot():
                    pass
                case _:
                    yield " "

    def _refuse(self, reference: Reference, code: str, why: str, what: str) -> None:
        source = reference.source
        self._findings.error(
            code,
            f'`ref` shows the {what} of "{reference.target[:40]}", which {why}'
            f"{where_in_loops(source.loop)}",
            source.place,
        )

    # --- elements that are no paragraphs ---------------------------------------------------------

    def _find_others(self, blocks: Iterable[Block]) -> None:
        """Find the text and number of elements that hold paragraphs, where references ask for them."""
        named = self._gathered.named
        wanted = {
            reference.target
            for reference in self._gathered.references
            if reference.show != "page" and reference.target not in named
        }
        if not wanted:
            return
        for name, block in _walk(blocks):
            if name in wanted:
                wanted.discard(name)
                found = block if isinstance(block, Named) else _describe(block)
                named[name] = found


_DEEPEST: Final = 16  # texts that are made of the texts of others


def _walk(blocks: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the blocks that have an id, and the parts of lists and tables that have one."""
    waiting: list[Any] = list(blocks)[::-1]
    while waiting:
        block = waiting.pop()
        name = getattr(block, "id", None)
        if name is not None:
            yield name, block
        waiting += reversed(_inside(block))
        if isinstance(block, Table):
            for body in block.bodies:
                for row in body.rows:
                    held = [content for content in row.cells if not isinstance(content, str)]
                    if row.template.id is not None:
                        yield row.template.id, _of_cells(row)
                    for cell in row.template.cells:
                        if cell.id is not None:
                            yield cell.id, _of_cells(row, cell)
                    waiting += [inner for content in held for inner in content]


def _inside(block: Any) -> tuple[Any, ...]:
    match block:
        case Container() | Row() | Grid():
            return block.children
        case ListBlock():
            return block.items
        case Table():
            return tuple(caption.block for caption in block.captions)
        case _:
            return tuple(getattr(block, "children", ()))


def _of_cells(row: TableRow, only: CellTemplate | None = None) -> Named:
    """Describe a row, or one cell of it, by the first cell that has text."""
    for cell, content in zip(row.template.cells, row.cells, strict=False):
        if only is not None and cell is not only:
            continue
        if isinstance(content, str):
            inlines: tuple[Inline, ...] = (TextRun(content, cell.style.text),) if content else ()
        else:
            inlines = next((found for b in content if (found := _describe(b).inlines)), ())
        if inlines:
            return Named("", inlines)
    return Named("", ())


def _describe(block: Any) -> Named:
    """Describe a block by its first paragraph; a list item by its marker, a picture by its `alt`."""
    marker = getattr(block, "marker", "")
    waiting = [block]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Image) and inner.alt:
            return Named(marker, (TextRun(inner.alt, inner.style.text),))
        if isinstance(inner, Paragraph):
            label = inner.extra.label if inner.extra else None
            return Named(marker or (label.text if label else ""), inner.inlines)
        waiting += reversed(_inside(inner))
    return Named(marker, ())


def _cut(pieces: Iterable[str | Reference]) -> Pieces:
    """Join the text of pieces, white space collapsed, and cut it where it is long."""
    joined: list[str | Reference] = []
    left = MAX_TEXT
    for piece in pieces:
        if isinstance(piece, Reference):
            joined.append(piece)
            left -= 1
        elif joined and isinstance(joined[-1], str):
            joined[-1] += piece[: left + 1]
            left -= len(piece)
        else:
            joined.append(piece[: left + 1])
            left -= len(piece)
        if left < 0:
            joined.append(_DOTS)
            break
    texts = [
        " ".join(f"|{piece}|".split())[1:-1] if isinstance(piece, str) else piece
        for piece in joined
    ]
    if texts and isinstance(texts[0], str):
        texts[0] = texts[0].lstrip()
    if texts and isinstance(texts[-1], str):
        texts[-1] = texts[-1].rstrip()
    return tuple(piece for piece in texts if piece != "")


def sort_terms(marks: Mapping[tuple[str, ...], list[str]], lang: str) -> Iterator[Term]:
    """Yield the terms of an index in order, each under those it stands in, which may have no places."""
    every: dict[tuple[str, ...], list[str]] = {}
    for term, spots in marks.items():
        for level in range(1, len(term)):
            every.setdefault(term[:level], [])
        every[term] = spots
    keys = {text: collation_key(text, lang) for term in every for text in term}
    letter = None
    for term in sorted(every, key=lambda term: [keys[text] for text in term]):
        initial = initial_of(term[0], lang)
        yield Term(len(term), term[-1], tuple(every[term]), len(term) == 1 and initial != letter)
        letter = initial
