"""Areas that a pass takes over from the one before, where all in them shows what it showed.

A pass after the first is there because some pages were not known. Most areas show none of those, and
of the others most have the same lines with other digits in them. So the content of an area is kept
by where it begins and the room it has. Its lines that show another text are broken again; where they
take the same room as before they take their place, and the area is filled again only where not.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from workers.engine.layout.context import LayoutContext
from workers.engine.layout.pages.footnotes import PendingNote
from workers.engine.layout.pages.plans import FilledArea
from workers.engine.layout.references import ShownText


class KeptArea(NamedTuple):
    """A filled area, the notes that go on in the next one, and the texts with references in it."""

    filled: FilledArea
    notes: tuple[PendingNote, ...]
    shown: Sequence[ShownText]


class KeptAreas:
    """The areas of one pass, to be found in the next."""

    def __init__(self, before: KeptAreas | None = None) -> None:
        self._before = {} if before is None else before.areas
        self.areas: dict[Hashable, KeptArea] = {}

    def find(self, context: LayoutContext, key: Hashable) -> KeptArea | None:
        """Return an area of the pass before that would be filled the same, None without one."""
        known, references = self._before.get(key), context.references
        if known is None or references is None or not references.keeps_areas:
            return None
        if not all(text.still_shows(context) for text in known.shown):
            return None
        self.areas[key] = known
        return known

    def add(self, key: Hashable, area: KeptArea) -> None:
        """Keep an area for the next pass."""
        self.areas[key] = area
