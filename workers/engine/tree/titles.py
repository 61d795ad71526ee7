"""What the parts of a document say of each other, as layout takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workers.engine.tree.nodes import Reference, Source

# Text with references in it whose page only layout knows; all others are written out.
Pieces = tuple[str | Reference, ...]


@dataclass(frozen=True, slots=True)
class Title:
    """A heading or caption as contents list it: its level from 1, its number, and the place of it."""

    level: int
    number: str
    text: Pieces
    target: str


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the index under those it stands in, and the names of the places it is marked at.

    `is_first` says that it begins another letter than the term before.
    """

    level: int
    text: str
    spots: tuple[str, ...]
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Crossings:
    """What the parts of a document say of each other.

    `titles` are those that contents list, by kind; `texts` and `numbers` are of the elements that
    references show, by id. `asked` are the places whose page stands in running text or an index,
    each with a source that asks; the others are not needed to lay out pages.
    """

    titles: Mapping[str, tuple[Title, ...]]
    terms: tuple[Term, ...]
    texts: Mapping[str, Pieces]
    numbers: Mapping[str, str]
    asked: Mapping[str, Source]
