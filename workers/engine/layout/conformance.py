"""What PDF/A asks of the pages (ISO 19005-2): colours and sizes. Judged as they are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from workers.engine.diagnostics import Findings, Place
from workers.engine.layout.context import in_mm
from workers.engine.layout.display import Item, LaidOut, Page, Picture, Restore, Save
from workers.engine.layout.images.prepared import PreparedImage
from workers.engine.layout.svg.drawing import VectorImage
from workers.engine.ports import Profile
from workers.engine.tree.nodes import Document
from workers.engine.units import Color, ColorSpace

# 6.1.13 allows 28 states saved on each other; an image and the draft mark add one each.
MAX_GROUPS: Final = 26
MIN_SIDE: Final = 3.0
MAX_SIDE: Final = 14_400.0


def watch_conformance(laid_out: LaidOut, document: Document, findings: Findings) -> LaidOut:
    """Give a document whose pages are judged as they are read, if it has a profile."""
    if document.profile is None:
        return laid_out
    return LaidOut(_JudgedPages(laid_out, document.profile, findings), laid_out.outline)


@dataclass(frozen=True, slots=True)
class _JudgedPages:
    """The pages of a document with a profile; what it forbids on them becomes findings."""

    laid_out: LaidOut
    profile: Profile
    findings: Findings

    def __len__(self) -> int:
        return len(self.laid_out.pages)

    def __iter__(self) -> Iterator[Page]:
        for page in self.laid_out.pages:
            self._judge_size(page)
            self._judge_items(page)
            yield page

    def _judge_size(self, page: Page) -> None:
        outside = 2 * (page.bleed + page.slug)
        for side in (page.width + outside, page.height + outside):
            if not MIN_SIDE <= side <= MAX_SIDE:
                self._refuse(
                    "profile-page",
                    f"a page {in_mm(side)} wide or high, it takes {in_mm(MIN_SIDE)} to "
                    f"{in_mm(MAX_SIDE)}",
                    None,
                )

    def _judge_items(self, page: Page) -> None:
        depth = 0
        for item in page.items:
            if isinstance(item, Save):
                depth += 1
                if depth > MAX_GROUPS:
                    self._refuse(
                        "profile-depth",
                        f"more than {MAX_GROUPS} boxes in each other that clip, turn or see through",
                        None,
                    )
            elif isinstance(item, Restore):
                depth -= 1
            elif isinstance(item, Picture) and _depth_of(item) + depth > MAX_GROUPS:
                self._refuse(
                    "profile-depth",
                    f"an SVG with more than {MAX_GROUPS} clips and groups in each other",
                    item.node,
                )
            elif _is_cmyk(item):
                self._refuse(
                    "profile-color",
                    "an image in CMYK; store it in RGB"
                    if isinstance(item, Picture)
                    else "a colour in CMYK; write it as #rrggbb or rgb(r g b)",
                    item.node if isinstance(item, Picture) else item.owner,
                )

    def _refuse(self, code: str, what: str, owner: object | None) -> None:
        places = () if owner is None else _place_of(owner)
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


def _place_of(owner: object) -> tuple[Place, ...]:
    source = getattr(owner, "source", None)
    return () if source is None else (source.place,)
