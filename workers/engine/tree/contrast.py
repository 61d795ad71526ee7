"""The contrast of text with its background (WCAG 2.2, 1.4.3), where both colours are known before layout.

Not known is what lies under text on a picture, under a box that is placed by its position, or on
pages with boxes of their own. Headers and footers are artifacts, and not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final

from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation
from workers.engine.tree.document import Document, PageMaster
from workers.engine.tree.nodes import (
    Block,
    Break,
    CellTemplate,
    Container,
    Grid,
    ListBlock,
    ListItem,
    Note,
    Paragraph,
    Row,
    Table,
    TableBody,
    TextRun,
)
from workers.engine.tree.styles.computed import BoxStyle, TextStyle
from workers.engine.units import Color, ColorSpace, relative_luminance

_WHITE: Final = Color(ColorSpace.RGB, (1.0, 1.0, 1.0))
_LEAST: Final = 4.5
_LEAST_OF_LARGE: Final = 3.0
# 18 pt, or 14 pt in bold.
_LARGE: Final = 18.0
_LARGE_BOLD: Final = 14.0
_BOLD: Final = 700

_Placed = tuple[
    Block | ListItem, Color | None
]  # a block, and the colour behind it; None if it is unknown


def check_contrast(document: Document, findings: Findings) -> None:
    """Warn of text that differs too little from its background, once for each element."""
    if document.is_tagged:
        _ContrastChecker(document, findings).check()


def contrast_ratio(first: Color, second: Color) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    lighter, darker = sorted(map(relative_luminance, (first, second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


class _ContrastChecker:
    def __init__(self, document: Document, findings: Findings) -> None:
        self._document = document
        self._findings = findings
        self._papers: dict[str, Color | None] = {}
        self._results: dict[tuple[TextStyle, Color], float | None] = {}
        self._reported: set[SourceLocation] = set()

    def check(self) -> None:
        for flow in self._document.flows:
            self._check_blocks(
                (block, self._paper(_family_of(block) or flow.page)) for block in flow.blocks
            )
        notes = self._document.footnotes
        if notes is not None:
            families = {flow.page for flow in self._document.flows}
            paper = self._paper(families.pop()) if len(families) == 1 else None
            self._check_blocks(zip(notes.by_call.values(), repeat(paper)))

    def _check_blocks(self, placed: Iterable[_Placed]) -> None:
        waiting: list[Iterator[_Placed]] = [iter(placed)]
        while waiting:
            block, under = next(waiting[-1], (None, None))
            if block is None:
                waiting.pop()
            elif isinstance(block, Paragraph):
                self._check_paragraph(block, _on(block.style.box, under))
            elif isinstance(block, Container | Row | Grid | ListItem | Note):
                is_placed = isinstance(block, Container) and block.position is not None
                inside = _on(block.style.box, None if is_placed else under)
                waiting.append(zip(block.children, repeat(inside)))
            elif isinstance(block, ListBlock):
                waiting.append(zip(block.items, repeat(_on(block.style.box, under))))
            elif isinstance(block, Table):
                waiting.append(self._place_table(block, under))

    def _place_table(self, table: Table, under: Color | None) -> Iterator[_Placed]:
        for caption in table.captions:
            yield caption.block, under
        inside = _on(table.style.box, under)
        # The colours of stripes change from row to row.
        inside = None if any(table.stripe) else inside
        for body in table.bodies:
            yield from self._place_rows(body, _on(body.style.box, inside))

    def _place_rows(self, body: TableBody, under: Color | None) -> Iterator[_Placed]:
        last: object = None
        for row in body.rows:
            template = row.template
            on_row = _on(template.style.box, under)
            is_new = template is not last
            last = template
            for cell, content in zip(template.cells, row.cells, strict=False):
                if type(content) is not str:
                    yield from zip(content, repeat(_on(cell.style.box, on_row)))
                elif is_new and content.strip():
                    self._check_cell(cell, _on(cell.style.box, on_row))

    def _check_cell(self, cell: CellTemplate, under: Color | None) -> None:
        self._check_text(cell.style.text, under, cell.source.location)

    def _check_paragraph(self, paragraph: Paragraph, under: Color | None) -> None:
        for inline in paragraph.inlines:
            if isinstance(inline, TextRun) and inline.text.strip():
                self._check_text(inline.style, under, paragraph.source.location)

    def _check_text(self, text: TextStyle, under: Color | None, at: SourceLocation) -> None:
        ground = text.background or under
        if ground is None:
            return
        key = text, ground
        if key not in self._results:
            self._results[key] = _find_lack(text, ground)
        ratio = self._results[key]
        if ratio is None or at in self._reported:
            return
        self._reported.add(at)
        message = (
            f"The text has a contrast of {ratio:.1f} to 1 with its background; readers with low "
            f"vision need {_least_of(text):g} to 1 (WCAG 2.2, 1.4.3): choose a darker or lighter "
            "colour for one of them"
        )
        self._findings.add(Diagnostic(Severity.WARNING, "low-contrast", message, (at,)))

    def _paper(self, family: str) -> Color | None:
        """Return the colour of the pages of a family, None if they differ or have boxes on them."""
        if family not in self._papers:
            masters = [one for one in self._document.masters if one.name == family]
            colors = {_paper_of(one) for one in masters}
            self._papers[family] = colors.pop() if len(colors) == 1 else None
        return self._papers[family]


def _paper_of(master: PageMaster) -> Color | None:
    is_plain = (
        master.background_image is None
        and master.boxes is None
        and all(_on(area.style.box, _WHITE) == _WHITE for area in master.areas)
    )
    return (master.background or _WHITE) if is_plain else None


def _on(box: BoxStyle, under: Color | None) -> Color | None:
    """Return the colour that the content of a box stands on."""
    if box.background_image is not None or box.opacity < 1:
        return None
    return box.background or under


def _family_of(block: Block) -> str | None:
    return None if isinstance(block, Break) else block.style.breaks.page


def _least_of(text: TextStyle) -> float:
    is_large = text.size >= _LARGE or (text.size >= _LARGE_BOLD and text.weight >= _BOLD)
    return _LEAST_OF_LARGE if is_large else _LEAST


def _find_lack(text: TextStyle, ground: Color) -> float | None:
    """Return the contrast of a text if it is too low, None otherwise."""
    ratio = contrast_ratio(text.color, ground)
    # Rounded as it is reported: 4.46 is said to be 4.5.
    return ratio if round(ratio, 1) < _least_of(text) else None
