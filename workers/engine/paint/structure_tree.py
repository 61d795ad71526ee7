"""The structure tree of a tagged document written as PDF objects (ISO 32000-1, 14.7): elements,
parent tree, shared attributes.

Each element is an object and each marked-content sequence an entry of the parent tree, but for long
tables: rows of plain cells are written in blocks, as one of 5,000 rows has 45,000 elements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, compress, count, groupby, islice, repeat
from typing import Final, NamedTuple

from workers.engine.layout.display import LinkArea
from workers.engine.layout.structure import (
    DOCUMENT,
    TABLE_ORDER,
    CellAttributes,
    LogicalStructure,
    add_headers,
)
from workers.engine.pdf_writer import AlignedObjects, AppendedObjects, write_number, write_text
from workers.engine.tree.node_values import FieldKind
from workers.engine.tree.nodes import FormField

LEAST_CELLS: Final = 200  # of a block: below, padding and two more streams save nothing
_OBJECTS: Final = 2_000  # of a stream: 120 KB decompressed; a fifth larger compressed at 1,000
_ARRAYS: Final = 100  # of a stream
# Lengths of objects are multiples of it, so that their offsets change in few digits.
_LENGTH_STEP: Final = 10


class RowRun(NamedTuple):
    """Rows of one page that follow each other, whose cells have one marked-content sequence each, in
    order, and nothing else.

    `rows` are their elements; those of the cells of each follow it. `page` counts from 1. `mcids` are
    those of the first cells.
    """

    page: int
    mcids: range
    rows: range

    @property
    def columns(self) -> list[range]:
        """The elements of the cells, by column."""
        rows = self.rows
        return [range(rows.start + at, rows.stop + at, rows.step) for at in range(1, rows.step)]

    @property
    def end(self) -> int:
        """The MCID after that of the last cell."""
        return self.mcids[-1] + self.rows.step - 1


class AlignedRows:
    """The runs of one document whose rows have cells of the same structure types, `TD` or `TH`."""

    def __init__(self, roles: Sequence[str], runs: Sequence[RowRun]) -> None:
        self.runs = runs
        self._roles = roles
        self.row_count = sum([len(run.rows) for run in runs])
        self.cell_count = self.row_count * len(roles)
        self._first_row = self._first_cell = 0  # numbers of objects

    def number(self, numbers: list[int], first: int) -> int:
        """Number the objects of the rows, then of the cells, from `first`; return the next number."""
        columns = len(self._roles)
        row = self._first_row = first
        cell = self._first_cell = first + self.row_count
        for run in self.runs:
            rows, end = run.rows, cell + len(run.rows) * columns
            numbers[rows.start : rows.stop : rows.step] = range(row, row + len(rows))
            for at, column in enumerate(run.columns, cell):
                numbers[column.start : column.stop : column.step] = range(at, end, columns)
            row, cell = row + len(rows), end
        return cell

    def write(
        self, numbers: Sequence[int], parents: Sequence[int], pages: Sequence[int]
    ) -> Iterator[AlignedObjects]:
        """Yield the rows, then the cells.

        `numbers` are those of elements, `parents` their parents, and `pages` the numbers of the pages.
        """
        digits, columns = len(str(self._first_cell + self.cell_count)), len(self._roles)
        number, cells = b"%%%dd 0 R" % digits, count(self._first_cell)
        holders = chain.from_iterable(
            [repeat(numbers[parents[run.rows.start]], len(run.rows)) for run in self.runs]
        )
        form = b"<</S/TR/P %b/K[%b]>>" % (number, b" ".join([number] * columns))
        filled = tuple(chain.from_iterable(zip(holders, *[cells] * columns, strict=False)))
        yield from _split(_pad(form, 1 + columns) * self.row_count % filled, self.row_count)
        wide, rows = len(str(max(run.end for run in self.runs))), count(self._first_row)
        written = [
            _form_cells(run.mcids, self._roles, digits, wide)
            % tuple(
                chain.from_iterable(
                    [(row, pages[run.page]) * columns for row in islice(rows, len(run.rows))]
                )
            )
            for run in self.runs
        ]
        yield from _split(b"".join(written), self.cell_count)


@lru_cache(maxsize=4)
def _form_cells(mcids: range, roles: Sequence[str], digits: int, wide: int) -> bytes:
    """Return the cells of rows, in which the numbers of parents and pages are to be set.

    `mcids` are those of the first cells; numbers have some digits, and MCIDs are `wide`.
    """
    form = b"<</P %%%dd 0 R/Pg %%%dd 0 R/K %*d/S/%b>>"
    names = [role.encode("ascii") for role in roles]
    return b"".join(
        [
            _pad(form % (digits, digits, wide, mcid, name), 2)
            for first in mcids
            for mcid, name in enumerate(names, first)
        ]
    )


def _pad(form: bytes, numbers: int) -> bytes:
    """Return a row for a form in which some numbers are to be set."""
    return b"\0" + form + b" " * (-len(form % ((0,) * numbers)) % _LENGTH_STEP)


def _split(rows: bytes, count: int) -> Iterator[AlignedObjects]:
    """Yield objects of one row each."""
    width = len(rows) // count
    for start in range(0, len(rows), width * _OBJECTS):
        part = rows[start : start + width * _OBJECTS]
        yield AlignedObjects(width - 1, range(0, len(part) - len(part) // width, width - 1), part)


def write_arrays(arrays: Sequence[Sequence[int]], digits: int) -> Iterator[AlignedObjects]:
    """Yield arrays of references to objects, whose numbers have at most some digits; 0 is for null."""
    # A row for each entry, as most numbers follow each other. The brackets are around all of them.
    entry = (b"\0 %%%dd 0 R " % digits).ljust(16)
    columns = len(entry % 0) - 1
    null = b"\0 null".ljust(columns + 1)
    for start in range(0, len(arrays), _ARRAYS):
        written = []
        for numbers in arrays[start : start + _ARRAYS]:
            rows = entry * len(numbers) % tuple(numbers) or b"\0".ljust(columns + 1)
            array = bytearray(rows.replace(entry % 0, null))
            array[1], array[-1] = b"[]"
            written.append(array)
        lengths = [len(array) // (columns + 1) * columns for array in written[:-1]]
        yield AlignedObjects(columns, (0, *accumulate(lengths)), b"".join(written))


# The first cell of a row of `MCID_STEP / 2` cells or more has a multiple as its MCID: that of a cell
# then ends in one digit in all rows, which compresses to less.
MCID_STEP: Final = 10
NOBODY: Final = -1  # the owner of an MCID that no sequence has
_KIDS: Final = (b"%b", b"/K %b", b"/K [%b]")  # the entry of none, one, and several


@dataclass(slots=True, eq=False)
class MarkedContent:
    """The marked-content sequences of one content stream: the element of each, by MCID.

    `key` is that of the stream in the parent tree; `stream` is a form, None for the page itself.
    """

    key: int
    page: int  # from 1
    owners: list[int] = field(default_factory=list)
    stream: object = None
    fields: dict[int, list[int]] = field(default_factory=dict)  # the Forms before each MCID
    number: int = 0  # of the stream's object


@dataclass(slots=True, eq=False)
class ElementAnnotation:
    """The annotation of a link or form field, a child of its element."""

    element: int
    page: int
    link: int = 0  # the number of the link in the file, from 0
    widget: object = None  # of a form field
    number: int = 0  # of the annotation's object


# A child of an element: another one, or a marked-content sequence or annotation as it is written.
_Kid = int | bytes


class _Children(dict[int, list[_Kid]]):
    """The children of the elements of the tree; a new element is attached to its parent."""

    def __init__(self, parents: Sequence[int]) -> None:
        super().__init__({DOCUMENT: []})
        self._parents = parents

    def __missing__(self, element: int) -> list[_Kid]:
        self[self._parents[element]].append(element)
        kids = self[element] = []
        return kids


class StructureTree:
    """The marked content of a document's pages, and its structure tree."""

    def __init__(self, structure: LogicalStructure, *, is_pdf2: bool = False) -> None:
        self.structure = structure
        self.is_pdf2 = is_pdf2
        self._contents: list[MarkedContent] = []
        self._annotations: list[ElementAnnotation] = []
        self._kids = _Children(structure.parents)
        self._places: dict[int, bytes] = {}  # the first page with their marked content
        self._runs: dict[int, dict[int, RowRun]] = {}  # of blocks, by content and MCID
        self._entries = defaultdict[int, bytes](bytes)  # beside role, parent and children
        self._pages: Sequence[int] = ()  # the numbers of the pages, from 1
        self._numbers: list[int] = []  # of the elements' objects; 0 for those left out

    def begin_content(self, page: int) -> MarkedContent:
        """Start a content stream of a page, counted from 1."""
        content = MarkedContent(len(self._contents), page)
        self._contents.append(content)
        return content

    def describe_link(self, link: LinkArea) -> str:
        """Return the text of a link, or its target if it has none."""
        texts = self.structure.texts.get(link.owner) if isinstance(link.owner, int) else None
        return " ".join(" ".join(texts or ()).split()) or link.target

    def add_link(self, link: LinkArea, page: int, number: int) -> None:
        """Add a link by its number in the file; one in a header or footer gets an element of its own."""
        element = link.owner if isinstance(link.owner, int) else self.structure.add_lone_link()
        self._annotations.append(ElementAnnotation(element, page, link=number))

    def add_field(self, element: int, page: int, widget: object) -> None:
        """Add the widget annotation of a form field."""
        self._annotations.append(ElementAnnotation(element, page, widget=widget))

    def find_objects(self) -> list[object]:
        """Return the objects whose numbers `write` needs beside those of the pages."""
        streams = [content.stream for content in self._contents if content.stream is not None]
        return [*streams, *[each.widget for each in self._annotations if each.widget is not None]]

    def write(
        self,
        first: int,
        root: int,
        numbers: Sequence[int],
        *,
        first_link: int,
        targets: Mapping[int, int],
    ) -> AppendedObjects:
        """Write the tree as objects whose numbers start at `first`.

        `root` is the number of the tree's root, `numbers` are those of the pages and of `find_objects`,
        and links are numbered from `first_link`. Their keys in the parent tree are among the additions.
        `targets` are the elements to which links lead, by the number of the link.
        """
        add_headers(self.structure)
        self.structure.complete_tables()
        self._take_numbers(numbers, first_link)
        shapes = self._find_shared()
        self._describe({shape: number for number, shape in enumerate(shapes, first)})
        blocks = self._find_blocks()
        self._collect()
        in_blocks = {*chain.from_iterable([run.rows for block in blocks for run in block.runs])}
        self._complete_tables(in_blocks)
        elements = sorted(sorted(self._kids), key=self.structure.roles.__getitem__)
        numbers = self._numbers = [0] * (len(self.structure.roles) + 1)  # the last is for NOBODY
        for number, element in enumerate(elements, first + len(shapes)):
            numbers[element] = number
        ids = self._find_ids()
        tree = first + len(shapes) + len(elements)
        arrays = tree + 1 + 2 * bool(ids) + self.is_pdf2
        end = arrays + len(self._contents)
        for block in blocks:
            end = block.number(numbers, end)

        if self.is_pdf2:
            self._add_references(targets)
            self._add_namespace(arrays - 1)
        bodies = [*map(_write_shape, shapes)]
        parts = chain(elements, in_blocks)
        references = {element: b"%d 0 R" % numbers[element] for element in parts}
        bodies += self._write_elements(elements, references, root)
        bodies.append(self._write_parent_tree(arrays))
        additions = self._find_additions(root, tree)
        if ids:
            additions[root] += b" /IDTree %d 0 R" % (tree + 1)
            bodies += self._write_id_tree(ids, tree + 2)
        if self.is_pdf2:
            additions[root] += b" /Namespaces [%d 0 R]" % (arrays - 1)
            bodies.append(b"<</Type/Namespace/NS(http://iso.org/pdf2/ssn)>>")
        parents = [[*map(numbers.__getitem__, content.owners)] for content in self._contents]
        if not blocks:
            bodies += map(_write_array, parents)
            return AppendedObjects(bodies, additions)
        aligned = chain(
            write_arrays(parents, len(str(end))),
            *[block.write(numbers, self.structure.parents, self._pages) for block in blocks],
        )
        return AppendedObjects(bodies, additions, end - arrays, aligned)

    def _take_numbers(self, numbers: Sequence[int], first_link: int) -> None:
        """Record the numbers of pages, streams and annotations."""
        page_count = max((content.page for content in self._contents), default=0)
        self._pages = (0, *numbers[:page_count])
        others = iter(numbers[page_count:])
        for content in self._contents:
            if content.stream is not None:
                content.number = next(others)
        for each in self._annotations:
            each.number = first_link + each.link if each.widget is None else next(others)

    # --- blocks of rows ------------------------------------------------------------------------

    def _find_blocks(self) -> list[AlignedRows]:
        """Return the blocks of rows with cells of the same types; those of few rows are spelled out.

        A run is in no block if one of its cells has other content, children or entries.
        """
        structure, roles = self.structure, self.structure.roles
        if sum(map(len, structure.cells.values())) < LEAST_CELLS:
            return []
        busy = {*self._entries, *structure.parents}
        candidates: list[tuple[MarkedContent, RowRun]] = []
        rows: set[int] = set()
        for content in self._contents:
            at = 0
            while at < len(content.owners):
                run = self._find_run(content, at)
                if run is None:
                    busy.add(content.owners[at])
                    at += 1
                    continue
                busy.update([row + 1 for row in rows.intersection(run.rows)])
                rows.update(run.rows)
                candidates.append((content, run))
                at = run.end
        blocks: dict[tuple[str, ...], list[tuple[MarkedContent, RowRun]]] = {}
        for content, run in candidates:
            if all(map(busy.isdisjoint, run.columns)):
                kinds = tuple([roles[column.start] for column in run.columns])
                blocks.setdefault(kinds, []).append((content, run))
        found = []
        for kinds, members in blocks.items():
            block = AlignedRows(kinds, [run for _, run in members])
            if block.cell_count >= LEAST_CELLS:
                found.append(block)
                for content, run in members:
                    self._runs.setdefault(content.key, {})[run.mcids.start] = run
        return found

    def _find_run(self, content: MarkedContent, mcid: int) -> RowRun | None:
        """Return the rows whose cells have the sequences from an MCID on, one each in order; they are
        of one section and have the same roles.
        """
        owners, structure, first = content.owners, self.structure, content.owners[mcid]
        own = structure.cells.get(first - 1)
        if own is None or content.stream is not None or content.fields:
            return None
        step, stride = len(own) + 1, len(own)
        if mcid + stride < len(owners) and owners[mcid + stride] == NOBODY:
            stride += -stride % MCID_STEP
        starts, count = owners[mcid::stride], 1
        while count < len(starts) and starts[count] == first + count * step:
            count += 1
        rows = range(first - 1, first - 1 + count * step, step)
        run = RowRun(content.page, range(mcid, mcid + count * stride, stride), rows)
        parents, roles = structure.parents, structure.roles
        is_plain = (
            all(
                owners[mcid + at : run.mcids.stop : stride] == [*column]
                for at, column in enumerate(run.columns)
            )
            and parents[rows.start : rows.stop : step] == [parents[rows.start]] * count
            and roles[rows.start : rows.stop] == roles[rows.start : rows.start + step] * count
        )
        return run if is_plain else None

    # --- elements of the tree, and their order -------------------------------------------------

    def _collect(self) -> None:
        """Attach marked content and annotations to their elements, and those to their parents."""
        widgets = {each.element: each for each in self._annotations if each.widget is not None}
        for content in self._contents:
            self._collect_content(content, widgets)
        for annotation in self._annotations:
            if annotation.widget is None:
                self._add_annotation(annotation)
        # Transparent groups are written after the rest of their page; elements are numbered in
        # document order.
        for kids in self._kids.values():
            if len(kids) > 1 and {*map(type, kids)} == {int}:
                kids.sort()

    def _collect_content(
        self, content: MarkedContent, widgets: Mapping[int, ElementAnnotation]
    ) -> None:
        owners, runs, at = [*content.owners, NOBODY], self._runs.get(content.key, {}), 0
        place, inside = b"/Pg %d 0 R" % self._pages[content.page], b"%d"
        outside = b"<</Type/MCR%b/MCID %%d>>" % place  # of elements that begin on another page
        if content.stream is not None:
            inside = outside = b"<</Type/MCR%b/Stm %d 0 R/MCID %%d>>" % (place, content.number)
        fields, places, kids = content.fields, self._places, self._kids
        while at < len(owners):
            owner = owners[at]
            for each in fields.get(at, ()):
                self._add_annotation(widgets[each])
            if at in runs:
                _ = kids[self.structure.parents[runs[at].rows.start]]  # which is in the tree
                at = runs[at].end
                continue
            if owner != NOBODY:
                form = inside if places.setdefault(owner, place) is place else outside
                kids[owner].append(form % at)
            at += 1

    def _add_annotation(self, annotation: ElementAnnotation) -> None:
        parts = annotation.number, self._pages[annotation.page]
        self._kids[annotation.element].append(b"<</Type/OBJR/Obj %d 0 R/Pg %d 0 R>>" % parts)

    def _complete_tables(self, in_blocks: AbstractSet[int]) -> None:
        """Attach all rows and cells of the tables in the tree, even empty ones, in their order.

        `in_blocks` are the rows of blocks, whose cells are not in the tree themselves.
        """
        structure, kids = self.structure, self._kids
        for table, sections in structure.sections.items():
            if table not in kids:
                continue
            kids[table] = sorted({*kids[table], *sections}, key=self._rank)
            for section in sections:
                kids[section] = [*structure.rows[section]]
                for row in {*structure.rows[section]} - in_blocks:
                    kids[row] = [*structure.cells[row]]
                    for cell in structure.cells[row]:
                        kids.setdefault(cell, [])

    def _rank(self, kid: _Kid) -> tuple[int, int]:
        assert isinstance(kid, int)
        return TABLE_ORDER.get(self.structure.roles[kid], 0), kid

    # --- objects ---------------------------------------------------------------------------------

    def _write_elements(
        self, elements: Sequence[int], references: Mapping[int, bytes], root: int
    ) -> Iterator[bytes]:
        """Yield the elements of the tree; `references` are to them and to the rows of blocks."""
        parents, entries, places = self.structure.parents, self._entries, self._places
        linked = {annotation.element for annotation in self._annotations}
        for role, members in groupby(elements, key=self.structure.roles.__getitem__):
            name = b"FENote" if role == "Note" and self.is_pdf2 else role.encode("ascii")
            for element in members:
                kids = self._kids[element]
                # The destination of a link may be missing in the file.
                is_text = role == "Link" and element not in linked
                written = b" ".join(map(references.get, kids, kids))  # type: ignore[arg-type]
                yield b"<</S/%b/P %b%b%b%b>>" % (
                    b"Span" if is_text else name,
                    references[parents[element]] if element else b"%d 0 R" % root,
                    places.get(element, b""),
                    _KIDS[min(len(kids), 2)] % written,
                    entries.get(element, b""),
                )

    def _find_shared(self) -> list[CellAttributes]:
        """Return the attributes of cells that are objects: all but Headers that one cell has."""
        counts = Counter(self.structure.shapes.values())
        return sorted([each for each in counts if counts[each] > 1 or not each.headers])

    def _describe(self, shapes: Mapping[CellAttributes, int]) -> None:
        """Write the entries of elements; `shapes` are the numbers of attributes that are objects."""
        structure, entries = self.structure, self._entries
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
            node = structure.nodes[element]
            if isinstance(node, FormField):  # one that is not interactive
                layout = b"[%b%b]" % (layout, _describe_field(node))
            entries[element] += b"/A" + layout
        for element, style in structure.numberings.items():
            # The names of ISO 32000-1, 14.8.5.5, are those of CSS, but for a dash.
            numbering = "Disc" if style == "dash" else style.title().replace("-", "")
            entries[element] += b"/A<</O/List/ListNumbering/%b>>" % numbering.encode("ascii")

    # --- PDF 2.0 -------------------------------------------------------------------------------------

    def find_number(self, element: int) -> int:
        """Return the object of an element in the tree, or of the nearest one around it."""
        return self._numbers[self._find_present(element)]

    def _find_present(self, element: int) -> int:
        while not self._numbers[element]:
            element = self.structure.parents[element]
        return element

    def _add_references(self, targets: Mapping[int, int]) -> None:
        """Let links refer to the elements to which they lead, and notes to the links that cite them
        (ISO 14289-2, 8.2.5.8 and 8.2.5.14).
        """
        referred = defaultdict[int, dict[int, None]](dict)
        for each in self._annotations:
            if each.widget is None and each.link in targets:
                target = self._find_present(targets[each.link])
                referred[each.element][target] = None
                if self.structure.roles[target] == "Note":
                    referred[target][each.element] = None
        for element, others in referred.items():
            references = b" ".join([b"%d 0 R" % self._numbers[other] for other in others])
            self._entries[element] += b"/Ref[%b]" % references

    def _add_namespace(self, namespace: int) -> None:
        """Put the document and its notes into the namespace of PDF 2.0, which is at an object number.

        All other elements are of types of PDF 1.7, whose namespace is the default (ISO 32000-2, 14.8.6).
        """
        self._entries[DOCUMENT] += b"/NS %d 0 R" % namespace
        for element in self._find_notes():
            self._entries[element] += b"/NS %d 0 R/A<</O/FENote/NoteType/Footnote>>" % namespace

    def _find_notes(self) -> Iterator[int]:
        return compress(count(), map("Note".__eq__, self.structure.roles))

    # --- the parent tree and IDs -----------------------------------------------------------------

    def _write_parent_tree(self, arrays: int) -> bytes:
        """Return the number tree from content streams, whose arrays start at an object number, and
        annotations to elements.
        """
        entries = [b"%d %d 0 R" % (each.key, arrays + each.key) for each in self._contents]
        entries += [
            b"%d %d 0 R" % (key, self._numbers[annotation.element])
            for key, annotation in enumerate(self._annotations, len(self._contents))
        ]
        return b"<</Nums[%b]>>" % b" ".join(entries)

    def _find_ids(self) -> list[tuple[bytes, int]]:
        """Return the IDs in the tree, sorted: of notes (ISO 14289-1, 7.9) and of head cells."""
        ids = {element: f"note{element:07d}" for element in self._find_notes()}
        for element, name in ids.items():
            self._entries[element] = b"/ID" + _write_id(name) + self._entries.get(element, b"")
        ids.update(self.structure.head_ids)
        return sorted(
            (_write_id(name), element) for element, name in ids.items() if self._numbers[element]
        )

    def _write_id_tree(self, ids: Sequence[tuple[bytes, int]], leaf: int) -> Iterator[bytes]:
        """Write the name tree of IDs: its root, then its leaf with the object number `leaf`."""
        names = [b"%b %d 0 R" % (written, self._numbers[element]) for written, element in ids]
        ends = b"%b %b" % (ids[0][0], ids[-1][0])
        yield b"<</Kids[%d 0 R]>>" % leaf
        yield b"<</Limits[%b]/Names[%b]>>" % (ends, b" ".join(names))

    def _find_additions(self, root: int, tree: int) -> dict[int, bytes]:
        """Return the entries of the root, of the pages and of annotations (14.7.2, 14.7.4.4)."""
        count = len(self._contents)
        additions = {
            root: b"/K %d 0 R /ParentTree %d 0 R /ParentTreeNextKey %d"
            % (self._numbers[DOCUMENT], tree, count + len(self._annotations))
        }
        for content in self._contents:
            if content.stream is None:
                entry = b"/StructParents %d /Tabs /S" % content.key
                additions[self._pages[content.page]] = entry
        for key, annotation in enumerate(self._annotations, count):
            additions[annotation.number] = b"/StructParent %d" % key
        return additions


def _write_array(numbers: Sequence[int]) -> bytes:
    """Return an array of references to objects, 0 for null."""
    return b"[%b]" % b" ".join([b"%d 0 R" % number if number else b"null" for number in numbers])


def _describe_field(field: FormField) -> bytes:
    """Return the attributes of a field that is filled by hand (ISO 32000-1, 14.8.5.6)."""
    role = {FieldKind.RADIO: b"rb", FieldKind.CHECKBOX: b"cb"}.get(field.kind, b"tv")
    checked = b"/checked/on" if field.is_checked else b"/checked/off"
    return b"<</O/PrintField/Role/%b%b>>" % (role, checked if field.kind.is_button else b"")


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
