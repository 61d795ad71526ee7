"""Headings, captions, index marks and references of one build, collected in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import find_counters
from workers.engine.tree.nodes import Contents, Index, Inline, Paragraph, Reference

MAX_INDEX_MARKS: Final = 100_000  # marks of one document
MAX_REFERENCES: Final = 100_000
MAX_RUNNING_VALUES: Final = 100_000
HEADINGS: Final = "headings"
TABLE: Final = "table"
FIGURE: Final = "figure"
_WITH_NOTES: Final = frozenset({"footnote", "markdown"})
_ROLES: Final = {f"H{level}": level for level in range(1, 7)}


class ReferenceFeatures(NamedTuple):
    """The elements of a document that refer to others, and its counters."""

    titles: frozenset[str] = frozenset()  # kinds that contents list
    has_references: bool = False
    has_index: bool = False
    counters: frozenset[str] = frozenset()
    has_notes: bool = False
    running: frozenset[str] = frozenset()  # names of running values
    has_floats: bool = False  # figures that may float

    @property
    def needs_collection(self) -> bool:
        """Whether anything is to be collected."""
        return bool(self.titles) or self.has_references or self.has_index


NO_REFERENCES: Final = ReferenceFeatures()


def find_reference_features(root: Element) -> ReferenceFeatures:
    """Return which elements of a document refer to others."""
    tags: set[str] = set()
    titles: set[str] = set()
    running: set[str] = set()
    has_floats = False
    for element in root.walk():
        tags.add(element.tag)
        has_floats = has_floats or (element.tag == FIGURE and "float" in element.attributes)
        if element.tag == "running":
            running.add(element.attributes.get("name", ""))
        if element.tag == "toc":
            of = element.attributes.get("of", HEADINGS)
            titles |= {HEADINGS, TABLE, FIGURE} if "{{" in of else {of}
    has_notes = not tags.isdisjoint(_WITH_NOTES)
    return ReferenceFeatures(
        frozenset(titles),
        "ref" in tags,
        "index" in tags,
        find_counters(root),
        has_notes,
        frozenset(running),
        has_floats,
    )


@dataclass(slots=True)
class ReferenceTarget:
    """An element with an id: its number and its text."""

    number: str
    inlines: tuple[Inline, ...]


@dataclass(slots=True)
class ReferenceCollector:
    """The references, and what they may refer to, that one build has met so far."""

    features: ReferenceFeatures
    titles: dict[str, list[tuple[int, Paragraph]]] = field(default_factory=dict)
    index_marks: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    targets: dict[str, ReferenceTarget] = field(default_factory=dict)
    contents: list[Contents] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    index_lang: str = ""
    mark_count: int = 0
    running_values: dict[str, tuple[str, str]] = field(default_factory=dict)  # by anchor
    _names: int = 0

    def make_anchor_name(self) -> str:
        """Return an anchor name that no author can write."""
        self._names += 1
        return f":{self._names}"

    def add_title(self, kind: str, paragraph: Paragraph) -> None:
        """Store a heading or caption that a table of contents may list."""
        if kind in self.features.titles:
            level = _ROLES.get(paragraph.role.value, 1)
            self.titles.setdefault(kind, []).append((level, paragraph))

    def add_target(self, name: str, number: str, inlines: tuple[Inline, ...]) -> None:
        """Store an element that references may show."""
        if self.features.has_references:
            self.targets.setdefault(name, ReferenceTarget(number, inlines))

    def add_index(self, index: Index, lang: str) -> None:
        """Store an index; the language of the first sorts the terms."""
        self.indexes.append(index)
        self.index_lang = self.index_lang or lang

    def add_index_mark(self, term: tuple[str, ...]) -> str:
        """Store a mark of a term; return the name of its anchor."""
        self.mark_count += 1
        name = self.make_anchor_name()
        if self.features.has_index:
            self.index_marks.setdefault(term, []).append(name)
        return name

    def add_running_value(self, name: str, value: str) -> str:
        """Store a running value; return the name of its anchor."""
        anchor = self.make_anchor_name()
        self.running_values[anchor] = (name, value)
        return anchor
