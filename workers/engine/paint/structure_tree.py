"""The structure tree as PDF objects (ISO 32000-1, 14.7): elements, parent tree, shared attributes.

They are appended to ReportLab's objects directly in object streams: a table of 5,000 rows has
35,000 elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from workers.engine.layout.display import LinkArea
from workers.engine.layout.structure import DOCUMENT, CellAttributes, LogicalStructure
from workers.engine.paint.objects import refer_to_page, write_number, write_text
from workers.engine.pdf_writer import AppendedObjects

# Table parts, which are in the tree even if they are empty, and their order in a table.
_TABLE_PARTS: Final = frozenset({"THead", "TBody", "TFoot", "TR", "TD", "TH"})
_RANKS: Final = {"Caption": 0, "THead": 1, "TBody": 2, "TFoot": 3}
_DIGITS: Final = "0123456789"
_NUMBERINGS: Final = {"•": b"Disc", "◦": b"Circle", "▪": b"Square", "": b"None"}
_ROMAN: Final = frozenset("ivxlcdm")


@dataclass(slots=True, eq=False)
class MarkedContent:
    """The marked-content sequences of one content stream: the element of each, by MCID.

    `key` is that of the stream in the parent tree; `stream` is a form, None for the page itself.
    """

    key: int
    page: int  # from 1
    owners: list[int] = field(default_factory=list)
    stream: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    element: int
    page: int
    annotation: Any


# A child of an element: another one, a marked-content sequence, or a link's annotation.
_Kid = int | tuple[MarkedContent, int] | _Link


class StructureTree:
    """The marked content of a document's pages and its structure tree."""

    def __init__(self, structure: LogicalStructure) -> None:
        self.structure = structure
        self._contents: list[MarkedContent] = []
        self._links: list[_Link] = []

    def begin_content(self, page: int) -> MarkedContent:
        """Start a content stream of a page, counted from 1."""
        content = MarkedContent(len(self._contents), page)
        self._contents.append(content)
        return content

    def describe_link(self, link: LinkArea) -> str:
        """Return the text of a link, or its target if it has none."""
        texts = self.structure.texts.get(link.owner) if isinstance(link.owner, int) else None
        return " ".join(" ".join(texts or ()).split()) or link.target

    def add_link(self, link: LinkArea, page: int, annotation: Any) -> None:
        """Add the annotation of a link; one in a header or footer gets an element of its own."""
        element = link.owner if isinstance(link.owner, int) else self.structure.add_lone_link()
        self._links.append(_Link(element, page, annotation))

    def find_objects(self) -> list[Any]:
        """Return the objects whose numbers `write` needs."""
        pages = [refer_to_page(number) for number in range(1, self._page_count + 1)]
        streams = [content.stream for content in self._contents if content.stream is not None]
        return [*pages, *streams, *(link.annotation for link in self._links)]

    def write(self, first: int, root: int, numbers: Sequence[int]) -> AppendedObjects:
        """Write the tree as objects whose numbers start at `first`.

        `root` is the number of the tree's root, `numbers` are those of `find_objects`.
        """
        return _Writer(self.structure, self._contents, self._links, numbers).write(first, root)

    @property
    def _page_count(self) -> int:
        return max((content.page for content in self._contents), default=0)


