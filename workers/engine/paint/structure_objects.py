"""The structure tree written as PDF objects (ISO 32000-1, 14.7): elements, parent tree, shared
attributes.

Each element is an object and each marked-content sequence an entry of the parent tree, but for long
tables: rows of plain cells are written in blocks (`structure_rows`), as one of 5,000 rows has 45,000
elements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from workers.engine.aligned_rows import AlignedObjects
from workers.engine.layout.structure import (
    DOCUMENT,
    TABLE_ORDER,
    CellAttributes,
    LogicalStructure,
    PrintField,
)
from workers.engine.paint.objects import write_number, write_text
from workers.engine.paint.structure_rows import LEAST_CELLS, AlignedRows, RowRun, write_arrays
from workers.engine.pdf_writer import AppendedObjects

# The first cell of a row of `MCID_STEP / 2` cells or more has a multiple as its MCID: that of a cell
# then ends in one digit in all rows, which compresses to less.
MCID_STEP: Final = 10
# Table parts, which are in the tree even if they are empty.
_TABLE_PARTS: Final = frozenset({"THead", "TBody", "TFoot", "TR", "TD", "TH"})
_DIGITS: Final = "0123456789"
_NUMBERINGS: Final = {"•": b"Disc", "◦": b"Circle", "▪": b"Square", "": b"None"}
_ROMAN: Final = frozenset("ivxlcdm")


@dataclass(slots=True, eq=False)
class MarkedContent:
    """The marked-content sequences of one content stream: the element of each, by MCID.

    `key` is that of the stream in the parent tree; `stream` is a form, None for the page itself. An
    owner is None for an MCID that no sequence has.
    """

    key: int
    page: int  # from 1
    owners: list[int | None] = field(default_factory=list)
    stream: Any = None
    fields: list[tuple[int, int]] = field(default_factory=list)  # MCID after each, and its element


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


# A child of an element: another one, a marked-content sequence, or an annotation.
_Kid = int | tuple[MarkedContent, int] | ElementAnnotation


class StructureWriter:
    """Writes the structure tree of one document."""

    def __init__(
        self,
        structure: LogicalStructure,
        contents: Sequence[MarkedContent],
        annotations: Sequence[ElementAnnotation],
        numbers: Sequence[int],
    ) -> None:
        """`numbers` are those of the pages, then of the streams, then of the annotations."""
        self.structure = structure
        self.contents = contents
        page_count = max((content.page for content in contents), default=0)
        self.pages = (0, *numbers[:page_count])
        streams = [content for content in contents if content.stream is not None]
        ends = page_count + len(streams)
        self.streams = dict(zip(streams, numbers[page_count:ends], strict=True))
        self.annotations = dict(zip(annotations, numbers[ends:], strict=True))
        self.kids: dict[int, list[_Kid]] = {DOCUMENT: []}  # of the elements with content
        # The runs of rows, and that of each row. Their cells are not in `kids`.
        self.runs: dict[RowRun, MarkedContent] = {}
        self.rows: dict[int, RowRun] = {}
        self.entries: dict[int, bytes] = {}  # of elements, beside role, parent and children
        self.busy: set[int] = set()  # elements with content or entries
        self.numbers = [0] * len(structure.roles)  # of the objects; 0 for elements left out

    def write(self, first: int, root: int) -> AppendedObjects:
        """Return the objects of the tree, numbered from `first`; its root is number `root`."""
        shapes, numbers = self._find_shared(), self.numbers
        self._describe({shape: number for number, shape in enumerate(shapes, first)})
        self._collect()
        blocks = self._find_blocks()
        elements = sorted(self._list_elements(), key=self.structure.roles.__getitem__)
        for number, element in enumerate(elements, first + len(shapes)):
            numbers[element] = number
        ids = self._find_ids(elements)
        tree = first + len(shapes) + len(elements)
        arrays = tree + 1 + 2 * bool(ids)
        end = arrays + len(self.contents)
        for block in blocks:
            end = block.number(numbers, end)

        bodies = [*map(_write_shape, shapes)]
        bodies += [self._write_element(element, root) for element in elements]
        bodies.append(self._write_parent_tree(arrays))
        additions = self._find_additions(root, tree)
        if ids:
            additions[root] += b" /IDTree %d 0 R" % (tree + 1)
            bodies += self._write_id_tree(ids, tree + 2)
        parents = [
            [0 if owner is None else numbers[owner] for owner in content.owners]
            for content in self.contents
        ]
        if not blocks:
            bodies += map(_write_array, parents)
            return AppendedObjects(bodies, additions)
        aligned = self._write_aligned(blocks, parents, len(str(end)))
        return AppendedObjects(bodies, additions, end - arrays, aligned)

    def _write_aligned(
        self, blocks: Sequence[AlignedRows], arrays: Sequence[Sequence[int]], digits: int
    ) -> Iterator[AlignedObjects]:
        """Yield the arrays of the parent tree, and then the blocks of rows."""
        yield from write_arrays(arrays, digits)
        for block in blocks:
            holders = [self.numbers[self.structure.parents[run.rows.start]] for run in block.runs]
            yield from block.write(holders, self.pages)

    # --- elements of the tree, and their order -------------------------------------------------

    def _collect(self) -> None:
        """Attach marked content and annotations to their elements, and those to their parents."""
        widgets = {each.element: each for each in self.annotations if not each.is_link}
        for content in self.contents:
            self._collect_content(content, widgets)
        for annotation in self.annotations:
            if annotation.is_link:
                self._kids_of(annotation.element).append(annotation)

    def _collect_content(
        self, content: MarkedContent, widgets: Mapping[int, ElementAnnotation]
    ) -> None:
        owners = content.owners
        fields = [*reversed(content.fields)]
        at = 0
        while at < len(owners):
            while fields and fields[-1][0] <= at:
                element = fields.pop()[1]
                self._kids_of(element).append(widgets[element])
            owner = owners[at]
            run = None if fields or owner is None else self._find_run(content, at, owner)
            if run is not None:
                self._attach_run(content, run)
                at = run.end
                continue
            if owner is not None:
                self._kids_of(owner).append((content, at))
            at += 1
        for _, element in reversed(fields):
            self._kids_of(element).append(widgets[element])

    def _find_run(self, content: MarkedContent, mcid: int, first: int) -> RowRun | None:
        """Return the rows whose cells have the sequences from an MCID on, one each in order, and
        nothing else so far; they are of one section and have the same roles.

        `first` is the element of that MCID.
        """
        owners, structure = content.owners, self.structure
        own = structure.cells.get(first - 1)
        if own is None or content.stream is not None:
            return None
        step, stride = len(own) + 1, len(own)
        if mcid + stride < len(owners) and owners[mcid + stride] is None:
            stride += -stride % MCID_STEP
        starts, count = owners[mcid::stride], 1
        while count < len(starts) and starts[count] == first + count * step:
            count += 1
        rows = range(first - 1, first - 1 + count * step, step)
        mcids = range(mcid, mcid + count * stride, stride)
        is_plain = (
            all(
                owners[mcid + at : mcids.stop : stride] == [*range(first + at, rows.stop, step)]
                for at in range(len(own))
            )
            and self.busy.isdisjoint(range(first, rows.stop))
            and self.rows.keys().isdisjoint(rows)
            and structure.parents[first - 1 : rows.stop : step]
            == [structure.parents[first - 1]] * count
            and structure.roles[first - 1 : rows.stop]
            == structure.roles[first - 1 : first - 1 + step] * count
        )
        return RowRun(content.page, mcids, rows) if is_plain else None

    def _attach_run(self, content: MarkedContent, run: RowRun) -> None:
        self._kids_of(self.structure.parents[run.rows.start])
        self.runs[run] = content
        self.rows.update(dict.fromkeys(run.rows, run))

    def _kids_of(self, element: int) -> list[_Kid]:
        """Return the children of an element, and attach it to its parent if it is new."""
        kids = self.kids.get(element)
        if kids is not None:
            return kids
        parent = self.structure.parents[element]
        if parent in self.rows:
            self._spell_out(self.rows[parent])
            return self._kids_of(element)
        siblings = self._kids_of(parent)
        if self.structure.roles[element] not in _TABLE_PARTS:  # which are ordered by their table
            siblings.append(element)
        self.busy.add(element)
        kids = self.kids[element] = []
        return kids

    def _spell_out(self, run: RowRun) -> None:
        """Record the children of the cells of a run."""
        content = self.runs.pop(run)
        for row, mcid in zip(run.rows, run.mcids, strict=True):
            del self.rows[row]
            for at, cell in enumerate(self.structure.cells[row], mcid):
                self._kids_of(cell).append((content, at))

    def _find_blocks(self) -> list[AlignedRows]:
        """Return the blocks of rows with cells of the same types; those of few rows are spelled out."""
        blocks: dict[tuple[str, ...], AlignedRows] = {}
        for run in self.runs:
            roles = tuple(self.structure.roles[run.rows.start + 1 : run.rows.start + run.rows.step])
            blocks.setdefault(roles, AlignedRows(roles)).runs.append(run)
        found = []
        for block in blocks.values():
            if block.cell_count >= LEAST_CELLS:
                found.append(block)
                continue
            for run in block.runs:
                self._spell_out(run)
        return found

    def _list_elements(self) -> list[int]:
        """Return the elements of the tree but those of blocks, in document order.

        Rows and cells of a table are in the tree even if they are empty.
        """
        structure, kids = self.structure, self.kids
        roles, parents = structure.roles, structure.parents
        elements: list[int] = []
        is_present = bytearray(len(roles))
        element = 0
        while element < len(roles):
            if element in self.rows:
                element = self.rows[element].rows.stop
                continue
            is_part = roles[element] in _TABLE_PARTS and is_present[parents[element]]
            if element in kids or is_part:
                is_present[element] = True
                elements.append(element)
            element += 1
        return elements

    def _order_kids(self, element: int) -> Sequence[_Kid]:
        """Return the children of an element in the order of the tree."""
        structure = self.structure
        kids = self.kids.get(element, ())
        role = structure.roles[element]
        if role == "TR":
            return structure.cells[element]
        if role in TABLE_ORDER and element in structure.rows:
            return structure.rows[element]
        if role == "Table":
            return sorted([*kids, *structure.sections.get(element, ())], key=self._rank)
        # Transparent groups are written after the rest of their page; elements are numbered in
        # document order.
        if len(kids) > 1 and all(type(kid) is int for kid in kids):
            return sorted(kids)  # type: ignore[type-var]
        return kids

    def _rank(self, kid: _Kid) -> tuple[int, int]:
        assert isinstance(kid, int)
        return TABLE_ORDER.get(self.structure.roles[kid], 0), kid

    # --- objects ---------------------------------------------------------------------------------

    def _write_element(self, element: int, root: int) -> bytes:
        structure = self.structure
        kids, role = self._order_kids(element), structure.roles[element]
        if role == "Link" and not any(type(kid) is ElementAnnotation for kid in kids):
            role = "Span"  # its destination is not in the file
        page = next((kid[0].page for kid in kids if type(kid) is tuple), 0)
        written = [self._write_kid(kid, page) for kid in kids]
        if len(written) > 1:
            written = [b"[", b" ".join(written), b"]"]
        return b"<</S/%b/P %d 0 R%b%b%b%b>>" % (
            role.encode("ascii"),
            self.numbers[structure.parents[element]] if element else root,
            b"/Pg %d 0 R" % self.pages[page] if page else b"",
            b"/K " if written else b"",
            b"".join(written),
            self.entries.get(element, b""),
        )

    def _write_kid(self, kid: _Kid, page: int) -> bytes:
        """Return a child of an element whose own page is `page`."""
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

    def _find_shared(self) -> list[CellAttributes]:
        """Return the attributes of cells that are objects: all but Headers that one cell has."""
        counts = Counter(self.structure.shapes.values())
        return sorted([each for each in counts if counts[each] > 1 or not each.headers])

    def _describe(self, shapes: Mapping[CellAttributes, int]) -> None:
        """Write the entries of elements; `shapes` are the numbers of attributes that are objects."""
        structure, entries = self.structure, defaultdict[int, bytes](bytes)
        for element, head_id in structure.head_ids.items():
            entries[element] += b"/ID" + _write_id(head_id)
        texts = {
            b"/Lang": structure.langs,
            b"/Alt": structure.alts,
            b"/ActualText": structure.actuals,
        }
        for name, described in texts.items():
            for element, text in described.items():
                entries[element] += name + write_text(text)
        for element, shape in structure.shapes.items():
            number = shapes.get(shape)
            shared = _write_shape(shape) if number is None else b" %d 0 R" % number
            entries[element] += b"/A" + shared
        for element, box in structure.boxes.items():
            layout = b"<</O/Layout/BBox[%b]>>" % b" ".join(map(write_number, box))
            printed = structure.print_fields.get(element)
            entries[element] += b"/A" + (layout if printed is None else _add_print(layout, printed))
        for element, marker in structure.markers.items():
            entries[element] += b"/A<</O/List/ListNumbering/%b>>" % _numbering_of(marker)
        self.entries = entries
        self.busy.update(entries)

    # --- the parent tree and IDs -----------------------------------------------------------------

    def _write_parent_tree(self, arrays: int) -> bytes:
        """Return the number tree from content streams, whose arrays start at an object number, and
        annotations to elements.
        """
        entries = [b"%d %d 0 R" % (each.key, arrays + each.key) for each in self.contents]
        entries += [
            b"%d %d 0 R" % (key, self.numbers[annotation.element])
            for key, annotation in enumerate(self.annotations, len(self.contents))
        ]
        return b"<</Nums[%b]>>" % b" ".join(entries)

    def _find_ids(self, elements: Sequence[int]) -> list[tuple[bytes, int]]:
        """Return the IDs among elements, sorted: of notes (ISO 14289-1, 7.9) and of head cells."""
        structure = self.structure
        ids = {
            element: f"note{element:07d}"
            for element in elements
            if structure.roles[element] == "Note"
        }
        for element, name in ids.items():
            self.entries[element] = b"/ID" + _write_id(name) + self.entries.get(element, b"")
        ids.update(structure.head_ids)
        return sorted(
            (_write_id(name), element) for element, name in ids.items() if self.numbers[element]
        )

    def _write_id_tree(self, ids: Sequence[tuple[bytes, int]], leaf: int) -> Iterator[bytes]:
        """Write the name tree of IDs: its root, then its leaf with the object number `leaf`."""
        names = [b"%b %d 0 R" % (written, self.numbers[element]) for written, element in ids]
        ends = b"%b %b" % (ids[0][0], ids[-1][0])
        yield b"<</Kids[%d 0 R]>>" % leaf
        yield b"<</Limits[%b]/Names[%b]>>" % (ends, b" ".join(names))

    def _find_additions(self, root: int, tree: int) -> dict[int, bytes]:
        """Return the entries of the root, of the pages and of annotations (14.7.2, 14.7.4.4)."""
        count = len(self.contents)
        additions = {
            root: b"/K %d 0 R /ParentTree %d 0 R /ParentTreeNextKey %d"
            % (self.numbers[DOCUMENT], tree, count + len(self.annotations))
        }
        for content in self.contents:
            if content.stream is None:
                entry = b"/StructParents %d /Tabs /S" % content.key
                additions[self.pages[content.page]] = entry
        for key, number in enumerate(self.annotations.values(), count):
            additions[number] = b"/StructParent %d" % key
        return additions


def _write_array(numbers: Sequence[int]) -> bytes:
    """Return an array of references to objects, 0 for null."""
    return b"[%b]" % b" ".join([b"%d 0 R" % number if number else b"null" for number in numbers])


def _add_print(layout: bytes, printed: PrintField) -> bytes:
    """Return a list of attributes with those of a field that is filled by hand."""
    state = b"/checked/" + printed.state.encode("ascii") if printed.state else b""
    role = printed.role.encode("ascii")
    return b"[%b<</O/PrintField/Role/%b%b>>]" % (layout, role, state)


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
