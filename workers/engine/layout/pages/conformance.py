"""PDF/A restrictions on pages (ISO 19005-2): colours, sizes and nesting, checked as pages are
drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from workers.engine.diagnostics import Findings, SourceLocation
from workers.engine.layout.context import format_mm
from workers.engine.layout.display import Item, LaidOutDocument, LaidOutPage, Picture, Restore, Save
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.svg.drawing import VectorImage
from workers.engine.ports import ArchiveProfile
from workers.engine.tree.document import Document
from workers.engine.units import Color, ColorSpace

# ISO 19005-2, 6.1.13 allows 28 nested graphics states; an image and the draft mark add one each.
MAX_GROUPS: Final = 26
MIN_SIDE: Final = 3.0
MAX_SIDE: Final = 14_400.0


def with_conformance_checks(
    laid_out: LaidOutDocument, document: Document, findings: Findings
) -> LaidOutDocument:
    """Return a document whose pages are checked as they are read, if it has a profile."""
    if document.profile is None:
        return laid_out
    pages = _CheckedPages(laid_out, document.profile, findings)
    return LaidOutDocument(pages, laid_out.outline, laid_out.structure)


@dataclass(frozen=True, slots=True)
class _CheckedPages:
    """The pages of a document with a profile; violations become findings."""

    laid_out: LaidOutDocument
    profile: ArchiveProfile
    findings: Findings

    def __len__(self) -> int:
        return len(self.laid_out.pages)

    def __iter__(self) -> Iterator[LaidOutPage]:
        for page in self.laid_out.pages:
            self._check_size(page)
            self._check_items(page)
            yield page

    def _check_size(self, page: LaidOutPage) -> None:
        outside = 2 * (page.bleed + page.slug)
        for side in (page.width + outside, page.height + outside):
            if not MIN_SIDE <= side <= MAX_SIDE:
                self._report(
                    "profile-page",
                    f"a page {format_mm(side)} wide or high, it takes {format_mm(MIN_SIDE)} to "
                    f"{format_mm(MAX_SIDE)}",
                    None,
                )

    def _check_items(self, page: LaidOutPage) -> None:
        depth = 0
        for item in page.items:
            if isinstance(item, Save):
                depth += 1
                if depth > MAX_GROUPS:
                    self._report(
                        "profile-depth",
                        f"more than {MAX_GROUPS} boxes in each other that clip, turn or see through",
                        None,
                    )
            elif isinstance(item, Restore):
                depth -= 1
            elif isinstance(item, Picture) and _depth_of(item) + depth > MAX_GROUPS:
                self._report(
                    "profile-depth",
                    f"an SVG with more than {MAX_GROUPS} clips and groups in each other",
                    item.node,
                )
            elif _is_cmyk(item):
                self._report(
                    "profile-color",
                    "an image in CMYK; store it in RGB"
                    if isinstance(item, Picture)
                    else "a colour in CMYK; write it as #rrggbb or rgb(r g b)",
                    item.node if isinstance(item, Picture) else item.owner,
                )

    def _report(self, code: str, what: str, owner: object | None) -> None:
        structure = self.laid_out.structure
        if structure is not None and isinstance(owner, int):
            owner = structure.nodes[owner]
        places = () if owner is None else _locations_of(owner)
        self.findings.error(code, f'profile="{self.profile}" does not allow {what}', *places)


def _depth_of(picture: Picture) -> int:
    image = picture.image
    return image.form.depth if isinstance(image, VectorImage) else 0


def _is_cmyk(item: Item) -> bool:
    if isinstance(item, Picture):
        image = item.image
        if isinstance(image, VectorImage):
            return image.has_cmyk
        return isinstance(image, PreparedImage) and image.pixels.color_space == "DeviceCMYK"
    color = getattr(item, "color", None)
    return isinstance(color, Color) and color.space is ColorSpace.CMYK


def _locations_of(owner: object) -> tuple[SourceLocation, ...]:
    source = getattr(owner, "source", None)
    return () if source is None else (source.location,)
