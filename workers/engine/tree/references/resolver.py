"""Resolves references, tables of contents and the index once the whole document is built.

Headings, captions, marks and references are collected in order while the document is built. Once it
is, numbers and texts are known; pages are known to layout alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from workers.engine.characters import ELLIPSIS
from workers.engine.collation import collation_key, split_letters
from workers.engine.diagnostics import Findings
from workers.engine.syntax.nodes import Element
from workers.engine.syntax.numbers import find_counters
from workers.engine.tree import nodes
from workers.engine.tree.expressions.environment import RUNNING, SHEET, TOTALS

# Text in which references to pages remain, which only layout knows.
ReferenceText = tuple[str | nodes.Reference, ...]
Inlines = tuple[nodes.Inline, ...]


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
    requested_pages: Mapping[str, nodes.Source]


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
    # Names that pages and tables give; data of such a name are read as data.totals.
    given_names: frozenset[str] = frozenset()

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
    given = {TOTALS: "total" in tags, RUNNING: running, SHEET: "duplex" in root.attributes}
    return ReferenceFeatures(
        frozenset(titles),
        "ref" in tags,
        "index" in tags,
        find_counters(root),
        has_notes,
        frozenset(running),
        has_floats,
        frozenset(name for name, is_given in given.items() if is_given),
    )


@dataclass(slots=True)
class ReferenceTarget:
    """An element with an id: its number and its text."""

    number: str
    inlines: Inlines


@dataclass(slots=True)
class ReferenceCollector:
    """The references, and what they may refer to, that one build has met so far."""

    features: ReferenceFeatures
    titles: dict[str, list[tuple[int, nodes.Paragraph]]] = field(default_factory=dict)
    index_marks: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    references: list[nodes.Reference] = field(default_factory=list)
    targets: dict[str, ReferenceTarget] = field(default_factory=dict)
    contents: list[nodes.Contents] = field(default_factory=list)
    indexes: list[nodes.Index] = field(default_factory=list)
    index_lang: str = ""
    running_values: dict[str, tuple[str, str]] = field(default_factory=dict)  # by anchor
    _names: int = 0

    def make_anchor_name(self) -> str:
        """Return an anchor name that no author can write."""
        self._names += 1
        return f":{self._names}"

    def add_title(self, kind: str, paragraph: nodes.Paragraph) -> None:
        """Store a heading or caption that a table of contents may list."""
        if kind in self.features.titles:
            level = _ROLES.get(paragraph.role.value, 1)
            self.titles.setdefault(kind, []).append((level, paragraph))

    def add_target(self, name: str, number: str, inlines: Inlines) -> None:
        """Store an element that references may show."""
        if self.features.has_references:
            self.targets.setdefault(name, ReferenceTarget(number, inlines))

    def add_blocks(
        self, name: str, blocks: Sequence[nodes.Block | nodes.ListItem], number: str | None = None
    ) -> None:
        """Store an element of blocks; its number is that of the first paragraph unless it is given."""
        if self.features.has_references:
            own, inlines = _describe(blocks)
            self.add_target(name, own if number is None else number, inlines)

    def add_cells(
        self, name: str, cells: Iterable[tuple[nodes.CellTemplate, nodes.CellContent]]
    ) -> None:
        """Store a row or a cell, with the text of the first cell that has any."""
        if not self.features.has_references:
            return
        inlines: Inlines = ()
        for cell, content in cells:
            if not isinstance(content, str):
                inlines = next((found for b in content if (found := _describe([b])[1])), ())
            elif content:
                inlines = (nodes.TextRun(content, cell.style.text),)
            if inlines:
                break
        self.add_target(name, "", inlines)

    def add_index(self, index: nodes.Index, lang: str) -> None:
        """Store an index; the language of the first sorts the terms."""
        self.indexes.append(index)
        self.index_lang = self.index_lang or lang

    def add_index_mark(self, term: tuple[str, ...]) -> str:
        """Store a mark of a term; return the name of its anchor."""
        name = self.make_anchor_name()
        if self.features.has_index:
            self.index_marks.setdefault(term, []).append(name)
        return name

    def add_running_value(self, name: str, value: str) -> str:
        """Store a running value; return the name of its anchor."""
        anchor = self.make_anchor_name()
        self.running_values[anchor] = (name, value)
        return anchor


MAX_TEXT: Final = 500  # characters of a text that a reference or an entry shows
MAX_ENTRIES: Final = 200_000  # of all contents and indexes together
_PUNCTUATION: Final = ".:,; \u00a0"


class ReferenceResolver:
    """Resolves the collected references; references that cannot be shown are reported."""

    def __init__(self, references: ReferenceCollector, findings: Findings) -> None:
        self._references = references
        self._findings = findings
        self._texts: dict[str, ReferenceText] = {}
        self._resolving: list[str] = []

    def resolve(self, known: Mapping[str, object]) -> CrossReferences:
        """Return the cross-references of a document; `known` are the ids of its elements."""
        references = self._references
        numbers: dict[str, str] = {}
        requested: dict[str, nodes.Source] = {}
        for reference in references.references:
            target = reference.target
            if target not in known:  # reported with the links
                continue
            if reference.show == "page":
                requested.setdefault(target, reference.source)
            elif reference.show == "number":
                numbers[target] = self._resolve_number(reference)
            else:
                for part in self._resolve_text(reference):
                    if isinstance(part, nodes.Reference):
                        requested.setdefault(part.target, reference.source)
        titles = {
            kind: tuple(self._title(level, paragraph) for level, paragraph in listed)
            for kind, listed in references.titles.items()
        }
        for title in (title for listed in titles.values() for title in listed):
            for part in title.text:
                if isinstance(part, nodes.Reference):
                    requested.setdefault(part.target, part.source)
        terms = (
            tuple(sort_terms(references.index_marks, references.index_lang))
            if references.indexes
            else ()
        )
        for term in terms:
            requested |= dict.fromkeys(term.anchors, references.indexes[0].source)
        self._check_lists(titles, len(terms))
        return CrossReferences(titles, terms, self._texts, numbers, requested)

    def _check_lists(self, titles: Mapping[str, tuple[Title, ...]], terms: int) -> None:
        """Warn of empty contents and indexes, and report too many entries."""
        entries = 0
        for contents in self._references.contents:
            listed = sum(
                contents.first <= title.level <= contents.last
                for title in titles.get(contents.kind, ())
            )
            entries += listed
            if not listed:
                message = "The contents are empty: the document has no title that `toc` lists"
                self._findings.warn("empty-contents", message, contents.source.location)
        for index in self._references.indexes:
            entries += terms
            if not terms:
                message = "The index is empty: no `mark` names a term"
                self._findings.warn("empty-index", message, index.source.location)
        if entries > MAX_ENTRIES:
            sources = [node.source for node in self._references.contents]
            sources += [node.source for node in self._references.indexes]
            self._findings.error(
                "too-many-entries",
                f"The contents and indexes have {entries:,} entries together, accepted are at most "
                f"{MAX_ENTRIES:,}. Print fewer of them, or list fewer levels",
                sources[-1].location,
            )

    def _title(self, level: int, paragraph: nodes.Paragraph) -> Title:
        label = paragraph.extra.label if paragraph.extra else None
        text = _truncate(self._resolve_inlines(paragraph.inlines))
        number = "" if label is None else label.text.strip()
        return Title(level, number, text, paragraph.id or "")

    # --- texts of references ----------------------------------------------------------------------

    def _find_number(self, reference: nodes.Reference) -> str:
        target = self._references.targets.get(reference.target)
        return "" if target is None else target.number.rstrip(_PUNCTUATION)

    def _resolve_number(self, reference: nodes.Reference) -> str:
        number = self._find_number(reference)
        if not number:
            message = "has none. Give it a style with `number`, or show its text or page"
            self._report(reference, "no-number", message, "number")
        return number

    def _resolve_text(self, reference: nodes.Reference) -> ReferenceText:
        """Return the text of a reference's target, with the references in it resolved."""
        target = reference.target
        known = self._texts.get(target)
        if known is not None:
            return known
        if target in self._resolving or len(self._resolving) >= _MAX_DEPTH:
            message = f"shows itself, or texts in texts more than {_MAX_DEPTH} deep. Show a number or page"
            self._report(reference, "reference-circle", message, "text")
            return ()
        self._resolving.append(target)
        found = self._references.targets.get(target)
        parts = () if found is None else _truncate(self._resolve_inlines(found.inlines))
        self._resolving.pop()
        if not parts and not self._resolving:
            self._report(
                reference, "no-text", "has none. Show its number or page, or write it", "text"
            )
        self._texts[target] = parts
        return parts

    def _resolve_inlines(self, inlines: Iterable[nodes.Inline]) -> Iterator[str | nodes.Reference]:
        for inline in inlines:
            match inline:
                case nodes.NoteCall() | nodes.Reference(show="note"):
                    pass
                case nodes.TextRun():
                    yield inline.text
                case nodes.Reference(show="page"):
                    yield inline
                case nodes.Reference(show="number"):
                    yield self._find_number(inline)
                case nodes.Reference():
                    yield from self._resolve_text(inline)
                case nodes.InlineAnchor():
                    pass
                case _:
                    yield " "

    def _report(self, reference: nodes.Reference, code: str, why: str, what: str) -> None:
        source = reference.source
        message = f'`ref` shows the {what} of "{reference.target[:40]}", which {why}{nodes.describe_loops(source.loop)}'
        self._findings.error(code, message, source.location)


