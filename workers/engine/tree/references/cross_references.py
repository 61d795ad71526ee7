"""Resolved cross-references, as layout takes them: titles, index terms, and the text of targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workers.engine.tree.nodes import Reference, Source

# Text in which references to pages remain, which only layout knows.
ReferenceText = tuple[str | Reference, ...]


@dataclass(frozen=True, slots=True)
class Title:
    """A heading or caption in a table of contents: its level from 1, number, text and anchor."""

    level: int
    number: str
    text: ReferenceText
    target: str


@dataclass(frozen=True, slots=True)
class IndexTerm:
    """A term of the index, its level, and the anchors of its marks.

    `is_first` marks the first term of a letter.
    """

    level: int
    text: str
    anchors: tuple[str, ...]
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """The titles, terms and targets that references of a document show.

    `titles` are those that contents list, by kind; `texts` and `numbers` are of the targets of
    references, by id. `requested_pages` are the anchors whose page is shown in running text or an
    index, each with the source of a reference to it.
    """

    titles: Mapping[str, tuple[Title, ...]]
    terms: tuple[IndexTerm, ...]
    texts: Mapping[str, ReferenceText]
    numbers: Mapping[str, str]
    requested_pages: Mapping[str, Source]
