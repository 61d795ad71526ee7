"""The structure tree written as PDF objects (ISO 32000-1, 14.7): elements, parent tree, shared
attributes.

They are appended to ReportLab's objects directly in object streams: a table of 5,000 rows has
45,000 elements. Rows of long tables are aligned (`structure_runs`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from workers.engine.aligned_rows import AlignedObjects, PredictedObjects
from workers.engine.layout.structure import (
    DOCUMENT,
    TABLE_ORDER,
    CellAttributes,
    LogicalStructure,
)
from workers.engine.paint.objects import write_number, write_text
from workers.engine.paint.structure_runs import ParentLines, RowRun, RunGroup
from workers.engine.pdf_writer import AppendedObjects

# Table parts, which are in the tree even if they are empty.
_TABLE_PARTS: Final = frozenset({"THead", "TBody", "TFoot", "TR", "TD", "TH"})
_CELLS: Final = frozenset({"TD", "TH"})
_DIGITS: Final = "0123456789"
_NUMBERINGS: Final = {"•": b"Disc", "◦": b"Circle", "▪": b"Square", "": b"None"}
_ROMAN: Final = frozenset("ivxlcdm")
_OTHERS: Final = frozenset({"Link", "Note", "Form"})
_NO_CELLS: Final = range(-1, -1)
_NO_RUN: Final = RowRun(0, 0, range(0, 0, 1))
LEAST_ALIGNED: Final = 200  # elements: below, padding and two more streams save nothing


@dataclass(slots=True, eq=False)
class MarkedContent:
    """The marked-content sequences of one content stream: the element of each, by MCID.

    An MCID that is left out has None, and so have those of `runs`. `key` is that of the stream in the
    parent tree; `stream` is a form, None for the page itself.
    """

    key: int
    page: int  # from 1
    owners: list[int | None] = field(default_factory=list)
    stream: Any = None
    fields: list[tuple[int, int]] = field(default_factory=list)  # MCID after each, and its element
    runs: list[RowRun] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class ElementAnnotation:
    """The annotation of a link or form field, a child of its element.

    A link is known by its number in the file, from 0, a form field by its widget.
    """

    element: int
    page: int
    annotation: Any

    @property
    def is_link(self) -> bool:
        """Whether it is the annotation of a link."""
        return isinstance(self.annotation, int)


# A child of an element: another one, a marked-content sequence, or a link's annotation.
_Kid = int | tuple[MarkedContent, int] | ElementAnnotation


class StructureWriter:
    """Writes the structure tree of one document."""

    def __init__(
        self,
        structure: LogicalStructure,
        contents: Sequence[MarkedContent],
        links: Sequence[ElementAnnotation],
        numbers: Sequence[int],
    ) -> None:
        """`numbers` are those of the pages, then of the streams, then of the links."""
        self.structure = structure
        self.contents = contents
        self.links = links
        page_count = max((content.page for content in contents), default=0)
        self.pages = (0, *numbers[:page_count])
        streams = [content for content in contents if content.stream is not None]
        ends = page_count + len(streams)
        self.streams = dict(zip(streams, numbers[page_count:ends], strict=True))
        self.annotations = dict(zip(links, numbers[ends:], strict=True))
        # The children of each element in the tree; a single marked-content sequence is not in an array.
        self.kids: list[list[_Kid] | tuple[MarkedContent, int] | None]
        self.kids = [None] * len(structure.roles)
        # Rows whose cells have one sequence each, one after the other: that of the first.
        self.plain_rows: dict[int, tuple[MarkedContent, int]] = {}
        # Those of them that follow each other, by the element of the first. The children of their
        # cells are not recorded before `_spell_out`.
        self.runs: dict[int, tuple[MarkedContent, RowRun]] = {}
        self.last_run: tuple[MarkedContent | None, RowRun] = None, _NO_RUN
        self.described: set[int] = set()  # elements with entries of their own
        self.groups: list[RunGroup] = []  # of all runs
        self.numbers: list[int] = [0] * len(structure.roles)  # 0 for an element left out
        self.shapes: dict[CellAttributes, int] = {}
        self.root = 0
        self.widgets: dict[int, ElementAnnotation] = {}  # by the element of their field

    def write(self, first: int, root: int) -> AppendedObjects:
        """Return the objects of the tree, numbered from `first`; its root is number `root`.

        Rows of tables that follow each other are aligned objects, all others are written each.
        """
        self.root = root
        self._collect()
        elements, leaves = self._sort_elements()
        self._spell_out_runs()
        shapes = self._find_shared()
        ids = self._find_ids(elements)
        after = first + len(elements)
        self.shapes = {shape: after + at for at, shape in enumerate(shapes)}
        tree = after + len(shapes)
        arrays = tree + 1 + 2 * bool(ids)
        at = arrays + len(self.contents)
        self._number(elements, first)
        for group in self.groups:
            at = group.number(self.numbers, at)

        bodies = [
            self._leaf(element) if element in leaves else self._element(element)
            for element in elements
        ]
        bodies += map(_write_shape, shapes)
        bodies.append(self._parent_tree(arrays))
        additions = self._additions(root, tree)
        if ids:
            additions[root] += b" /IDTree %d 0 R" % (tree + 1)
            bodies += self._id_tree(ids, tree + 2)
        if not self.groups:
            bodies += map(self._parent_array, self.contents)
            return AppendedObjects(bodies, additions)
        blocks: list[PredictedObjects] = [self._parent_rows(len(str(at - 1)))]
        numbers, parents = self.numbers, self.structure.parents
        for group in self.groups:
            holders = [numbers[parents[run.rows.start]] for run in group.runs]
            pages = [self.pages[page] for page in group.pages]
            blocks += group.write(holders, pages)
        return AppendedObjects(bodies, additions, blocks)

    # --- elements of the tree, and their order -------------------------------------------------

    def _collect(self) -> None:
        """Attach marked content and annotations to their elements, and those to their parents."""
        self.kids[DOCUMENT] = []
        self.described = {*self._described(), *self.structure.shapes}
        self.widgets = {
            each.element: each
            for each in self.links
            if self.structure.roles[each.element] == "Form"
        }
        for content in self.contents:
            self._collect_content(content)
        for link in self.links:
            if self.structure.roles[link.element] != "Form":
                self._kids_to_extend(link.element).append(link)

    def _collect_content(self, content: MarkedContent) -> None:
        parents, rows, cells = self.structure.parents, self.plain_rows, self.structure.cells
        owners = content.owners
        fields = [*reversed(content.fields)]
        runs = {run.mcid: run for run in content.runs}
        at, end = 0, len(owners)
        while at < end:
            while fields and fields[-1][0] <= at:
                self._attach_field(fields.pop()[1])
            if at in runs:
                if self._attach_run(content, runs[at]):
                    at = runs[at].end
                    continue
                runs[at].spell_out(owners)
            owner = owners[at]
            if owner is None:
                at += 1
                continue
            row = parents[owner]
            if row in rows:
                self._leave_run(row)
                del rows[row]
            own = cells.get(row, _NO_CELLS)
            if own.start == owner and self._attach_row(content, at, own):
                at += len(own)
                continue
            self._attach_sequence(owner, content, at)
            at += 1
        for _, element in reversed(fields):
            self._attach_field(element)

    def _attach_run(self, content: MarkedContent, run: RowRun) -> bool:
        """Attach rows of a page that have no content yet, else return False."""
        kids, rows = self.kids, run.rows
        if content.stream is not None or any(
            each is not None for each in kids[rows.start : rows.stop : rows.step]
        ):
            return False
        self._attach(rows.start)
        kids[rows.start : rows.stop : rows.step] = [[] for _ in rows]
        self.plain_rows.update(zip(rows, zip(repeat(content), run.mcids), strict=False))
        self.runs[rows.start] = content, run
        return True

    def _attach_row(self, content: MarkedContent, at: int, own: range) -> bool:
        """Attach a row whose cells have a sequence each from an MCID on, as the next of a run or the
        first; return False for others.
        """
        row, count = own.start - 1, len(own)
        if content.stream is not None or self.kids[row] is not None:
            return False
        if content.owners[at : at + count] != list(own) or not self.described.isdisjoint(own):
            return False
        self._attach(row)
        self.plain_rows[row] = content, at
        before, run = self.last_run
        if before is not content or (run.mcids.stop, run.rows.stop) != (at, row):
            run = RowRun(at, count, range(row, row, count + 1))
        if run.columns != count:
            run = RowRun(at, count, range(row, row, count + 1))
        run = run._replace(rows=range(run.rows.start, own.stop, count + 1))
        self.last_run = self.runs[run.rows.start] = content, run
        return True

    def _spell_out(self, row: int) -> None:
        """Record the children of the cells of a row, if they are not recorded yet."""
        own = self.structure.cells[row]
        if all(each is None for each in self.kids[own.start : own.stop]):
            content, mcid = self.plain_rows[row]
            for number, cell in enumerate(own, mcid):
                self.kids[cell] = content, number

    def _leave_run(self, row: int) -> None:
        """Write the rows around one each by itself, as that has other content too."""
        self._spell_out(row)
        self.runs = {first: found for first, found in self.runs.items() if row not in found[1].rows}

    def _attach_sequence(self, element: int, content: MarkedContent, mcid: int) -> None:
        """Attach a marked-content sequence to its element."""
        if self.kids[element] is None:
            self._attach(element)
            self.kids[element] = content, mcid
        else:
            self._kids_to_extend(element).append((content, mcid))

    def _attach_field(self, element: int) -> None:
        self._kids_to_extend(element).append(self.widgets[element])

    def _kids_to_extend(self, element: int) -> list[_Kid]:
        """Return the children of an element as a list, and attach the element if it is new."""
        row = self.structure.parents[element]
        if row in self.plain_rows:
            self._leave_run(row)
            del self.plain_rows[row]
        kids = self.kids[element]
        if kids is None:
            self._attach(element)
            kids = self.kids[element]
        if isinstance(kids, tuple):
            kids = self.kids[element] = [kids]
        assert kids is not None
        return kids

    def _attach(self, element: int) -> None:
        """Attach an element to its parent, unless it is ordered by its table."""
        kids, parents, roles = self.kids, self.structure.parents, self.structure.roles
        kids[element] = []
        while element != DOCUMENT:
            parent = parents[element]
            is_new = kids[parent] is None
            if is_new:
                kids[parent] = []
            if roles[element] not in _TABLE_PARTS:
                self._kids_to_extend(parent).append(element)
            if not is_new:
                return
            element = parent

    def _sort_elements(self) -> tuple[list[int], set[int]]:
        """Return the elements of the tree but those of runs, in document order, and the leaves among
        them: those of one sequence of a page, or none, and nothing else.

        Rows and cells of a table are in the tree even if they are empty.
        """
        structure, kids = self.structure, self.kids
        roles, parents = structure.roles, structure.parents
        described = self.described
        self._group_runs(sorted(described))
        elements: list[int] = []
        leaves: set[int] = set()
        is_present = bytearray(len(kids))
        element = 0
        while element < len(kids):
            if element in self.runs:
                element = self.runs[element][1].rows.stop
                continue
            if element in self.plain_rows:
                self._spell_out(element)
            role, own = roles[element], kids[element]
            if own is not None or (role in _TABLE_PARTS and is_present[parents[element]]):
                is_present[element] = True
                elements.append(element)
                is_plain = element not in described and role not in _OTHERS
                has_one = isinstance(own, tuple) and own[0].stream is None
                if is_plain and (has_one or (role in _CELLS and not own)):
                    leaves.add(element)
            element += 1
        return elements, leaves

    def _group_runs(self, described: Sequence[int]) -> None:
        """Group the runs by the kinds of their cells, and keep those worth it."""
        groups: dict[tuple[str, ...], RunGroup] = {}
        for first, (content, run) in self.runs.items():
            at = bisect_left(described, first)
            if at == len(described) or described[at] >= run.rows.stop:
                roles = tuple(self.structure.roles[first + 1 : first + run.rows.step])
                groups.setdefault(roles, RunGroup(roles)).add(run, content.page)
        self.groups = [
            group
            for group in groups.values()
            if group.row_count + group.cell_count >= LEAST_ALIGNED
        ]
        kept = {run.rows.start for group in self.groups for run in group.runs}
        self.runs = {first: found for first, found in self.runs.items() if first in kept}

    def _spell_out_runs(self) -> None:
        """Record the owners of the cells of runs that are not written as lines."""
        for content in self.contents:
            for run in content.runs:
                if not run.is_aligned or self.runs.get(run.rows.start) != (content, run):
                    run.spell_out(content.owners)

    def _described(self) -> set[int]:
        """Return the elements with entries of their own, except the attributes of cells."""
        structure = self.structure
        return {
            *structure.langs,
            *structure.alts,
            *structure.actuals,
            *structure.boxes,
            *structure.markers,
        }

    def _find_shared(self) -> list[CellAttributes]:
        """Return the attributes of cells that are objects: all but Headers that one cell has."""
        shapes = self.structure.shapes.values()
        if not self.structure.head_ids:
            return sorted(set(shapes))
        counts = Counter(shapes)
        return sorted([each for each in counts if counts[each] > 1 or not each.headers])

    def _refer_to(self, shape: CellAttributes) -> bytes:
        number = self.shapes.get(shape)
        return b"/A" + _write_shape(shape) if number is None else b"/A %d 0 R" % number

    def _number(self, elements: Sequence[int], first: int) -> int:
        """Number elements from `first` on, and return the next number."""
        numbers = self.numbers
        for number, element in enumerate(elements, first):
            numbers[element] = number
        return first + len(elements)

    def _kids_of(self, element: int) -> Sequence[_Kid]:
        structure = self.structure
        kids = self.kids[element] or ()
        own: Sequence[_Kid] = [kids] if isinstance(kids, tuple) and kids else kids
        role = structure.roles[element]
        if role == "TR":
            return structure.cells[element]
        if role in TABLE_ORDER and element in structure.rows:
            return structure.rows[element]
        if role == "Table":
            own = [*own, *structure.sections.get(element, ())]
            return sorted(own, key=self._rank)
        # Transparent groups are written after the rest of their page; elements are numbered in
        # document order.
        if len(own) > 1 and all(map(_is_element, own)):
            return sorted(own)  # type: ignore[type-var]
        return own

    def _rank(self, kid: _Kid) -> tuple[int, int]:
        assert isinstance(kid, int)
        return TABLE_ORDER.get(self.structure.roles[kid], 0), kid

    # --- objects ---------------------------------------------------------------------------------

    def _leaf(self, element: int) -> bytes:
        """Return an element with one marked-content sequence of a page, or none, and nothing else."""
        structure, own = self.structure, self.kids[element]
        role = structure.roles[element].encode("ascii")
        parent = self.numbers[structure.parents[element]]
        if isinstance(own, tuple):
            content, mcid = own
            return b"<</S/%b/P %d 0 R/Pg %d 0 R/K %d>>" % (
                role,
                parent,
                self.pages[content.page],
                mcid,
            )
        return b"<</S/%b/P %d 0 R>>" % (role, parent)

    def _element(self, element: int) -> bytes:
        structure, kids = self.structure, self._kids_of(element)
        role = structure.roles[element]
        if role == "Link" and not any(type(kid) is ElementAnnotation for kid in kids):
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
        if isinstance(kid, ElementAnnotation):
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
            yield b"/ID" + _id_of_note(element)
        elif (head_id := structure.head_ids.get(element)) is not None:
            yield b"/ID" + _write_id(head_id)
        if (lang := structure.langs.get(element)) is not None:
            yield b"/Lang" + write_text(lang)
        if (alt := structure.alts.get(element)) is not None:
            yield b"/Alt" + write_text(alt)
        if (actual := structure.actuals.get(element)) is not None:
            yield b"/ActualText" + write_text(actual)
        if (shape := structure.shapes.get(element)) is not None:
            yield self._refer_to(shape)
        if (box := structure.boxes.get(element)) is not None:
            is_list = element in structure.print_fields
            yield b"/A%b<</O/Layout/BBox[%b]>>" % (
                b"[" * is_list,
                b" ".join(map(write_number, box)),
            )
        if (printed := structure.print_fields.get(element)) is not None:
            state = b"/checked/" + printed.state.encode("ascii") if printed.state else b""
            yield b"<</O/PrintField/Role/%b%b>>]" % (printed.role.encode("ascii"), state)
        if (marker := structure.markers.get(element)) is not None:
            yield b"/A<</O/List/ListNumbering/%b>>" % _numbering_of(marker)

    # --- the parent tree ---------------------------------------------------------------------------

    def _parent_array(self, content: MarkedContent) -> bytes:
        """Return the elements of the sequences of a content stream, by MCID."""
        numbers = self.numbers
        return b"[%b]" % b" ".join(
            [b"null" if owner is None else b"%d 0 R" % numbers[owner] for owner in content.owners]
        )

    def _parent_rows(self, digits: int) -> AlignedObjects:
        """Return the same of all content streams in aligned lines, with `digits` in each number."""
        lines = ParentLines(self.numbers, self.groups, digits)
        arrays = [
            lines.write(
                content.owners,
                [run for run in content.runs if self.runs.get(run.rows.start) == (content, run)],
            )
            for content in self.contents
        ]
        return _align(lines.columns, arrays)

    def _parent_tree(self, arrays: int) -> bytes:
        """Return the number tree from content streams, whose arrays start at an object number, and
        links to elements.
        """
        entries = [
            b"%d %d 0 R" % (content.key, arrays + at) for at, content in enumerate(self.contents)
        ]
        base = len(self.contents)
        entries += [
            b"%d %d 0 R" % (base + at, self.numbers[link.element])
            for at, link in enumerate(self.links)
        ]
        return b"<</Nums[%b]>>" % b" ".join(entries)

    def _find_ids(self, elements: Sequence[int]) -> list[tuple[bytes, int]]:
        """Return the IDs among elements, sorted: of notes (ISO 14289-1, 7.9) and of head cells."""
        roles, head_ids = self.structure.roles, self.structure.head_ids
        ids = [(_id_of_note(each), each) for each in elements if roles[each] == "Note"]
        if head_ids:
            heads = [each for each in elements if each in head_ids]
            ids = sorted([*ids, *[(_write_id(head_ids[each]), each) for each in heads]])
        return ids

    def _id_tree(self, ids: Sequence[tuple[bytes, int]], leaf: int) -> Iterator[bytes]:
        """Write the name tree of IDs: its root, then its leaf with the object number `leaf`."""
        names = [b"%b %d 0 R" % (written, self.numbers[element]) for written, element in ids]
        ends = b"%b %b" % (ids[0][0], ids[-1][0])
        yield b"<</Kids[%d 0 R]>>" % leaf
        yield b"<</Limits[%b]/Names[%b]>>" % (ends, b" ".join(names))

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


def _is_element(kid: object) -> bool:
    """Return whether a child of an element is another one."""
    return type(kid) is int


def _align(columns: int, objects: Sequence[bytes]) -> AlignedObjects:
    """Return objects in lines of some columns, each after a zero byte."""
    lengths = [len(each) // (columns + 1) * columns for each in objects]
    return AlignedObjects(columns, lengths, b"".join(objects))


def _id_of_note(note: int) -> bytes:
    """Return the ID of a note, unique and sorted in document order."""
    return _write_id(f"note{note:07d}")


def _write_id(name: str) -> bytes:
    """Return an ID as a string; it has letters and digits only."""
    return b"(%b)" % name.encode("ascii")


def _write_shape(shape: CellAttributes) -> bytes:
    """Return the attributes of a cell as an object."""
    written = b"<</O/Table"
    if shape.scope:
        written += b"/Scope/" + shape.scope.encode("ascii")
    if shape.colspan > 1:
        written += b"/ColSpan %d" % shape.colspan
    if shape.rowspan > 1:
        written += b"/RowSpan %d" % shape.rowspan
    if shape.headers:
        written += b"/Headers[%b]" % b"".join(map(_write_id, shape.headers))
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
