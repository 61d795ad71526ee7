"""Checks of a tagged document (ISO 14289-1, clause 7): title, headings, link texts, header cells.

A finding is an error in a document that must conform to PDF/UA-1 or PDF/A-3a, otherwise a warning.
It is reported once for each element, however many loop iterations repeat it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from workers.engine.data_tables import read_table
from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation
from workers.engine.tree.document import Document
from workers.engine.tree.nodes import (
    CellTemplate,
    Container,
    FormField,
    Grid,
    Inline,
    InlineBlock,
    ListBlock,
    ListItem,
    Note,
    Paragraph,
    Role,
    Row,
    RowTemplate,
    Table,
    TextRun,
    is_head_row,
)

# Texts of links that tell nothing out of their sentence, and what may stand around them.
_VAGUE: Final = frozenset(
    text
    for texts in read_table(__package__, "vague_links.txt").values()
    for text in texts.split(", ")
)
_AROUND: Final = " .…:!>»›→←\u00a0"
_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
_PARENTS: Final = (Container, Row, Grid, ListItem, Note)  # of blocks: a union is built at each use


def check_accessibility(document: Document, findings: Findings) -> None:
    """Report what a tagged document lacks; untagged documents are not checked.

    A missing title is reported for documents that ask for tags: readers announce the file's name.
    """
    if document.is_tagged:
        _AccessibilityChecker(document, findings).check()


class _AccessibilityChecker:
    """One pass over the blocks of a document, in reading order."""

    def __init__(self, document: Document, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        self.severity = Severity.ERROR if document.is_strict else Severity.WARNING
        self.level = 0  # of the heading before
        self.reported: set[tuple[str, SourceLocation]] = set()
        self.last_template: RowTemplate | None = None

    def check(self) -> None:
        if self.document.requires_tags and not self.document.info.title.strip():
            self._report(
                "missing-title",
                "The document has no title, which readers of tagged files announce first; give "
                "`document` a `title`",
                None,
            )
        for flow in self.document.flows:
            self._check_blocks(flow.blocks)
        if self.document.footnotes is not None:
            self._check_blocks(self.document.footnotes.by_call.values())

    def _check_blocks(self, blocks: Iterable[Any]) -> None:
        waiting: list[Iterator[Any]] = [iter(blocks)]
        while waiting:
            block = next(waiting[-1], None)
            if block is None:
                waiting.pop()
            elif isinstance(block, Paragraph):
                self._check_paragraph(block)
            elif isinstance(block, FormField):
                self._check_field(block)
            elif isinstance(block, _PARENTS):
                waiting.append(iter(block.children))
            elif isinstance(block, ListBlock):
                waiting.append(iter(block.items))
            elif isinstance(block, Table):
                waiting.append(self._blocks_of(block))

    def _blocks_of(self, table: Table) -> Iterator[Any]:
        for caption in table.captions:
            yield caption.block
        for body in table.bodies:
            for row in body.rows:
                template = row.template
                if template is not self.last_template:  # the rows of a loop share one
                    self._check_row_template(template)
                if not template.is_text:
                    for content in row.cells:
                        if type(content) is not str:
                            yield from content

    def _check_paragraph(self, paragraph: Paragraph) -> None:
        level = _LEVELS.get(paragraph.role.value)
        if level is not None:
            self._check_heading(paragraph, level)
        has_links = False
        for inline in paragraph.inlines:
            if isinstance(inline, TextRun):
                has_links = has_links or inline.link is not None
            elif isinstance(inline, InlineBlock):
                has_links = has_links or inline.link is not None
                if isinstance(inline.block, FormField):
                    self._check_field(inline.block)
        if has_links:
            self._check_links(paragraph)

    def _check_links(self, paragraph: Paragraph) -> None:
        # The text of a link may be several runs, of which one is a space.
        for target, runs in groupby(paragraph.inlines, key=_target_of):
            if target is None:
                continue
            text = "".join(map(_text_of, runs)).strip()
            if not text:
                self._report(
                    "link-text",
                    f'The link to "{target[:80]}" has no text that could be read aloud; say in '
                    "words where it leads",
                    paragraph.source.location,
                )
            elif text.strip(_AROUND).casefold() in _VAGUE:
                # The sentence around it may say enough, which no program knows.
                self.findings.warn(
                    "link-text",
                    f'The link text "{text}" does not say where it leads, and screen readers list '
                    "links without the text around them (WCAG 2.2, 2.4.4); name the target",
                    paragraph.source.location,
                )

    def _check_field(self, field: FormField) -> None:
        if not field.label:
            self._report(
                "missing-label",
                f'The form field "{field.name}" has no `label`, which screen readers announce and '
                "viewers show as its tooltip",
                field.source.location,
            )

    def _check_heading(self, heading: Paragraph, level: int) -> None:
        # In other documents the checks of the text warn of it.
        if level > self.level + 1 and self.document.is_strict:
            before = f"after an `h{self.level}`" if self.level else "as the first heading"
            self._report(
                "heading-level",
                f"An `h{level}` stands {before}; headings go down one level at a time, so that "
                f"readers find their way: use an `h{self.level + 1}`, and a `style` for its appearance",
                heading.source.location,
            )
        self.level = level

    def _check_row_template(self, template: RowTemplate) -> None:
        self.last_template = template
        if is_head_row(template):
            return
        for at, cell in enumerate(template.cells):
            if at and _is_unclear(cell):
                self._report(
                    "missing-scope",
                    "It is not clear which cells this `th` heads: it is in the body of a table, "
                    "among `td`, and is not the first cell of its row; give it `scope`: "
                    '"row", "column" or "both"',
                    cell.source.location,
                )

    def _report(self, code: str, message: str, location: SourceLocation | None) -> None:
        if location is not None:
            if (code, location) in self.reported:
                return
            self.reported.add((code, location))
        locations = () if location is None else (location,)
        self.findings.add(Diagnostic(self.severity, code, message, locations))


def _is_unclear(cell: CellTemplate) -> bool:
    return cell.role is Role.HEAD_CELL and not cell.scope


def _target_of(inline: Inline) -> str | None:
    return inline.link if isinstance(inline, TextRun | InlineBlock) else None


def _text_of(inline: Inline) -> str:
    match inline:
        case TextRun():
            return inline.text
        case InlineBlock():
            return inline.alt
        case _:
            return ""
