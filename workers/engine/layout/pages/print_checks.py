"""What a print shop would ask about: coarse images, hairlines, and text too small to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.display import (
    GlyphRun,
    LaidOutDocument,
    LaidOutPage,
    Path,
    Picture,
    ShapedRun,
    SingleItem,
    Stroke,
    StrokedRectangle,
    single_items,
)
from workers.engine.prepared_images import PreparedImage

# The least that offset and laser printers reproduce: the Ghent Workgroup's sheets warn of the same.
MIN_DPI: Final = 150
MIN_LINE: Final = 0.25
MIN_TEXT: Final = 5.0
_TOLERANCE: Final = 0.01


def with_print_checks(laid_out: LaidOutDocument, findings: Findings) -> LaidOutDocument:
    """Return a document whose pages are checked as they are read."""
    pages = _PrintedPages(laid_out, findings)
    return LaidOutDocument(pages, laid_out.outline, laid_out.structure)


@dataclass(frozen=True, slots=True)
class _PrintedPages:
    """The pages of a document; each element is reported once for each fault."""

    laid_out: LaidOutDocument
    findings: Findings

    def __len__(self) -> int:
        return len(self.laid_out.pages)

    def __iter__(self) -> Iterator[LaidOutPage]:
        reported: set[tuple[str, SourceLocation | None]] = set()
        for number, page in enumerate(self.laid_out.pages, 1):
            for item in single_items(page.items):
                fault = _find_fault(item)
                if fault is None:
                    continue
                code, message = fault
                place = self._find_place(item)
                if (code, place) not in reported:
                    reported.add((code, place))
                    places = () if place is None else (place,)
                    self.findings.warn(code, f"{message} (page {number})", *places)
            yield page

    def _find_place(self, item: SingleItem) -> SourceLocation | None:
        """Return the location of an item, None for running content."""
        owner = item.node if isinstance(item, Picture) else getattr(item, "owner", None)
        if isinstance(owner, int):
            owner = (
                None if self.laid_out.structure is None else self.laid_out.structure.nodes[owner]
            )
        return None if owner is None or owner.source is None else owner.source.location


def _find_fault(item: SingleItem) -> tuple[str, str] | None:
    """Return the code and message of what is wrong with an item, None if nothing is."""
    match item:
        case GlyphRun() | ShapedRun() if item.size < MIN_TEXT - _TOLERANCE:
            return (
                "print-text",
                f"Text of {item.size:.1f} pt; print asks for {MIN_TEXT:g} pt at least",
            )
        case Stroke() | Path() if 0 < item.width < MIN_LINE - _TOLERANCE:
            return _describe_line(item.width)
        case StrokedRectangle() if item.line_width < MIN_LINE - _TOLERANCE:
            return _describe_line(item.line_width)
        case Picture() if isinstance(item.image, PreparedImage):
            dpi = 72 * min(item.image.width / item.width, item.image.height / item.height)
            if dpi < MIN_DPI - 0.5:
                what = f"An image of {dpi:.0f} dots per inch at its size; print asks for {MIN_DPI}"
                return "print-image", f"{what}: store a larger one, or draw it smaller"
    return None


def _describe_line(width: float) -> tuple[str, str]:
    return "print-line", f"A line of {width:.2f} pt; print asks for {MIN_LINE} pt at least"
