"""The structure tree of a tagged document (ISO 32000-1, 14.7 and 14.8), built while its pages are
drawn.

An element is a number, which is the owner of its items; an item without one is an artifact. The
properties of elements are parallel lists, since a table of 5,000 rows has 35,000 elements. Elements
are created in drawing order, which is document order. A block that is fragmented over columns or
pages is one element.

The cells of an irregular table name the head cells that head them (14.8.5.7, table 349). A table is
irregular where scopes and spans do not say it: with a group row, with head cells between the cells
of a row, or with another head row below other rows. Head cells are found as in HTML (section
4.9.12.1), but a group row ends at the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from workers.engine.tree.nodes import (
    Block,
    CellTemplate,
    FormField,
    ListBlock,
    ListItem,
    Paragraph,
    Role,
    RowTemplate,
    SourceNode,
    TableRow,
    is_head_row,
)

DOCUMENT: Final = 0  # the root element

# The elements of a block, from the outside to the inside, by its role.
_ELEMENTS: Final[dict[Role, tuple[str, ...]]] = {
    **{role: (role.value,) for role in Role},
    # Code is inline in PDF 1.7, and an entry of contents holds a Reference with a Link.
    Role.CODE: ("P", "Code"),
    Role.CONTENTS_ENTRY: ("TOCI", "Reference", "Link"),
    # Their content has structure types of its own, is an artifact, or adds its element as it is drawn.
    **dict.fromkeys((Role.DIV, Role.SECT, Role.ARTIFACT, Role.FIGURE, Role.FORM), ()),
}
# The children of a table, in the order of its structure.
TABLE_ORDER: Final = {"Caption": 0, "THead": 1, "TBody": 2, "TFoot": 3}
_SCOPES: Final = {"row": "Row", "column": "Column", "both": "Both"}


class CellAttributes(NamedTuple):
    """The attributes of a cell: its spans, its scope if it is a head cell, and the IDs of its heads."""

    colspan: int = 1
    rowspan: int = 1
    scope: str = ""  # Row, Column, Both, or empty
    headers: tuple[str, ...] = ()  # in irregular tables only


class LogicalStructure:
    """The structure elements of one document, by number; parents precede their children."""

    def __init__(self, lang: str, flows: Sequence[str]) -> None:
        self.lang = lang
        self.roles: list[str] = ["Document"]
        self.parents: list[int] = [DOCUMENT]
        self.nodes: list[SourceNode | None] = [None]
        # Rows and cells are in the tree even if they are empty, other elements only if they are
        # drawn.
        self.sections: dict[int, list[int]] = {}  # of tables: head, bodies and feet
        self.rows: dict[int, list[int]] = {}  # of sections
        self.cells: dict[int, range] = {}  # of rows
        self.shapes: dict[int, CellAttributes] = {}
        self.head_ids: dict[int, str] = {}  # of the head cells of irregular tables
        self.doubtful_tables: set[int] = set()  # with head cells outside their head
        self.langs: dict[int, str] = {}
        self.alts: dict[int, str] = {}
        self.actuals: dict[int, str] = {}
        self.boxes: dict[int, tuple[float, float, float, float]] = {}
        self.numberings: dict[int, str] = {}  # of lists
        self.texts: dict[int, list[str]] = {}  # of links
        self.current = DOCUMENT
        self._open: list[int] = []
        self._known: dict[tuple[SourceNode, str], int] = {}
        self._row_cells: dict[TableRow, range] = {}
        self._links: dict[int, tuple[str, int]] = {}  # the last of each paragraph: target, element
        self._spans: dict[int, tuple[str, int]] = {}
        self._effective: dict[int, str] = {DOCUMENT: lang}
        self._parts = {name: self.add("Part", DOCUMENT, None) for name in flows}

    def add(self, role: str, parent: int, node: SourceNode | None) -> int:
        """Add an element and return its number."""
        self.roles.append(role)
        self.parents.append(parent)
        self.nodes.append(node)
        return len(self.roles) - 1

    # --- blocks ----------------------------------------------------------------------------------

    def enter_flow(self, name: str) -> None:
        """Enter the Part of a flow, the parent of elements created until `leave`."""
        self.go_into(self._parts.get(name, DOCUMENT))

    def enter(self, node: Block | ListItem) -> None:
        """Enter the element of a block, or stay where the block has none."""
        elements, element = _ELEMENTS[node.role], self.current
        if isinstance(node, Paragraph) and _is_index_entry(node):
            elements = ("P",)  # TOCI is for contents only
        for role in elements:
            element = self._find(node, role, element)
        if isinstance(node, Paragraph):
            self._set_lang(element, node.style.text.lang)
        elif isinstance(node, ListBlock):
            self.numberings[element] = node.numbering
        self.go_into(element)

    def enter_part(self, node: SourceNode, role: str) -> None:
        """Enter an additional element of a node, such as the label of a list item."""
        self.go_into(self._find(node, role, self.current))

    def go_into(self, element: int) -> None:
        """Enter an element by its number, such as a cell of a row."""
        self._open.append(self.current)
        self.current = element

    def leave(self) -> None:
        """Return to the element that was current before the last `enter`."""
        self.current = self._open.pop()

    def _find(self, node: SourceNode, role: str, parent: int) -> int:
        """Return the element of a node with a role; it is added to `parent` if it is new."""
        known = self._known.get((node, role))
        if known is None:
            known = self._known[node, role] = self.add(role, parent, node)
        return known

    def _set_lang(self, element: int, lang: str) -> None:
        if lang and lang != self.lang_of(element):
            self.langs[element] = self._effective[element] = lang

    def lang_of(self, element: int) -> str:
        """Return the effective language of an element."""
        known = self._effective.get(element)
        if known is None:  # languages are set before their content is added
            known = self._effective[element] = self.lang_of(self.parents[element])
        return known

    # --- inline content --------------------------------------------------------------------

    def owner_of(self, base: int, link: str | None, lang: str) -> int:
        """Return the element of a text in the paragraph `base`: the paragraph, a Link, or a Span.

        Consecutive texts of one target or language share an element.
        """
        element = base
        if link is not None:
            element = self._find_link(base, link)
        elif base in self._links:
            del self._links[base]
        if not lang or lang == (self._effective.get(element) or self.lang_of(element)):
            if element in self._spans:
                del self._spans[element]
            return element
        known = self._spans.get(element)
        if known is None or known[0] != lang:
            span = self.add("Span", element, self.nodes[base])
            self._set_lang(span, lang)
            known = self._spans[element] = (lang, span)
        return known[1]

    def add_actual_text(self, element: int, text: str) -> int:
        """Add a Span whose glyphs represent another text, and return it (ISO 32000-1, 14.9.4)."""
        span = self.add("Span", element, self.nodes[element])
        self.actuals[span] = text
        return span

    def link_of(self, element: int) -> int:
        """Return the Link that is or contains an element."""
        while self.roles[element] != "Link" and element != DOCUMENT:
            element = self.parents[element]
        return element

    def add_lone_link(self) -> int:
        """Add a Link without text, for a link in a header or footer."""
        return self.add("Link", self.add("P", DOCUMENT, None), None)

    def _find_link(self, base: int, target: str) -> int:
        known = self._links.get(base)
        if known is None or known[0] != target:
            holder = base
            if target.startswith("#"):
                holder = self.add("Reference", base, self.nodes[base])
            link = self.add("Link", holder, self.nodes[base])
            known = self._links[base] = (target, link)
        return known[1]

    # --- figures ---------------------------------------------------------------------------------

    def add_figure(self, node: SourceNode, alt: str, box: tuple[float, float, float, float]) -> int:
        """Return the Figure of a node with the bounding box left, bottom, right, top on the sheet."""
        figure = self._find(node, "Figure", self.current)
        self.alts.setdefault(figure, alt)
        self.boxes.setdefault(figure, box)
        return figure

    def add_data_table(self, node: SourceNode, rows: Sequence[Sequence[str]]) -> list[int]:
        """Add the data of a figure as a table after it, and return its cells with text.

        The first row and the first column are heads. The text is not drawn.
        """
        filled: list[int] = []
        if (node, "Table") in self._known or not rows:
            return filled
        table = self._find(node, "Table", self.current)
        sections = [self._find_section(node, role, table) for role in ("THead", "TBody")]
        for number, texts in enumerate(rows):
            section = sections[min(number, 1)]
            row = self.add("TR", section, node)
            self.rows[section].append(row)
            self.cells[row] = range(row + 1, row + 1 + len(texts))
            for at, text in enumerate(texts):
                is_head = not number or not at
                cell = self.add("TH" if is_head else "TD", row, node)
                if is_head:
                    scope = "Row" if number else "Column"
                    self.shapes[cell] = CellAttributes(1, 1, scope)
                if text:
                    self.actuals[cell] = text
                    filled.append(cell)
        return filled

    # --- forms -----------------------------------------------------------------------------------

    def add_field(
        self, node: FormField, box: tuple[float, float, float, float] | None = None
    ) -> int:
        """Return the Form of a field; one that is not interactive has a bounding box on the sheet.

        The other contains its widget only (ISO 32000-1, 14.8.4.5).
        """
        form = self._find(node, "Form", self.current)
        self._set_lang(form, node.style.text.lang)
        if node.label:
            self.alts[form] = node.label
        if box is not None:
            self.boxes.setdefault(form, box)
        return form

    # --- tables ----------------------------------------------------------------------------------

    def cells_of(
        self, section: SourceNode, role: Role, rows: Sequence[TableRow]
    ) -> Sequence[range]:
        """Return the cell elements of rows of one template of the entered table, in order.

        `section` is the head, body or foot of the rows, `role` its structure type. The heads of a
        table are one element, and so are its feet.
        """
        known = self._row_cells
        if any(map(known.__contains__, rows)):  # a row that is split over pages
            return [known.get(row) or self._add_rows(section, role, [row])[0] for row in rows]
        return self._add_rows(section, role, rows)

    def cells_in(self, row: TableRow) -> range:
        """Return the cell elements of a row that is already in the tree."""
        return self._row_cells[row]

    def _add_rows(
        self, section: SourceNode, role: Role, rows: Sequence[TableRow]
    ) -> Sequence[range]:
        if role is not Role.TABLE_BODY:
            section = self.nodes[self.current] or section
        holder = self._find_section(section, role, self.current)
        template, first, count = rows[0].template, len(self.roles), len(rows)
        roles = ["TH" if cell.role is Role.HEAD_CELL else "TD" for cell in template.cells]
        if role is not Role.TABLE_HEAD and "TH" in roles:
            self.doubtful_tables.add(self.parents[holder])
        width = len(roles) + 1  # the row and its cells
        elements = range(first, first + count * width, width)
        self.roles += ["TR", *roles] * count
        self.nodes += [template, *template.cells] * count
        parents = [holder] * (count * width)
        for at in range(1, width):
            parents[at::width] = elements
        self.parents += parents
        heads_columns = role is Role.TABLE_HEAD or is_head_row(template)
        for at, cell in enumerate(template.cells, first + 1):
            column, lang = range(at, elements.stop, width), cell.style.text.lang
            shape = _attributes_of(cell, heads_columns=heads_columns)
            if shape != _PLAIN:
                self.shapes.update(dict.fromkeys(column, shape))
            if lang != self.lang:
                for element in column:
                    self._set_lang(element, lang)
        self.rows[holder] += elements
        cells = [range(element + 1, element + width) for element in elements]
        self.cells.update(zip(elements, cells, strict=True))
        self._row_cells.update(zip(rows, cells, strict=True))
        return cells

    def complete_tables(self) -> None:
        """Make the rows of a table without body rows its body, which PDF/UA asks of every table that
        has a head or foot.
        """
        for sections in self.sections.values():
            if all(self.roles[each] != Role.TABLE_BODY for each in sections):
                self.roles[sections[-1]] = Role.TABLE_BODY.value

    def _find_section(self, section: SourceNode, role: str, table: int) -> int:
        element = self._find(section, role, table)
        if element not in self.rows:
            self.rows[element] = []
            self.sections.setdefault(table, []).append(element)
        return element


def _is_index_entry(paragraph: Paragraph) -> bool:
    extra = paragraph.extra
    return paragraph.role is Role.CONTENTS_ENTRY and (extra is None or extra.leader is None)


def _attributes_of(cell: CellTemplate, *, heads_columns: bool) -> CellAttributes:
    scope = ""
    if cell.role is Role.HEAD_CELL:
        scope = _SCOPES.get(cell.scope) or ("Column" if heads_columns else "Row")
    return CellAttributes(cell.colspan, cell.rowspan, scope)


# A cell with attributes of its own leaves the runs of a long table.
MAX_CELLS: Final = 2000  # of a table with Headers, each counted as often as it spans
MAX_NAMED: Final = 20_000  # heads that the cells of a table name together
_PLAIN: Final = CellAttributes()
_OF_COLUMNS: Final = frozenset({"Column", "Both"})
_OF_ROWS: Final = frozenset({"Row", "Both"})


def add_headers(structure: LogicalStructure) -> None:
    """Add Headers to the cells of irregular tables, and IDs to the head cells of these."""
    for table in sorted(structure.doubtful_tables):
        _Headers(structure).add(table)
    structure.doubtful_tables.clear()


@dataclass(slots=True, eq=False)
class _Cell:
    """A cell, its place in the table, and the elements of the cells that head it."""

    element: int
    template: CellTemplate
    scope: str
    columns: range
    top: int  # the number of its first row
    block: int = 0  # of a head of columns: the same for head rows that follow one another
    groups: tuple[int, ...] = ()
    column_heads: dict[int, None] = field(default_factory=dict)
    row_heads: dict[int, None] = field(default_factory=dict)

    @property
    def is_head(self) -> bool:
        """Whether it is a `TH`."""
        return self.template.role is Role.HEAD_CELL

    @property
    def rows(self) -> range:
        """The numbers of the rows that it covers."""
        return range(self.top, self.top + self.template.rowspan)


class _Headers:
    """Finds the heads of the cells of one table, row by row."""

    def __init__(self, structure: LogicalStructure) -> None:
        self.structure = structure
        self.cells: list[_Cell] = []
        self.is_irregular = False
        self.has_data = False  # above the current row, outside the head of the table
        self.row = self.block = 0
        self.group: _Cell | None = None
        self.above: list[_Cell] = []  # cells that span into the current row
        # The heads of each column: at the current row, and at the start of each section.
        self.heads: dict[int, list[_Cell]] = {}
        self.first_heads: dict[int, list[_Cell]] = {}

    def add(self, table: int) -> None:
        """Find the heads, and add them to the attributes if the table is irregular and not too large."""
        structure, slots, named = self.structure, 0, 0
        for section in sorted(
            structure.sections[table], key=lambda at: TABLE_ORDER[structure.roles[at]]
        ):
            self.group, self.above, self.heads = None, [], {**self.first_heads}
            for element in structure.rows[section]:
                cells = self._read_cells(element)
                slots += sum(len(cell.columns) * len(cell.rows) for cell in cells)
                if slots > MAX_CELLS or named > MAX_NAMED:
                    return
                self._read_row(structure.roles[section], cells)
                named += sum(len(cell.column_heads) + len(cell.row_heads) + 1 for cell in cells)
        if self.is_irregular and named <= MAX_NAMED:
            self._write()

    def _read_cells(self, row: int) -> list[_Cell]:
        structure, template = self.structure, self.structure.nodes[row]
        assert isinstance(template, RowTemplate)
        cells = [
            _Cell(
                *(element, cell, structure.shapes.get(element, _PLAIN).scope),
                *(range(column, column + cell.colspan), self.row),
            )
            for element, cell, column in zip(
                structure.cells[row], template.cells, template.columns, strict=True
            )
        ]
        self.cells += cells
        return cells

    def _read_row(self, role: str, cells: Sequence[_Cell]) -> None:
        is_in_body = role == Role.TABLE_BODY
        has_heads_only = all(cell.is_head for cell in cells)
        covering = sorted([*self.above, *cells], key=lambda cell: cell.columns.start)
        # One head cell over all columns heads the rows below it.
        is_alone = len(covering) == len(cells) == 1
        if is_in_body and has_heads_only and is_alone and cells[0].template.scope != "row":
            self.is_irregular = True
            self.group = cells[0]
            self.block += 1
        else:
            self._find_column_heads(cells)
            self._find_row_heads(covering)
            if is_in_body and self.has_data and has_heads_only and len(cells) > 1:
                self.is_irregular = True
            self._add_column_heads(cells)
        self.row += 1
        self.above = [cell for cell in covering if self.row in cell.rows]
        if role != Role.TABLE_HEAD and not has_heads_only:
            self.has_data = True
            self.block += 1

    def _find_column_heads(self, cells: Sequence[_Cell]) -> None:
        """Add the heads of their columns to cells; a head of columns has only wider ones."""
        for cell in cells:
            own = len(cell.columns) if cell.scope in _OF_COLUMNS else 0
            cell.groups = () if self.group is None else (self.group.element,)
            for head in chain.from_iterable(self.heads.get(at, ()) for at in cell.columns):
                if len(head.columns) > own:
                    cell.column_heads[head.element] = None

    def _find_row_heads(self, covering: Sequence[_Cell]) -> None:
        """Add the heads of a row to its cells, and to those that span into it.

        A head cell after data ends those of the same rows before the data.
        """
        before: list[_Cell] = []
        block: list[_Cell] = []  # not yet followed by data
        has_data = False
        for cell in covering:
            if cell.scope in _OF_ROWS:
                if has_data and cell.top == self.row:
                    self.is_irregular = True
                before = [head for head in before if head.rows != cell.rows]
                heads = [head for head in (*before, *block) if len(head.rows) > len(cell.rows)]
                block.append(cell)
            else:
                heads = [*before, *block]
                if not cell.is_head:
                    has_data = True
                    before, block = heads, []
            cell.row_heads.update(dict.fromkeys([head.element for head in heads]))

    def _add_column_heads(self, cells: Sequence[_Cell]) -> None:
        """Add the heads of columns in a row; below other rows, they end those of the same columns."""
        for cell in cells:
            if cell.scope not in _OF_COLUMNS:
                continue
            cell.block = self.block
            for column in cell.columns:
                heads = self.heads.get(column, ())
                kept = [
                    head
                    for head in heads
                    if head.columns != cell.columns or head.block == cell.block
                ]
                self.heads[column] = [*kept, cell]
        # A table without a head has that of its first rows.
        if not self.has_data and self.group is None:
            self.first_heads = {**self.heads}

    def _write(self) -> None:
        shapes = self.structure.shapes
        ids = {cell.element: f"th{cell.element:07d}" for cell in self.cells if cell.is_head}
        self.structure.head_ids.update(ids)
        for cell in self.cells:
            heads = (*cell.groups, *sorted(cell.column_heads), *cell.row_heads)
            if heads:
                shape = shapes.get(cell.element, _PLAIN)
                shapes[cell.element] = shape._replace(headers=tuple([ids[head] for head in heads]))