class _Writer:
    def __init__(
        self,
        structure: LogicalStructure,
        contents: Sequence[MarkedContent],
        links: Sequence[_Link],
        numbers: Sequence[int],
    ) -> None:
        self.structure = structure
        self.contents = contents
        self.links = links
        page_count = max((content.page for content in contents), default=0)
        self.pages = (0, *numbers[:page_count])
        streams = [content for content in contents if content.stream is not None]
        ends = page_count + len(streams)
        self.streams = dict(zip(streams, numbers[page_count:ends], strict=True))
        self.annotations = dict(zip(links, numbers[ends:], strict=True))
        self.kids: list[list[_Kid] | None] = [None] * len(structure.roles)
        self.numbers: list[int] = []  # of the elements, 0 if left out
        self.shapes: dict[CellAttributes, int] = {}
        self.root = 0

    def write(self, first: int, root: int) -> AppendedObjects:
        self.root = root
        self._collect()
        count = self._number(first)
        shapes = sorted(set(self.structure.shapes.values()))
        self.shapes = {shape: first + count + at for at, shape in enumerate(shapes)}
        bodies = [self._element(element) for element, number in enumerate(self.numbers) if number]
        bodies += map(_write_shape, shapes)
        parents = self._parent_arrays()
        entries: list[bytes] = []
        for content, array in parents:
            entries.append(b"%d %d 0 R" % (content.key, first + len(bodies)))
            bodies.append(array)
        base = len(self.contents)
        entries += [
            b"%d %d 0 R" % (base + at, self.numbers[link.element])
            for at, link in enumerate(self.links)
        ]
        tree = first + len(bodies)
        bodies.append(b"<</Nums[%b]>>" % b" ".join(entries))
        additions = self._additions(root, tree)
        if notes := self._notes():
            additions[root] += b" /IDTree %d 0 R" % (first + len(bodies))
            names = [b"%b %d 0 R" % (_id_of(note), self.numbers[note]) for note in notes]
            ends = b"%b %b" % (_id_of(notes[0]), _id_of(notes[-1]))
            leaf = b"<</Limits[%b]/Names[%b]>>" % (ends, b" ".join(names))
            bodies.append(b"<</Kids[%d 0 R]>>" % (first + len(bodies) + 1))
            bodies.append(leaf)
        return AppendedObjects(bodies, additions)

    def _notes(self) -> list[int]:
        """Return the notes in the tree; each has an ID (ISO 14289-1, 7.9)."""
        roles = self.structure.roles
        return [
            each for each, number in enumerate(self.numbers) if number and roles[each] == "Note"
        ]

    # --- what is in the tree, and in which order -------------------------------------------------

    def _collect(self) -> None:
        """Attach marked content and links to their elements, and those to their parents."""
        kids = self.kids
        kids[DOCUMENT] = []
        for content in self.contents:
            for number, owner in enumerate(content.owners):
                own = kids[owner]
                if own is None:
                    self._attach(owner)
                    own = kids[owner]
                    assert own is not None
                own.append((content, number))
        for link in self.links:
            if kids[link.element] is None:
                self._attach(link.element)
            held = kids[link.element]
            assert held is not None
            held.append(link)

    def _attach(self, element: int) -> None:
        """Attach an element to its parent, unless it is ordered by its table."""
        kids, parents, roles = self.kids, self.structure.parents, self.structure.roles
        kids[element] = []
        while element != DOCUMENT:
            parent = parents[element]
            siblings = kids[parent]
            is_new = siblings is None
            if siblings is None:
                siblings = kids[parent] = []
            if roles[element] not in _TABLE_PARTS:
                siblings.append(element)
            if not is_new:
                return
            element = parent

    def _number(self, first: int) -> int:
        """Number the elements of the tree; rows and cells of a table count even if they are empty."""
        roles, parents = self.structure.roles, self.structure.parents
        numbers = self.numbers = [0] * len(roles)
        at = first
        for element, kids in enumerate(self.kids):
            if kids is not None or (roles[element] in _TABLE_PARTS and numbers[parents[element]]):
                numbers[element] = at
                at += 1
        return at - first

    def _kids_of(self, element: int) -> Sequence[_Kid]:
        structure = self.structure
        own: Sequence[_Kid] = self.kids[element] or ()
        role = structure.roles[element]
        if role == "TR":
            return structure.cells[element]
        if role in _RANKS and element in structure.rows:
            return structure.rows[element]
        if role == "Table":
            own = [*own, *structure.sections.get(element, ())]
            return sorted(own, key=self._rank)
        # Transparent groups are written after the rest of their page; elements are numbered in
        # document order.
        if len(own) > 1 and all(type(kid) is int for kid in own):
            return sorted(own)  # type: ignore[type-var]
        return own

    def _rank(self, kid: _Kid) -> tuple[int, int]:
        assert isinstance(kid, int)
        return _RANKS.get(self.structure.roles[kid], 0), kid

    # --- objects ---------------------------------------------------------------------------------

    def _element(self, element: int) -> bytes:
        structure, kids = self.structure, self._kids_of(element)
        role = structure.roles[element]
        if role == "Link" and not any(type(kid) is _Link for kid in kids):
            role = "Span"  # its destination is not in the file
        parent = self.numbers[structure.parents[element]]
        if element == DOCUMENT:
            parent = self.root
        page = self._page_of(kids)
        return b"<</S/%b/P %d 0 R%b%b%b>>" % (
            role.encode("ascii"),
            parent,
            b"/Pg %d 0 R" % self.pages[page] if page else b"",
            self._write_kids(kids, page),
            b"".join(self._entries(element)),
        )

    def _page_of(self, kids: Sequence[_Kid]) -> int:
        """Return the page of the first sequence, 0 for an element without one."""
        for kid in kids:
            if type(kid) is tuple:
                return kid[0].page
        return 0

    def _write_kids(self, kids: Sequence[_Kid], page: int) -> bytes:
        if not kids:
            return b""
        written = [self._write_kid(kid, page) for kid in kids]
        if len(written) == 1:
            return b"/K %b" % written[0]
        return b"/K[%b]" % b" ".join(written)

    def _write_kid(self, kid: _Kid, page: int) -> bytes:
        if isinstance(kid, int):
            return b"%d 0 R" % self.numbers[kid]
        if isinstance(kid, _Link):
            parts = self.annotations[kid], self.pages[kid.page]
            return b"<</Type/OBJR/Obj %d 0 R/Pg %d 0 R>>" % parts
        content, number = kid
        if content.stream is not None:
            parts = self.pages[content.page], self.streams[content]
            return b"<</Type/MCR/Pg %d 0 R/Stm %d 0 R/MCID %d>>" % (*parts, number)
        if content.page != page:
            return b"<</Type/MCR/Pg %d 0 R/MCID %d>>" % (self.pages[content.page], number)
        return b"%d" % number

    def _entries(self, element: int) -> Iterator[bytes]:
        structure = self.structure
        if structure.roles[element] == "Note":
            yield b"/ID" + _id_of(element)
        if (lang := structure.langs.get(element)) is not None:
            yield b"/Lang" + write_text(lang)
        if (alt := structure.alts.get(element)) is not None:
            yield b"/Alt" + write_text(alt)
        if (actual := structure.actuals.get(element)) is not None:
            yield b"/ActualText" + write_text(actual)
        if (shape := structure.shapes.get(element)) is not None:
            yield b"/A %d 0 R" % self.shapes[shape]
        if (box := structure.boxes.get(element)) is not None:
            yield b"/A<</O/Layout/BBox[%b]>>" % b" ".join(map(write_number, box))
        if (marker := structure.markers.get(element)) is not None:
            yield b"/A<</O/List/ListNumbering/%b>>" % _numbering_of(marker)

    def _parent_arrays(self) -> list[tuple[MarkedContent, bytes]]:
        numbers = self.numbers
        return [
            (content, b"[%b]" % b" ".join([b"%d 0 R" % numbers[each] for each in content.owners]))
            for content in self.contents
        ]

    def _additions(self, root: int, tree: int) -> dict[int, bytes]:
        """Return the entries of the root, of the pages and of the links (14.7.2, 14.7.4.4)."""
        count = len(self.contents)
        additions = {
            root: b"/K %d 0 R /ParentTree %d 0 R /ParentTreeNextKey %d"
            % (self.numbers[DOCUMENT], tree, count + len(self.links))
        }
        for content in self.contents:
            if content.stream is None:
                key = b"/StructParents %d /Tabs /S" % content.key
                additions[self.pages[content.page]] = key
        for at, link in enumerate(self.links):
            additions[self.annotations[link]] = b"/StructParent %d" % (count + at)
        return additions


def _id_of(note: int) -> bytes:
    """Return the ID of a note, unique and sorted in document order."""
    return b"(note%07d)" % note


def _write_shape(shape: CellAttributes) -> bytes:
    written = b"<</O/Table"
    if shape.scope:
        written += b"/Scope/" + shape.scope.encode("ascii")
    if shape.colspan > 1:
        written += b"/ColSpan %d" % shape.colspan
    if shape.rowspan > 1:
        written += b"/RowSpan %d" % shape.rowspan
    return written + b">>"


def _numbering_of(marker: str) -> bytes:
    """Return the ListNumbering of a list (ISO 32000-1, 14.8.5.5) from its first marker."""
    known = _NUMBERINGS.get(marker)
    if known is not None:
        return known
    name = marker.rstrip(".")
    if name[-1:] in _DIGITS:
        return b"Decimal"
    if not name.isascii() or not name.isalpha():
        return b"Disc"
    kind = b"Roman" if _ROMAN.issuperset(name.lower()) else b"Alpha"
    return (b"Lower" if name.islower() else b"Upper") + kind
