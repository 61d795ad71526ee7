"""The contrast of text with its background (WCAG 2.2, 1.4.3), where both colours are known before layout.

Not known is what lies under text on a picture, under a box that is placed by its position, or on
pages with boxes of their own. Headers and footers are artifacts, and not looked at.
"""

from __future__ import annotations

from typing import Final

from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation
from workers.engine.tree.document import Document, Flow, PageMaster
from workers.engine.tree.nodes import Block, Break
from workers.engine.tree.styles.computed import BoxStyle, TextStyle
from workers.engine.units import Color, ColorSpace, relative_luminance

_WHITE: Final = Color(ColorSpace.RGB, (1.0, 1.0, 1.0))
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

    def find_paper(self, block: Block, flow: Flow) -> Color | None:
        """Return the colour of the pages that a block of a flow is on, None if it is unknown."""
        family = None if isinstance(block, Break) else block.style.breaks.page
        return self._paper(family or flow.page)

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
        and all(color_on(area.style.box, _WHITE) == _WHITE for area in master.areas)
    )
    return (master.background or _WHITE) if is_plain else None


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
