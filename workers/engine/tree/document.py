"""The whole concrete document: pages, flows, settings and cross-references.

Tree/nodes.py has its blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workers.engine.diagnostics import Diagnostic
from workers.engine.ports import (
    NO_PROFILES,
    Attachment,
    ConformanceProfiles,
    DocumentInfo,
    Security,
    SignatureRequest,
    StandaloneInvoice,
)
from workers.engine.syntax.identifiers import ImageSource
from workers.engine.tree.memo import TemplateMemo
from workers.engine.tree.nodes import Block, ColumnLayout, Occurrence, Position, Repeated, Source
from workers.engine.tree.page_values import PageValues
from workers.engine.tree.styles.computed import Overflow, Style
from workers.engine.units import Color, Length, Sides

if TYPE_CHECKING:
    from workers.engine.tree.page_values import RunningValues
    from workers.engine.tree.references.counters import Footnotes
    from workers.engine.tree.references.resolver import CrossReferences


PageContent = Repeated[PageValues, Block]


@dataclass(frozen=True, slots=True, eq=False)
class RunningBox:
    """A header or footer, whose content is its box; `max_height` may be per cent of the page's height."""

    source: Source
    content: PageContent
    max_height: Length


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the page body that a flow fills; offsets and sizes are of the body region."""

    source: Source
    style: Style  # of the box that clips or checks its content
    flow: str
    columns: ColumnLayout
    overflow: Overflow | None  # None continues in the next area
    position: Position
    width: Length | None
    height: Length | None
    padding: Sides[float]


@dataclass(frozen=True, slots=True)
class SheetMarks:
    """Marks for an inserting machine on the fronts of sheets; places and sizes are in points."""

    kind: str
    left: float
    top: float
    content: str  # with the fields of a mark format
    job: str
    set_number: int
    sequence: int
    inserts: frozenset[int]
    width: float
    height: float
    pitch: float
    clear: float
    source: Source | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PageMaster:
    """The page master of one member of a page family: paper, margins (points) and running content.

    `boxes` are containers positioned on the paper. Without areas the flow `body` has the whole
    region. `bleed` is how far (points) the background extends beyond the paper. A page that `is_open`
    is as high as its content, and `height` is what it may be at most.
    """

    source: Source | None
    name: str
    on: Occurrence
    width: float
    height: float
    margin: Sides[float]
    background: Color | None
    background_image: ImageSource | None
    header: RunningBox | None
    footer: RunningBox | None
    boxes: PageContent | None
    areas: tuple[Area, ...] = ()
    watermarks: tuple[Watermark, ...] = ()
    bleed: float = 0.0
    has_crop_marks: bool = False
    is_open: bool = False
    media: str = "plain"
    marks: tuple[SheetMarks, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """Content that fills pages of one family."""

    source: Source | None
    name: str
    page: str
    blocks: tuple[Block, ...]
    max_pages: int | None


@dataclass(frozen=True, slots=True)
class Watermark:
    """A text or image across pages, declared by the template.

    `size` is that of the text in points, None to fit the diagonal.
    """

    text: str
    is_over: bool
    opacity: float
    rotate: float
    size: float | None
    color: Color
    source: Source | None = None
    picture: ImageSource | None = None
    on: Occurrence = Occurrence.CONTENT


@dataclass(frozen=True, slots=True)
class DeclaredFont:
    """A `font` element: a stored font as a face of a family.

    None means the font's own value.
    """

    source: Source
    family: str
    name: str  # of the stored font
    index: int
    weight: tuple[int, int] | None
    stretch: tuple[float, float] | None
    is_italic: bool | None
    settings: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document, ready for layout."""

    info: DocumentInfo
    masters: tuple[PageMaster, ...]
    flows: tuple[Flow, ...]
    security: Security | None
    watermarks: tuple[Watermark, ...]
    warnings: tuple[Diagnostic, ...]
    profiles: ConformanceProfiles = NO_PROFILES
    output_intent: str | None = None  # the name of a stored ICC profile
    attachments: tuple[Attachment, ...] = ()
    refuses_missing_glyphs: bool = False
    fonts: tuple[DeclaredFont, ...] = ()
    cross_references: CrossReferences | None = None  # None where nothing refers to anything
    footnotes: Footnotes | None = None  # None where there are none
    is_tagged: bool = True  # has a structure tree, unless it is merged with others
    requires_tags: bool = False  # by its own `tagged` or its profile
    is_duplex: bool = False
    reserved_zones: Sequence[Sequence[float]] = ()
    has_print_checks: bool = False
    running_values: RunningValues | None = None  # None where no element sets any
    has_form_fields: bool = False  # that are interactive
    has_floats: bool = False
    einvoice: StandaloneInvoice | None = None
    signature: SignatureRequest | None = None  # None in a draft too
    memo: TemplateMemo = field(default_factory=TemplateMemo)

    @property
    def is_strict(self) -> bool:
        """Whether a failed accessibility check of a tagged document is an error."""
        return self.profiles.is_tagged
