"""The footnotes of a document, as layout takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workers.engine.tree.nodes import Note, Source
from workers.engine.tree.styles.computed import Numbering, Style


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
