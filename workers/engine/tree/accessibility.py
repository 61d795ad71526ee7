"""Checks of a tagged document (ISO 14289-1, clause 7): title, headings, link texts, header cells,
and the contrast of text.

A finding is an error in a document that must conform to PDF/UA-1 or PDF/A-3a, otherwise a warning.
It is reported once for each element, however many loop iterations repeat it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, repeat
from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation
from workers.engine.tree import nodes
from workers.engine.tree.document import Document, Flow, PageMaster
from workers.engine.tree.styles.computed import BoxStyle, TextStyle
from workers.engine.units import WHITE, Color, relative_luminance

# Texts of links that tell nothing out of their sentence, and what may stand around them.
_VAGUE: Final = frozenset(
    text
    for texts in read_table(__package__, "vague_links.txt").values()
    for text in texts.split(", ")
)
_AROUND: Final = " .…:!>»›→←\u00a0"
_LEVELS: Final = {f"H{level}": level for level in range(1, 7)}
# A block, and the colour behind it; None if it is unknown.
_Placed = tuple[nodes.Block | nodes.ListItem, Color | None]


def check_accessibility(document: Document, findings: Findings, *, has_contrast: bool) -> None:
    """Report what a tagged document lacks; untagged documents are not checked.

    A missing title is reported for documents that ask for tags: readers announce the file's name.
    With `has_contrast` text that differs too little from its background is reported too.
    """
    if document.is_tagged:
        _AccessibilityChecker(document, findings, has_contrast=has_contrast).check()


class _AccessibilityChecker:
    """One pass over the blocks of a document, in reading order."""

    def __init__(self, document: Document, findings: Findings, *, has_contrast: bool) -> None:
        self.document = document
        self.contrast = ContrastChecker(document, findings)
        self.has_contrast = has_contrast
        self.findings = findings
        self.severity = Severity.ERROR if document.is_strict else Severity.WARNING
        self.level = 0  # of the heading before
        self.reported: set[tuple[str, SourceLocation]] = set()
        self.last_template: nodes.RowTemplate | None = None

    def check(self) -> None:
        if self.document.requires_tags and not self.document.info.title.strip():
            message = "The document has no title, which readers of tagged files announce first; give `document` a `title`"
            self._report("missing-title", message, None)
        for flow in self.document.flows:
            self._check_blocks(
                (block, self.contrast.find_paper(block, flow)) for block in flow.blocks
            )
        if self.document.footnotes is not None:
            notes = self.document.footnotes.by_call.values()
            self._check_blocks(zip(notes, repeat(self.contrast.find_paper_of_notes())))

    def _check_blocks(self, placed: Iterable[_Placed]) -> None:
        waiting: list[Iterator[_Placed]] = [iter(placed)]
        while waiting:
            block, under = next(waiting[-1], (None, None))
            if block is None:
                waiting.pop()
            elif isinstance(block, nodes.Paragraph):
                self._check_paragraph(block, color_on(block.style.box, under))
            elif isinstance(block, nodes.FormField):
                self._check_field(block)
            elif isinstance(block, nodes.Table):
                waiting.append(self._blocks_of(block, under))
            else:
                is_placed = isinstance(block, nodes.Container) and block.position is not None
                inside = color_on(block.style.box, None if is_placed else under)
                waiting.append(zip(nodes.child_blocks(block), repeat(inside)))

    def _blocks_of(self, table: nodes.Table, under: Color | None) -> Iterator[_Placed]:
        for caption in table.captions:
            yield caption.block, under
        # The colours of stripes change from row to row.
        inside = None if any(table.stripe) else color_on(table.style.box, under)
        for body in table.bodies:
            on_body = color_on(body.style.box, inside)
            for row in body.rows:
                template = row.template
                is_new = template is not self.last_template  # the rows of a loop share one
                if is_new:
                    self._check_row_template(template)
                elif template.is_text:
                    continue
                on_row = color_on(template.style.box, on_body)
                for cell, content in zip(template.cells, row.cells, strict=False):
                    if type(content) is not str:
                        yield from zip(content, repeat(color_on(cell.style.box, on_row)))
                    elif is_new and self.has_contrast and content.strip():
                        ground = color_on(cell.style.box, on_row)
                        self.contrast.check(cell.style.text, ground, cell.source.location)

    def _check_paragraph(self, paragraph: nodes.Paragraph, under: Color | None) -> None:
        level = _LEVELS.get(paragraph.role.value)
        if level is not None:
            self._check_heading(paragraph, level)
        has_links = False
        for inline in paragraph.inlines:
            if isinstance(inline, nodes.TextRun):
                has_links = has_links or inline.link is not None
                if self.has_contrast and inline.text.strip():
                    self.contrast.check(inline.style, under, paragraph.source.location)
            elif isinstance(inline, nodes.InlineBlock):
                has_links = has_links or inline.link is not None
                if isinstance(inline.block, nodes.FormField):
                    self._check_field(inline.block)
        if has_links:
            self._check_links(paragraph)

    def _check_links(self, paragraph: nodes.Paragraph) -> None:
        # The text of a link may be several runs, of which one is a space.
        for target, runs in groupby(paragraph.inlines, key=_target_of):
            if target is None:
                continue
            text = "".join(map(_text_of, runs)).strip()
            if not text:
                message = f'The link to "{target[:80]}" has no text that could be read aloud; say in words where it leads'
                self._report("link-text", message, paragraph.source.location)
            elif text.strip(_AROUND).casefold() in _VAGUE:
                # The sentence around it may say enough, which no program knows.
                self.findings.warn(
                    "link-text",
                    f'The link text "{text}" does not say where it leads, and screen readers list '
                    "links without the text around them (WCAG 2.2, 2.4.4); name the target",
                    paragraph.source.location,
                )

    def _check_field(self, field: nodes.FormField) -> None:
        if not field.label:
            self._report(
                "missing-label",
                f'The form field "{field.name}" has no `label`, which screen readers announce and '
                "viewers show as its tooltip",
                field.source.location,
            )

    def _check_heading(self, heading: nodes.Paragraph, level: int) -> None:
        if level > self.level + 1 and (self.level or self.document.is_strict):
            before = f"after an `h{self.level}`" if self.level else "as the first heading"
            self._report(
                "heading-level",
                f"An `h{level}` stands {before}; headings go down one level at a time, so that "
                f"readers find their way: use an `h{self.level + 1}`, and a `style` for its appearance",
                heading.source.location,
            )
        self.level = level

    def _check_row_template(self, template: nodes.RowTemplate) -> None:
        self.last_template = template
        if nodes.is_head_row(template):
            return
        for at, cell in enumerate(template.cells):
            if at and cell.role is nodes.Role.HEAD_CELL and not cell.scope:
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


def _target_of(inline: nodes.Inline) -> str | None:
    return inline.link if isinstance(inline, nodes.TextRun | nodes.InlineBlock) else None


def _text_of(inline: nodes.Inline) -> str:
    match inline:
        case nodes.TextRun():
            return inline.text
        case nodes.InlineBlock():
            return inline.alt
        case _:
            return ""


_LEAST: Final = 4.5
_LEAST_OF_LARGE: Final = 3.0
# 18 pt, or 14 pt in bold.
_LARGE: Final = 18.0
_LARGE_BOLD: Final = 14.0
_BOLD: Final = 700


def contrast_ratio(first: Color, second: Color) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    lighter, darker = sorted(map(relative_luminance, (first, second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


class ContrastChecker:
    """Warns of text that differs too little from its background, once for each element."""

    def __init__(self, document: Document, findings: Findings) -> None:
        self._document = document
        self._findings = findings
        self._papers: dict[str, Color | None] = {}
        self._results: dict[tuple[TextStyle, Color], float | None] = {}
        self._reported: set[SourceLocation] = set()

    def find_paper(self, block: nodes.Block, flow: Flow) -> Color | None:
        """Return the colour of the pages that a block of a flow is on, None if it is unknown."""
        return self._paper(block.style.breaks.page or flow.page)

    def find_paper_of_notes(self) -> Color | None:
        """Return the colour of the pages that footnotes are on, None if it is unknown."""
        families = {flow.page for flow in self._document.flows}
        return self._paper(families.pop()) if len(families) == 1 else None

    def check(self, text: TextStyle, under: Color | None, at: SourceLocation) -> None:
        """Check text that stands on a colour, None for one that is unknown."""
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
        and all(color_on(area.style.box, WHITE) == WHITE for area in master.areas)
    )
    return (master.background or WHITE) if is_plain else None


def color_on(box: BoxStyle, under: Color | None) -> Color | None:
    """Return the colour that the content of a box stands on."""
    if box.background_image is not None or box.opacity < 1:
        return None
    return box.background or under


def _least_of(text: TextStyle) -> float:
    is_large = text.size >= _LARGE or (text.size >= _LARGE_BOLD and text.weight >= _BOLD)
    return _LEAST_OF_LARGE if is_large else _LEAST


def _find_lack(text: TextStyle, ground: Color) -> float | None:
    """Return the contrast of a text if it is too low, None otherwise."""
    ratio = contrast_ratio(text.color, ground)
    # Rounded as it is reported: 4.46 is said to be 4.5.
    return ratio if round(ratio, 1) < _least_of(text) else None
