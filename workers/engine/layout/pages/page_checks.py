"""Checks of pages as they are drawn: PDF/A (ISO 19005-2), fonts of PDF/UA (ISO 14289-1), print, envelopes.

A print shop would ask about coarse images, hairlines, and text too small to read. Whatever is
printed beside the address would be seen through the window of an envelope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout import display
from workers.engine.layout.context import PageCanvas, format_mm, shorten_value
from workers.engine.layout.pages.source_map import find_in_zones
from workers.engine.layout.structure import LogicalStructure
from workers.engine.pdf_pages import ImportedPage
from workers.engine.ports import ConformanceProfiles
from workers.engine.prepared_images import PreparedImage
from workers.engine.svg import VectorImage, is_drawn_in_colors
from workers.engine.tree.document import Document, PageMaster
from workers.engine.units import ColorSpace, is_chromatic

# ISO 19005-2, 6.1.13 allows 28 nested graphics states; an image and the draft mark add one each.
MAX_GROUPS: Final = 26
MIN_SIDE: Final = 3.0
MAX_SIDE: Final = 14_400.0


PageCheck = Callable[[int, display.LaidOutPage], None]


def find_page_checks(
    document: Document, structure: LogicalStructure | None, findings: Findings
) -> list[PageCheck]:
    """Return the checks that a document asks for, of a page with its number."""
    checks: list[PageCheck] = []
    is_for_press = document.profiles.print is not None
    if document.has_print_checks or is_for_press:
        checks.append(_PrintChecks(structure, findings, is_for_press).check)
    if any(document.profiles):
        checks.append(_ConformanceChecks(structure, document.profiles, findings).check)
    return checks


def _place_of(
    owner: display.Owner | PageMaster, structure: LogicalStructure | None
) -> SourceLocation | None:
    """Return the location of an owner, None for running content."""
    if isinstance(owner, int):
        owner = None if structure is None else structure.nodes[owner]
    return None if owner is None or owner.source is None else owner.source.location


@dataclass(frozen=True, slots=True)
class _ConformanceChecks:
    """The checks of a profile; violations become findings."""

    structure: LogicalStructure | None
    profiles: ConformanceProfiles
    findings: Findings

    def check(self, _number: int, page: display.LaidOutPage) -> None:
        is_archive, is_print = self.profiles.archive is not None, self.profiles.print is not None
        if is_archive:
            self._check_size(page)
        depth = 0
        for item in display.single_items(page.items) if is_archive or is_print else page.items:
            if isinstance(item, display.Picture):
                self._check_picture(item, depth)
            elif isinstance(item, display.Save):
                depth += 1
                if is_archive and depth > MAX_GROUPS:
                    what = (
                        f"more than {MAX_GROUPS} boxes in each other that clip, turn or see through"
                    )
                    self._report("profile-depth", what, None)
            elif isinstance(item, display.Restore):
                depth -= 1
            elif isinstance(item, display.Widget | display.TextRows | display.StrokeRows):
                continue
            elif is_archive and item.color.space is ColorSpace.CMYK:
                what = "a colour in CMYK; write it as #rrggbb or rgb(r g b)"
                self._report("profile-color", what, item.owner)
            elif is_print and is_chromatic(item.color):
                what = "a colour in RGB; write it as cmyk(c m y k), a grey or a spot colour"
                self._report("profile-color", what, item.owner)

    def _check_size(self, page: display.LaidOutPage) -> None:
        outside = 2 * (page.bleed + page.slug)
        for side in (page.width + outside, page.height + outside):
            if not MIN_SIDE <= side <= MAX_SIDE:
                self._report(
                    "profile-page",
                    f"a page {format_mm(side)} wide or high, it takes {format_mm(MIN_SIDE)} to "
                    f"{format_mm(MAX_SIDE)}",
                    None,
                )

    def _check_picture(self, item: display.Picture, depth: int) -> None:
        """Check a picture; those of a print in RGB are calibrated (ISO 15930-7)."""
        image, node = item.image, item.node
        if self.profiles.archive is not None:
            if _depth_of(image) + depth > MAX_GROUPS:
                what = f"an image with more than {MAX_GROUPS} clips and groups in each other"
                self._report("profile-depth", what, node)
            elif _has_cmyk(image):
                self._report("profile-color", "an image in CMYK; store it in RGB", node)
        if isinstance(image, ImportedPage):
            if self.profiles.print is not None:
                what = "a page of a PDF; draw it as an SVG or a picture"
                self._report("profile-pdf", what, node)
            self._check_imported(image, node)

    def _check_imported(self, image: ImportedPage, node: display.Owner | PageMaster) -> None:
        """Check a page of a PDF: its fonts, and for archives what its standard forbids."""
        facts = image.facts
        if facts.unembedded:
            names = ", ".join(facts.unembedded)
            self._report(
                "profile-font", f"a PDF whose fonts are not embedded: {names}; embed them", node
            )
        archive = self.profiles.archive
        needs_characters = self.profiles.accessibility is not None or (
            archive is not None and archive.level in ("A", "U")
        )
        if needs_characters and facts.unmapped:
            names = ", ".join(facts.unmapped)
            self._report(
                "profile-font", f"a PDF whose fonts do not name their characters: {names}", node
            )
        for breach in facts.breaches if archive is not None else ():
            self._report("profile-pdf", f"a PDF with {breach}; export it again", node)

    def _report(self, code: str, what: str, owner: display.Owner | PageMaster) -> None:
        profile, place = next(filter(None, self.profiles)), _place_of(owner, self.structure)
        self.findings.error(code, f'profile="{profile}" does not allow {what}', place)


def _depth_of(image: display.Drawable) -> int:
    if isinstance(image, ImportedPage):
        return image.facts.depth + 1
    return image.form.depth if isinstance(image, VectorImage) else 0


def _has_cmyk(image: display.Drawable) -> bool:
    if isinstance(image, PreparedImage):
        return image.pixels.color_space == "DeviceCMYK"
    return image.facts.has_cmyk if isinstance(image, ImportedPage) else image.has_cmyk


# The least that offset and laser printers reproduce: the Ghent Workgroup's sheets warn of the same.
MIN_DPI: Final = 150
MIN_LINE: Final = 0.25
MIN_TEXT: Final = 5.0
MAX_INK: Final = 300  # per cent, that dries on coated paper
_TOLERANCE: Final = 0.01


@dataclass(frozen=True, slots=True)
class _PrintChecks:
    """The checks of a print shop; each element is reported once for each fault."""

    structure: LogicalStructure | None
    findings: Findings
    is_for_press: bool
    _reported: set[tuple[str, SourceLocation | None]] = field(default_factory=set)

    def check(self, number: int, page: display.LaidOutPage) -> None:
        opacities = [1.0]  # of the groups around an item; the first ink of a group stands for it
        for item in display.single_items(page.items):
            match item:
                case display.Save():
                    opacities.append(min(opacities[-1], item.opacity))
                    continue
                case display.Restore():
                    opacities.pop()
                    continue
            fault = _find_fault(item)
            if self.is_for_press and fault is None:
                fault = _find_color_glyph(item) or _find_transparency(item, opacities[-1])
            opacities = [1.0] * len(opacities)
            if fault is None:
                continue
            owner = item.node if isinstance(item, display.Picture) else item.owner
            (code, message), place = fault, _place_of(owner, self.structure)
            if (code, place) not in self._reported:
                self._reported.add((code, place))
                self.findings.warn(code, f"{message} (page {number})", place)


def _find_fault(item: display.Ink) -> tuple[str, str] | None:
    """Return the code and message of what is wrong with an item, None if nothing is."""
    match item:
        case display.GlyphRun() | display.ShapedRun() if item.size < MIN_TEXT - _TOLERANCE:
            return (
                "print-text",
                f"Text of {item.size:.1f} pt; print asks for {MIN_TEXT:g} pt at least",
            )
        case display.Stroke() | display.Path() if 0 < item.width < MIN_LINE - _TOLERANCE:
            return _describe_line(item.width)
        case display.StrokedRectangle() if item.line_width < MIN_LINE - _TOLERANCE:
            return _describe_line(item.line_width)
        case display.Picture() if (
            isinstance(item.image, PreparedImage) and item.width and item.height
        ):
            dpi = 72 * min(item.image.width / item.width, item.image.height / item.height)
            if dpi < MIN_DPI - 0.5:
                what = f"An image of {dpi:.0f} dots per inch at its size; print asks for {MIN_DPI}"
                return "print-image", f"{what}: store a larger one, or draw it smaller"
    if isinstance(item, display.Picture | display.Widget) or item.color.ink:
        return None
    color = item.color
    ink = 100 * sum(color.components) if color.space is ColorSpace.CMYK else 0
    if ink > MAX_INK:
        what = f"A colour of {ink:.0f} per cent of ink"
        return "print-ink", f"{what}; print asks for {MAX_INK} at most: take less of each"
    return None


def _find_color_glyph(item: display.Ink) -> tuple[str, str] | None:
    if not isinstance(item, display.ShapedRun):
        return None
    colored = (each.text for each in item.clusters if is_drawn_in_colors(item.face, each))
    if (text := next(colored, None)) is None:
        return None
    what = f"The glyph {shorten_value(text)} has colours, and is printed in that of the text"
    return "print-glyph", f"{what}; draw it as a picture or an SVG"


def _find_transparency(item: display.Ink, opacity: float) -> tuple[str, str] | None:
    """Return what is told of ink that is blended with what is below it (ISO 32000-1, 11.3)."""
    if isinstance(item, display.Picture):
        image = item.image
        if isinstance(image, PreparedImage) and image.mask is not None:
            return _describe_transparency("An image with a mask")
        if isinstance(image, VectorImage) and image.form.is_blended:
            return _describe_transparency("A drawing with transparency")
    if opacity < 1:
        return _describe_transparency(f"An opacity of {opacity:g}")
    return None


def _describe_transparency(what: str) -> tuple[str, str]:
    advice = "draw it opaque, in the colours that it has there"
    return (
        "print-transparency",
        f"{what} is blended as it is printed, by rules of the press; {advice}",
    )


def _describe_line(width: float) -> tuple[str, str]:
    return "print-line", f"A line of {width:.2f} pt; print asks for {MIN_LINE} pt at least"


def check_zones(canvas: PageCanvas, start: int) -> None:
    """Warn of the first item from `start` on that is printed in each zone of the page."""
    for ink, zone in find_in_zones(canvas.items, start, canvas.zones):
        text = ink.text if isinstance(ink, display.GlyphRun | display.ShapedRun) else ""
        canvas.report(zone.tell(text))
