"""What one build gathers of the elements that look elsewhere in the document, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import find_counters
from workers.engine.tree.nodes import Contents, Index, Inline, Paragraph, Reference

MAX_SPOTS: Final = 100_000  # marks of one document
MAX_REFERENCES: Final = 100_000
HEADINGS: Final = "headings"
TABLE: Final = "table"
_ROLES: Final = {f"H{level}": level for level in range(1, 7)}


class Uses(NamedTuple):
    """Which elements a document has that look elsewhere in it, and its counters."""

    titles: frozenset[str] = frozenset()  # kinds that contents list
    has_references: bool = False
    has_index: bool = False
    counters: frozenset[str] = frozenset()

    @property
    def gathers(self) -> bool:
        """Tell whether anything is to be gathered."""
        return bool(self.titles) or self.has_references or self.has_index


NO_USES: Final = Uses()


def find_uses(root: Element) -> Uses:
    """Find which elements a document has that look elsewhere in it."""
    tags: set[str] = set()
    titles: set[str] = set()
    for element in root.walk():
        tags.add(element.tag)
        if element.tag == "toc":
            of = element.attributes.get("of", HEADINGS)
            titles |= {HEADINGS, TABLE} if "{{" in of else {of}
    return Uses(frozenset(titles), "ref" in tags, "index" in tags, find_counters(root))


@dataclass(slots=True)
class Named:
    """An element with an id: its number, and its text."""

    number: str
    inlines: tuple[Inline, ...]


@dataclass(slots=True)
class Gathered:
    """What one build has met so far."""

    uses: Uses
    titles: dict[str, list[tuple[int, Paragraph]]] = field(default_factory=dict)
    marks: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    named: dict[str, Named] = field(default_factory=dict)
    contents: list[Contents] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    index_lang: str = ""
    spots: int = 0
    _names: int = 0

    def make_name(self) -> str:
        """Return a name for a place that has none; no author can write such a one."""
        self._names += 1
        return f":{self._names}"

    def note_title(self, kind: str, paragraph: Paragraph) -> None:
        """Note a heading or caption that contents may list."""
        if kind in self.uses.titles:
            level = _ROLES.get(paragraph.role.value, 1)
            self.titles.setdefault(kind, []).append((level, paragraph))

    def note_named(self, name: str, number: str, inlines: tuple[Inline, ...]) -> None:
        """Note an element that references may lead to."""
        if self.uses.has_references:
            self.named.setdefault(name, Named(number, inlines))

    def note_index(self, index: Index, lang: str) -> None:
        """Note an index; the language of the first orders the terms."""
        self.indexes.append(index)
        self.index_lang = self.index_lang or lang

    def note_mark(self, term: tuple[str, ...]) -> str:
        """Note a mark of a term; return the name of its place."""
        self.spots += 1
        name = self.make_name()
        if self.uses.has_index:
            self.marks.setdefault(term, []).append(name)
        return name
