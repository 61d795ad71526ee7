"""The text of references, contents and index: titles, numbers, and the pages found by layout.

Pages are located by dry runs: each page that is filled is drawn on a canvas that records anchors
only. So references back and an index at the end show the pages of their own pass, and references
forward those of the pass before. One that differs from what was laid out requires another pass.
Contents do not: they reserve space for page numbers, which are read when the page is drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from workers.engine.syntax.identifiers import is_right_to_left
from workers.engine.tree.expressions.running_text import apply_text_transform, isolate
from workers.engine.tree.memo import DocumentMemo, Lifetime
from workers.engine.tree.nodes import Inline, NoteCall, Reference, Source, TextRun
from workers.engine.tree.references.counters import Counters, Footnotes, PageNumberedNote
from workers.engine.tree.references.resolver import CrossReferences, ReferenceText, Title

# Assumed for a page number or count that is not known yet: two digits.
ASSUMED_PAGES: Final = 99
MIN_DIGITS: Final = 3  # digits for which contents reserve space


class PageLocation(NamedTuple):
    """The page of an anchor: its index in the document, its printed number and its numbering run."""

    position: int
    number: int
    run: int


class ShownText(Protocol):
    """Text in an area that shows pages, numbers or texts of other elements."""

    def still_shows(self, context: Any) -> bool:
        """Return whether the area need not be filled again: what it shows is up to date.

        `context` is the layout context, whose module imports this one.
        """


@dataclass(slots=True)
class PageReferences:
    """The page numbers and note numbers known so far to the passes of one document.

    `pages` are of the last complete pass, `placed` of the pages filled since, and `assumed` the
    names looked up before they were placed. `affects_widths` means that what later areas are laid
    out with, measured widths or rows of a table, depends on references. `shown` collects the texts
    with references of the area being filled; None outside of one.
    """

    cross_references: CrossReferences
    footnotes: Footnotes | None = None
    pages: dict[str, PageLocation] = field(default_factory=dict)
    placed: dict[str, PageLocation] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)
    digits: int = MIN_DIGITS
    affects_widths: bool = False
    note_numbers: dict[str, str] = field(default_factory=dict)  # of notes that count per page
    shown: list[ShownText] | None = None
    areas: dict[Hashable, Any] = field(default_factory=dict)  # of this pass, by where they begin
    areas_before: dict[Hashable, Any] = field(default_factory=dict)  # of the pass before
    lookups: int = 0  # of texts of references, which tells whether what was laid out shows any

    def __post_init__(self) -> None:
        """Number each note as if it were the first of its page."""
        if self.footnotes is not None:
            by_call = self.footnotes.by_call
            alone = {
                by_call[call].id: Counters(frozenset()).count(note.numbering) or ""
                for call, note in self.footnotes.page_numbered.items()
            }
            self.note_numbers = {**self.footnotes.collected_numbers, **alone}

    def titles(self, kind: str) -> Sequence[Title]:
        """Return the titles of a kind that contents list."""
        return self.cross_references.titles.get(kind, ())

    def find_page(self, name: str) -> PageLocation | None:
        """Return the page of an anchor, None before it is known."""
        found = self.placed.get(name)
        if found is None:
            self.assumed.add(name)
            found = self.pages.get(name)
        return found

    def page_text(self, name: str) -> str:
        """Return the printed page number of an anchor; two digits before it is known."""
        found = self.find_page(name)
        return str(ASSUMED_PAGES if found is None else found.number)

    @property
    def keeps_areas(self) -> bool:
        """Whether an area whose texts still show what they showed would be filled the same."""
        has_page_numbers = self.footnotes is not None and self.footnotes.page_numbered
        return not self.affects_widths and not has_page_numbers

    def find_area(self, context: Any, key: Hashable) -> Any:
        """Return an area of the pass before that would be filled the same, None without one."""
        area = self.areas_before.get(key) if self.keeps_areas else None
        if area is None or not all(text.still_shows(context) for text in area.shown):
            return None
        return area

    def record(self, text: ShownText) -> None:
        """Add a text to those of the area being filled."""
        if self.shown is not None:
            self.shown.append(text)

    def text_of(self, reference: Reference) -> str:
        """Return the text of a reference."""
        self.lookups += 1
        return self._find_text(reference)

    def _find_text(self, reference: Reference) -> str:
        if reference.show == "note":
            return self.note_numbers.get(reference.target, "")
        if reference.show == "page":
            return self.page_text(reference.target)
        if reference.show == "number":
            text = self.cross_references.numbers.get(reference.target, "")
        else:
            text = self.resolve_text(self.cross_references.texts.get(reference.target, ()))
            text = isolate(text, is_mixed=is_right_to_left(reference.style.lang))
        return apply_text_transform(text, reference.transform)

    def resolve_text(self, parts: ReferenceText) -> str:
        """Return a text with the page numbers of its references inserted."""
        return "".join(p if isinstance(p, str) else self.page_text(p.target) for p in parts)

    def texts_of(self, inlines: Iterable[Inline]) -> tuple[str, ...]:
        """Return the text of each reference in inline content, which may change from pass to pass."""
        return tuple(self.text_of(each) for each in inlines if isinstance(each, Reference))

    def resolve(self, inlines: Iterable[Inline]) -> tuple[Inline, ...]:
        """Return inline content with each reference replaced by a link to its target."""
        return tuple(self._write(each) if isinstance(each, Reference) else each for each in inlines)

    def _write(self, reference: Reference) -> TextRun:
        kind = NoteCall if reference.show == "note" else TextRun
        return kind(self.text_of(reference), reference.style, f"#{reference.target}")

    def update(self, memo: DocumentMemo) -> list[str]:
        """Store the pages of a pass and forget outdated results.

        Returns the anchors and calls whose page or number is not what was shown.
        """
        before, found = self.pages, self.placed
        moved = [
            name
            for name in self.cross_references.requested_pages
            if (self.affects_widths or name in self.assumed) and found.get(name) != before.get(name)
        ]
        digits = max((len(str(page.number)) for page in found.values()), default=0)
        memo.forget(Lifetime.ONE_PASS)
        if digits > self.digits:
            self.digits = digits
            memo.forget(Lifetime.DIGITS)
            moved += [
                title.target for titles in self.cross_references.titles.values() for title in titles
            ]
        self.pages, self.placed = found, {}
        self.areas_before, self.areas = self.areas, {}
        self.assumed.clear()
        moved += self._number_notes(found)
        if moved and self.affects_widths:
            memo.forget(Lifetime.WIDTHS)
        return moved

    def _number_notes(self, found: Mapping[str, PageLocation]) -> list[str]:
        """Number the notes that count per page; return the calls whose number changed."""
        footnotes, moved = self.footnotes, []
        if footnotes is None or not footnotes.page_numbered:
            return []
        for call, number in _number_notes(found, footnotes.page_numbered).items():
            name = footnotes.by_call[call].id
            if self.note_numbers.get(name) != number:
                self.note_numbers[name] = number
                moved.append(call)
        return moved

    def find_unplaced(self) -> list[tuple[str, Source]]:
        """Return the requested anchors that are on no page, each with the source of a request."""
        return [
            item
            for item in self.cross_references.requested_pages.items()
            if item[0] not in self.pages
        ]


def _number_notes(
    found: Mapping[str, PageLocation], counted: Mapping[str, PageNumberedNote]
) -> dict[str, str]:
    """Return the numbers of notes that count per page, by call; `found` is in document order."""
    numbers: dict[str, str] = {}
    page, counters = None, Counters(frozenset())
    for name, place in found.items():
        note = counted.get(name)
        if note is None:
            continue
        if place.position != page:
            page, counters = place.position, Counters(frozenset())
        numbers[name] = counters.count(note.numbering) or ""
    return numbers
