"""The Headers of irregular tables: which head cells head a cell (ISO 32000-1, 14.8.5.7, table 349).

A table is irregular where scopes and spans do not say it: with a group row, with head cells between
the cells of a row, or with another head row below other rows. Head cells are found as in HTML
(section 4.9.12.1), but a group row ends at the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.engine.layout.structure import TABLE_ORDER, CellAttributes, LogicalStructure
from workers.engine.tree.nodes import Role, RowTemplate, is_head_row

# A cell with attributes of its own leaves the runs of a long table.
MAX_CELLS: Final = 2000  # of a table with Headers, each counted as often as it spans
MAX_NAMED: Final = 20_000  # heads that the cells of a table name together


def add_headers(structure: LogicalStructure) -> None:
    """Add Headers to the cells of irregular tables, and IDs to the head cells of these."""
    for table in sorted(structure.doubtful_tables):
        rows = _read_rows(structure, table)
        if rows is not None:
            _Headers(structure, rows).add()
    structure.doubtful_tables.clear()


@dataclass(slots=True, eq=False)
class _Cell:
    """A cell, and the elements of the cells that head it."""

    element: int
    is_head: bool
    attributes: CellAttributes
    place: tuple[int, int] = (0, 0)  # its first column, and the column after its last
    rest: int = 1  # rows that it spans from the current one on
    block: int = 0  # of a head of columns: the same for head rows that follow one another
    groups: tuple[int, ...] = ()
    columns: dict[int, None] = field(default_factory=dict)
    rows: dict[int, None] = field(default_factory=dict)

    @property
    def heads_column(self) -> bool:
        """Whether it is a head of the cells below."""
        return self.attributes.scope in ("Column", "Both")

    @property
    def heads_row(self) -> bool:
        """Whether it is a head of the cells after it."""
        return self.attributes.scope in ("Row", "Both")

    @property
    def headers(self) -> list[int]:
        """The elements of its heads, from the general to the particular."""
        return [*self.groups, *sorted(self.columns), *self.rows]


@dataclass(slots=True, eq=False)
class _Row:
    section: int
    role: str
    template: RowTemplate
    cells: Sequence[_Cell]


def _read_rows(structure: LogicalStructure, table: int) -> list[_Row] | None:
    """Return the rows of a table in document order, None for one that is too large."""
    rows: list[_Row] = []
    room = MAX_CELLS
    sections = structure.sections[table]
    for section in sorted(sections, key=lambda each: TABLE_ORDER[structure.roles[each]]):
        for element in structure.rows[section]:
            template = structure.nodes[element]
            assert isinstance(template, RowTemplate)
            room -= sum(cell.colspan * cell.rowspan for cell in template.cells)
            if room < 0:
                return None
            cells = [
                _Cell(
                    cell,
                    structure.roles[cell] == "TH",
                    structure.shapes.get(cell) or CellAttributes(1, 1, ""),
                )
                for cell in structure.cells[element]
            ]
            rows.append(_Row(section, structure.roles[section], template, cells))
    return rows


class _Headers:
    """Finds the heads of the cells of one table, row by row."""

    def __init__(self, structure: LogicalStructure, rows: Sequence[_Row]) -> None:
        self.structure = structure
        self.rows = rows
        self.is_irregular = False
        self.has_data = False  # above the current row, outside the head of the table
        self.block = 0
        self.group: _Cell | None = None
        self.above: list[_Cell] = []  # cells that span into the current row
        # The heads of each column: at the current row, and at the start of each section.
        self.heads: dict[int, list[_Cell]] = {}
        self.first_heads: dict[int, list[_Cell]] = {}

    def add(self) -> None:
        """Find the heads, and add them to the attributes if the table is irregular."""
        section, named = -1, 0
        for row in self.rows:
            if row.section != section:
                section, self.group, self.above = row.section, None, []
                self.heads = {column: [*heads] for column, heads in self.first_heads.items()}
            self._read_row(row)
            named += sum(len(cell.columns) + len(cell.rows) + 1 for cell in row.cells)
            if named > MAX_NAMED:
                return
        if self.is_irregular:
            self._write()

    def _write(self) -> None:
        structure = self.structure
        cells = [cell for row in self.rows for cell in row.cells]
        ids = {cell.element: f"th{cell.element:07d}" for cell in cells if cell.is_head}
        structure.head_ids.update(ids)
        for cell in cells:
            if headers := cell.headers:
                names = tuple([ids[head] for head in headers])
                structure.shapes[cell.element] = cell.attributes._replace(headers=names)

    def _read_row(self, row: _Row) -> None:
        for cell, column in zip(row.cells, row.template.columns, strict=True):
            cell.place = column, column + cell.attributes.colspan
            cell.rest = cell.attributes.rowspan
        if self._is_group_row(row):
            self.is_irregular = True
            self.group = row.cells[0]
            self.block += 1
        else:
            for cell in row.cells:
                self._add_columns(cell)
            covering = sorted([*self.above, *row.cells], key=lambda cell: cell.place)
            self._add_rows(covering, row.cells)
            self._add_heads(row)
        self.above = [*self._spanning([*self.above, *row.cells])]
        if row.role != Role.TABLE_HEAD and not all(cell.is_head for cell in row.cells):
            self.has_data = True
            self.block += 1

    def _spanning(self, cells: Sequence[_Cell]) -> Iterator[_Cell]:
        for cell in cells:
            if cell.rest > 1:
                cell.rest -= 1
                yield cell

    def _is_group_row(self, row: _Row) -> bool:
        """Return whether a row is one head cell over all columns, for the rows below it."""
        return (
            row.role == Role.TABLE_BODY
            and len(row.cells) == 1
            and row.cells[0].is_head
            and not self.above
            and row.template.cells[0].scope != "row"
        )

    def _add_columns(self, cell: _Cell) -> None:
        """Add the heads of the columns of a cell; a head of columns has only wider ones."""
        own = cell.attributes.colspan if cell.heads_column else 0
        if self.group is not None:
            cell.groups = (self.group.element,)
        for column in range(*cell.place):
            for head in self.heads.get(column, ()):
                if head.attributes.colspan > own:
                    cell.columns[head.element] = None

    def _add_rows(self, covering: Sequence[_Cell], own: Sequence[_Cell]) -> None:
        """Add the heads of a row to its cells, and to those that span into it.

        A head cell after data ends those of the same rows before the data.
        """
        before: list[_Cell] = []
        block: list[_Cell] = []  # not yet followed by data
        has_data = False
        for cell in covering:
            if cell.heads_row:
                if has_data and cell in own:
                    self.is_irregular = True
                before = [head for head in before if not _has_same_rows(head, cell)]
                span = cell.attributes.rowspan
                heads = [head for head in (*before, *block) if head.attributes.rowspan > span]
                block.append(cell)
            else:
                heads = [*before, *block]
                if not cell.is_head:
                    has_data = True
                    before, block = heads, []
            cell.rows.update(dict.fromkeys([head.element for head in heads]))

    def _add_heads(self, row: _Row) -> None:
        """Add the heads of columns in a row; below other rows, they end those of the same columns."""
        if row.role == Role.TABLE_BODY and self.has_data and is_head_row(row.template):
            self.is_irregular = True
        for cell in row.cells:
            if not cell.heads_column:
                continue
            cell.block = self.block
            for column in range(*cell.place):
                heads = self.heads.get(column, [])
                kept = [
                    head for head in heads if head.place != cell.place or head.block == cell.block
                ]
                self.heads[column] = [*kept, cell]
        # A table without a head has that of its first rows.
        if not self.has_data and self.group is None:
            self.first_heads = {column: [*heads] for column, heads in self.heads.items()}


def _has_same_rows(head: _Cell, other: _Cell) -> bool:
    return (head.attributes.rowspan, head.rest) == (other.attributes.rowspan, other.rest)
