"""The notes of one build, and the footnotes of the document, as layout takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from workers.engine.tree.nodes import Note, Source
from workers.engine.tree.references.counters import Counters
from workers.engine.tree.styles.computed import Numbering, Style

MAX_NOTES: Final = 50_000  # of one document


@dataclass(frozen=True, slots=True)
class PageNumberedNote:
    """The numbering of a note whose counter restarts on each page."""

    numbering: Numbering
    source: Source


@dataclass(frozen=True, slots=True)
class Footnotes:
    """The notes at the foot of pages, by the anchors of their calls.

    `rule` is the style of the line above them: its border, width and margins. `page_numbered` are
    those whose number layout counts, by call; `collected_numbers` the numbers of such notes that
    became endnotes, by note.
    """

    by_call: Mapping[str, Note]
    rule: Style
    page_numbered: Mapping[str, PageNumberedNote]
    collected_numbers: Mapping[str, str]

    @property
    def is_numbered_by_layout(self) -> bool:
        """Whether calls show numbers that only layout knows."""
        return bool(self.page_numbered or self.collected_numbers)


class CalledNote(NamedTuple):
    """A note and its call: both anchors, and the number."""

    name: str
    anchor: str
    number: str
    is_page_numbered: bool  # on its page, where the number is known


@dataclass(slots=True)
class FootnoteCollector:
    """Notes in the order of their calls.

    `by_key` are those of Markdown, which can be called again.
    """

    by_key: dict[str, CalledNote] = field(default_factory=dict)
    page_numbered: dict[str, PageNumberedNote] = field(default_factory=dict)
    is_closed: bool = False  # content built from now on takes no notes
    count: int = 0
    _flow: int = 0
    _begun: dict[str, int] = field(default_factory=dict)  # counters by their flow
    _open: list[Note] = field(default_factory=list)  # of the current flow
    _by_call: dict[str, Note] = field(default_factory=dict)
    _fixed: dict[str, str] = field(default_factory=dict)
    _rule: Style | None = None

    def begin_flow(self) -> None:
        """Start a flow, whose endnotes are its own."""
        self._flow += 1
        self._open.clear()

    def restart_in_flow(self, counter: str, counters: Counters) -> None:
        """Restart a counter at its first note in a flow."""
        if self._begun.get(counter) != self._flow:
            self._begun[counter] = self._flow
            counters.restart(counter)

    def add(self, note: Note, rule: Style) -> None:
        """Store a note.

        `rule` is the style of the line above footnotes, of which the first counts.
        """
        self.count += 1
        self._rule = self._rule or rule
        self._open.append(note)
        self._by_call[note.call_anchor] = note

    def collect_endnotes(self, counters: Counters) -> tuple[Note, ...]:
        """Return the notes of the flow since the last `endnotes`.

        They are not footnotes any more.
        """
        taken: list[Note] = []
        for note in self._open:
            del self._by_call[note.call_anchor]
            counted = self.page_numbered.pop(note.call_anchor, None)
            if counted is None:
                taken.append(note)
                continue
            number = counters.count(counted.numbering) or ""
            self._fixed[note.id] = number
            taken.append(replace(note, number=number))
        self._open.clear()
        return tuple(taken)

    def close(self) -> Footnotes | None:
        """Return the footnotes of the document, None if it has none."""
        self.is_closed = True
        if self._rule is None:
            return None
        return Footnotes(self._by_call, self._rule, self.page_numbered, self._fixed)