_MAX_DEPTH: Final = 16  # of texts that include the texts of others


def _describe(blocks: Sequence[nodes.Block | nodes.ListItem]) -> tuple[str, Inlines]:
    """Return the number and text of blocks, from the first paragraph or the `alt` of an image."""
    number = next((block.marker for block in blocks if isinstance(block, nodes.ListItem)), "")
    waiting = [*reversed(blocks)]
    while waiting:
        block = waiting.pop()
        if isinstance(block, nodes.Image) and block.alt:
            return number, (nodes.TextRun(block.alt, block.style.text),)
        if isinstance(block, nodes.Paragraph):
            label = block.extra.label if block.extra else None
            return number or (label.text if label else ""), block.inlines
        waiting += reversed(nodes.child_blocks(block))
    return number, ()


def _truncate(parts: Iterable[str | nodes.Reference]) -> ReferenceText:
    """Return the joined text, white space collapsed and limited to `MAX_TEXT` characters."""
    joined: list[str | nodes.Reference] = []
    left = MAX_TEXT
    for part in parts:
        if isinstance(part, nodes.Reference):
            joined.append(part)
            left -= 1
        elif joined and isinstance(joined[-1], str):
            joined[-1] += part[: left + 1]
            left -= len(part)
        else:
            joined.append(part[: left + 1])
            left -= len(part)
        if left < 0:
            joined.append(ELLIPSIS)
            break
    texts = [
        " ".join(f"|{part}|".split())[1:-1] if isinstance(part, str) else part for part in joined
    ]
    if texts and isinstance(texts[0], str):
        texts[0] = texts[0].lstrip()
    if texts and isinstance(texts[-1], str):
        texts[-1] = texts[-1].rstrip()
    return tuple(part for part in texts if part != "")


_SIGNS: Final = re.compile(r"[^\w\s]|_")  # that do not count in the order of an index


def sort_terms(marks: Mapping[tuple[str, ...], list[str]], lang: str) -> Iterator[IndexTerm]:
    """Yield the terms of an index in order, each after its parent terms, which may have no marks."""
    every: dict[tuple[str, ...], list[str]] = {}
    for term, anchors in marks.items():
        for level in range(1, len(term)):
            every.setdefault(term[:level], [])
        every[term] = anchors
    words = {text: " ".join(_SIGNS.sub("", text).split()) for term in every for text in term}
    keys = {text: (collation_key(word, lang), text) for text, word in words.items()}
    letter = None
    for term in sorted(every, key=lambda term: [keys[text] for text in term]):
        first = split_letters(words[term[0]].casefold(), lang)[:1]
        initial = first if first and first[0][0].isalpha() else []  # digits share a section
        yield IndexTerm(
            len(term), term[-1], tuple(every[term]), len(term) == 1 and initial != letter
        )
        letter = initial
