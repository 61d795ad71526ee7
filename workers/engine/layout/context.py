"""Types shared by all layout functions: regions, fragments, the page canvas and the layout context.

Layout is a pure function with resume positions. A layout function fills a `Region` with a block
from a `Resume` (None is the beginning) and returns a `Fragment`: its height, how to draw it, and
where the block resumes on the next area. It changes no state, so a stack may try a layout, discard
it, and try again for the next page. It returns None where nothing of the block fits and a fresh
area is needed. At the top of an empty area None is not allowed, which is why layout terminates.

Fragments are drawn once pagination has converged, at their final coordinates, so no item is made
twice. Problems are reported while fragments are drawn: a discarded attempt reports nothing, and
every problem knows its page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol, cast

from workers.engine.diagnostics import Diagnostic, Findings, Severity, SourceLocation
from workers.engine.fonts import Face, needs_extra_fonts
from workers.engine.layout.display import Anchor, Item, LaidOutPage, LinkArea, OutlineEntry, Owner
from workers.engine.ports import Resources
from workers.engine.tree import nodes
from workers.engine.tree.memo import DocumentMemo, Kind, Lifetime, TemplateMemo
from workers.engine.tree.page_values import PageValues
from workers.engine.tree.styles.computed import Overflow, TextStyle
from workers.engine.units import POINTS_PER_MM

if TYPE_CHECKING:
    from workers.engine.layout.references import PageReferences
    from workers.engine.layout.structure import LogicalStructure

# Lengths come from decimal millimetres and sums of widths; a hundredth of a point is invisible.
EPSILON: Final = 0.01

_LISTED_GLYPHS: Final = 5
EXCERPT_CHARACTERS: Final = 20  # data values in messages are shortened

TOO_WIDE: Final = (
    "wider-than-container"  # the code of a finding about content wider than its container
)

# The upper left corner, width and height of a rectangle of a page, in points.
Bounds = tuple[float, float, float, float]

# A position in a block: nested tuples of integers, opaque to all but the block's layout function.
Resume = Any

AnyBlock = nodes.Block | nodes.ListItem


class Fonts(Protocol):
    """The source of font faces for a document."""

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Face, str]]:
        """Split `text` into runs of one face each; at least one run unless `text` is empty."""

    def find(self, style: TextStyle) -> Face:
        """Return the face of a style's first family."""

    def find_missing(self, text: str) -> str:
        """Return the characters of `text` that no face covers."""

    def find_memo(self, memo: TemplateMemo) -> TemplateMemo:
        """Return the memo for documents in these fonts of the template whose memo is given."""


class Region(NamedTuple):
    """The space in which a block is laid out, in points.

    `height` is the space left below, infinite where the content decides. `is_top` means that the
    area is empty so far: a block that does not fit here fits nowhere. `bottom` is the distance down
    to the edge to which `margin-top="auto"` pushes, None without such an edge. `has_fixed_width`
    means that the row around the block has already applied the block's own `width`. `top` is the
    distance from the top of the area, None off its line grid.
    """

    width: float
    height: float = inf
    is_top: bool = True
    bottom: float | None = None
    has_fixed_width: bool = False
    top: float | None = None


class Fragment(Protocol):
    """A laid-out part of a block (CSS Fragmentation 3, 2)."""

    @property
    def height(self) -> float:
        """The height of the border box, in points."""

    @property
    def resume(self) -> Resume:
        """The position at which the block continues, None when it is finished."""

    @property
    def forced(self) -> str:
        """The forced break that ended the fragment (`page`, `left`, …), empty for none."""

    @property
    def first_baseline(self) -> float | None:
        """The distance from the top to the first baseline, in points, None without text."""

    def draw(self, canvas: PageCanvas, x: float, y: float) -> None:
        """Draw with the upper left corner at a point of the page."""

    def truncate(self, room: float, *, is_cut: bool = False) -> Fragment | None:
        """Return the part that fits into a height in points, None when nothing does.

        `is_cut` says that content after the fragment is left out, so that its last line ends in …
        even if all of it fits.
        """

    def find_overflow(self, room: float) -> tuple[nodes.Source, str] | None:
        """Return the source and first words of the first block inside that reaches below a height."""


class WholeFragment:
    """What holds for each fragment that fits as a whole or not at all."""

    __slots__ = ()

    def truncate(self: Fragment, room: float, *, is_cut: bool = False) -> Fragment | None:
        """Return the fragment, None if it does not fit."""
        return self if self.height <= room + EPSILON else None

    def find_overflow(self, room: float) -> tuple[nodes.Source, str] | None:
        """Return None: it has no block of its own to name."""
        return None


class UnbrokenFragment(WholeFragment):
    """What holds for each fragment that is never broken and has no text."""

    __slots__ = ()

    resume: ClassVar[None] = None
    forced: ClassVar[str] = ""
    first_baseline: ClassVar[None] = None


@dataclass(slots=True)
class DrawnFragment(UnbrokenFragment):
    """A fragment that a function draws, given a canvas and its upper left corner.

    `foot_height` is how much of the lower end of its area it covers, in points.
    """

    draw: Callable[[PageCanvas, float, float], None]
    height: float = 0.0
    foot_height: float = 0.0


_WIDTHS: Final[Kind[AnyBlock, tuple[float, float]]] = Kind(Lifetime.WIDTHS)
_WARNINGS: Final[Kind[str, None]] = Kind()

LayoutFunction = Callable[["LayoutContext", Any, Region, Resume], "Fragment | None"]
MeasureFunction = Callable[["LayoutContext", Any], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LayoutProblem:
    """An authoring error of layout, complete but for the page it is drawn on.

    `message` states the problem with place and amount, `advice` a remedy.
    """

    code: str
    message: str
    advice: str
    chain: tuple[nodes.Source, ...]
    excerpt: str = ""
    severity: Severity = Severity.ERROR

    def describe(self, page: int | None) -> str:
        """Return the message for a page from 1, or for no page."""
        details = [] if page is None else [f"page {page}"]
        details += map(str, self._loop)
        if self.excerpt:
            details.append(f'"{self.excerpt}"')
        where = f" ({', '.join(details)})" if details else ""
        return f"{self.message}{where}. {self.advice}"

    def as_clipped(self) -> LayoutProblem:
        """Return the warning that the overflowing content is clipped, as its box demands."""
        message = self.message.replace("does not fit", "is cut off", 1)
        return replace(self, code="content-hidden", message=message, severity=Severity.WARNING)

    @property
    def places(self) -> tuple[SourceLocation, ...]:
        """The responsible elements, innermost first, without duplicates."""
        return tuple(dict.fromkeys(source.location for source in self.chain))

    @property
    def _loop(self) -> tuple[nodes.LoopStep, ...]:
        return max((source.loop for source in self.chain), key=len, default=())


class Rectangle(NamedTuple):
    """A rectangle of a page, in points from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


class PrintedFooter(NamedTuple):
    """The footer of the page being drawn: its lower edge and its source."""

    bottom: float
    source: nodes.Source


class FreeZone(NamedTuple):
    """A rectangle of the page being drawn in which nothing may be printed but its own items.

    `tell` returns what is told of other ink, of which it is given the text. Ink that covers all of one
    that `has_ground` is the ground of it.
    """

    area: Rectangle
    tell: Callable[[str], LayoutProblem]
    first: int = 0
    end: int = 0  # behind the last of its own items
    has_ground: bool = False


_ONLY_PAGE: Final = PageValues(number=1, count=1, index=1, total=1, name="default")


class PageCanvas:
    """The page being drawn: the target of items, links, anchors and problems.

    `values` are the page values of this page. Running content is drawn as an artifact, without an
    owner. `reported` holds the problems of all pages, so that one repeated by a header is reported
    once. `containing_block` is the rectangle positioned boxes refer to: the paper, or the box or
    cell being drawn (CSS 2.2, 10.1). `structure` is the structure tree of a tagged document.
    """

    records_boxes: ClassVar[bool] = False  # whether `add_box` records the boxes

    def __init__(
        self,
        page: LaidOutPage,
        *,
        values: PageValues = _ONLY_PAGE,
        outline: list[OutlineEntry] | None = None,
        findings: Findings | None = None,
        reported: set[LayoutProblem] | None = None,
        structure: LogicalStructure | None = None,
    ) -> None:
        self.page = page
        self.structure = structure
        self.items: list[Item] = page.items
        self.index = values.index
        self.values = values
        self.outline = [] if outline is None else outline
        self.is_artifact = False
        self.is_dry_run = False  # only anchors are recorded
        self.is_rotated = False  # inside a rotated box, coordinates are not those of the page
        self.containing_block = Rectangle(0.0, 0.0, page.width, page.height)
        self.footer: PrintedFooter | None = None
        self.zones: list[FreeZone] = []
        self.checks_codes = False  # all bar codes, as those for the dots of a printer
        self.overflow = Overflow.ERROR  # of the box being drawn, for content that is too wide
        self._findings = Findings() if findings is None else findings
        self._reported = set() if reported is None else reported

    def owner_of(self, node: nodes.SourceNode) -> Owner:
        """Return the owner of the items of a node, None for running content."""
        if self.is_artifact:
            return None
        return node if self.structure is None else self.structure.current

    def draw_block(self, block: AnyBlock, fragment: Fragment, x: float, y: float) -> None:
        """Draw a fragment of a block, inside the block's structure element."""
        tree = self.tree
        if tree is not None:
            tree.enter(block)
        fragment.draw(self, x, y)
        if tree is not None:
            tree.leave()

    @contextmanager
    def part(self, node: nodes.SourceNode, structure_type: str) -> Iterator[None]:
        """Draw into a structure element of its own that is a part of a node, such as its label."""
        tree = self.tree
        if tree is not None:
            tree.enter_part(node, structure_type)
        yield
        if tree is not None:
            tree.leave()

    @property
    def tree(self) -> LogicalStructure | None:
        """The structure tree if items belong to it, None for running content and untagged documents."""
        return None if self.is_artifact else self.structure

    def add_figure(self, node: nodes.SourceNode, alt: str, box: Rectangle) -> Owner:
        """Return the owner of a figure in a rectangle of the page, None for decoration, which has no `alt`."""
        if self.is_artifact or not alt:
            return None
        if self.structure is None:
            return self.owner_of(node)
        return self.structure.add_figure(node, alt, self._on_sheet(box))

    def add_field(self, node: nodes.FormField, area: Bounds | None) -> Owner:
        """Return the owner of a form field; `area` is the box of one that is not interactive."""
        if self.is_artifact or self.structure is None:
            return self.owner_of(node)
        return self.structure.add_field(node, None if area is None else self._on_sheet(area))

    def _on_sheet(self, area: Bounds) -> tuple[float, float, float, float]:
        """Return the left, bottom, right and upper edges of a rectangle on the sheet."""
        x, y, width, height = area
        outside = self.page.bleed + self.page.slug
        left, top = x + outside, self.page.height - y + outside
        return left, top - height, left + width, top

    def add_box(self, node: nodes.SourceNode, area: Bounds) -> Owner:
        """Return the owner of a node's box, whose border box is `area`."""
        del area  # MappingCanvas records it (`workers.engine.layout.pages.source_map`)
        return self.owner_of(node)

    def add_link(self, area: LinkArea) -> None:
        """Add a clickable rectangle."""
        self.page.links.append(area)

    def add_anchor(self, name: str, x: float, y: float, element: int | None = None) -> None:
        """Add a named destination, in the current structure element or another one.

        Running content repeats and has none.
        """
        if not self.is_artifact:
            tree = self.structure
            owner = tree.current if tree is not None and element is None else element
            self.page.anchors.append(Anchor(name, x, y, owner))

    def add_float(self, node: AnyBlock) -> None:
        """Record the anchor of a figure that floats, which dry runs look for."""

    def report(self, problem: LayoutProblem | None) -> None:
        """Report a problem on this page, if there is one that no earlier page reported.

        Content wider than a box is not reported under `overflow="visible"`, and a warning under
        `hidden`.
        """
        if problem is None or (problem.code == TOO_WIDE and self.overflow is Overflow.VISIBLE):
            return
        if problem.code == TOO_WIDE and self.overflow is Overflow.HIDDEN:
            problem = problem.as_clipped()
        if problem in self._reported:
            return
        self._reported.add(problem)
        message = problem.describe(self.index)
        self._findings.add(Diagnostic(problem.severity, problem.code, message, problem.places))


class FilledRectangle(NamedTuple):
    """The area being filled: its height, infinite for one as high as its content, and its columns.

    `foot` is the distance from its lower edge to that of the paper, in points. `page` is empty, with the
    `values` of the page that the area is on.
    """

    height: float = inf
    columns: int = 1
    foot: float = 0.0
    page: LaidOutPage = LaidOutPage(inf, inf)
    values: PageValues = _ONLY_PAGE


class LayoutContext(NamedTuple):
    """What layout functions are given: services, results of earlier attempts, and the place.

    Services are the same for the whole document; `memo` only saves work. The place is passed down in
    new contexts: nothing is set, so that a discarded attempt leaves nothing. `path` has the open
    elements, outermost first, for the chain of an error.
    """

    resources: Resources
    findings: Findings
    fonts: Fonts
    layouts: Mapping[type, LayoutFunction]
    measures: Mapping[type, MeasureFunction]
    lay_out_rotated: LayoutFunction
    memo: DocumentMemo
    references: PageReferences | None = None  # None in a document without references
    missing_glyph_severity: Severity = Severity.WARNING
    has_page_families: bool = False  # only then may a block require pages of another family
    # The place.
    places_floats: bool = False  # figures that float are taken out of the flow
    section_ends: frozenset[AnyBlock] = frozenset()  # headings that waiting figures must not pass
    area: FilledRectangle = FilledRectangle()
    is_in_columns: bool = False
    is_aligning_baselines: bool = False  # a row aligns the block to the baseline of the others
    path: tuple[nodes.Source, ...] = ()

    def inside(self, source: nodes.Source) -> LayoutContext:
        """Return the context of what is inside an element."""
        return LayoutContext(*self[:-1], (*self.path, source))

    def lay_out(self, block: AnyBlock, region: Region, resume: Resume = None) -> Fragment | None:
        """Lay out a block of any kind; the module's docstring states the contract."""
        if region.top is not None and not _is_on_grid(block):
            region = region._replace(top=None)
        if block.style.box.rotate % 180 == 90:
            return self.lay_out_rotated(self, block, region, resume)
        return self.layouts[type(block)](self, block, region, resume)

    def dry_run(self, fragment: Fragment) -> DryRunCanvas:
        """Return the canvas of a dry run of a fragment on the page that is filled."""
        return trace(fragment, self.area.page, self.area.values)

    def measure(self, block: AnyBlock) -> tuple[float, float]:
        """Return the min-content and max-content outer widths of a block, in points (CSS Sizing 3)."""
        # Remembered: a nested table is measured twice per level, so the work would double with each.
        return self.memo.remember(_WIDTHS, block, lambda: self.measures[type(block)](self, block))

    def measure_widest(self, blocks: Iterable[AnyBlock]) -> tuple[float, float]:
        """Return the min-content and max-content widths of the widest of some blocks, in points."""
        lows, highs = zip((0.0, 0.0), *map(self.measure, blocks), strict=True)
        return max(lows), max(highs)

    def report_missing_glyphs(self, text: str, source: nodes.Source | None) -> None:
        """Report the characters of a text that no font covers."""
        missing = self.fonts.find_missing(text)
        if not missing:
            return
        shown = ", ".join(f'"{char}" (U+{ord(char):04X})' for char in missing[:_LISTED_GLYPHS])
        if len(missing) > _LISTED_GLYPHS:
            shown += f" and {len(missing) - _LISTED_GLYPHS} more characters"
        message = f"No font has {shown}; an empty box is drawn"
        if any(map(needs_extra_fonts, missing)):
            message += ". Fonts of more scripts come with the package pressroom-fonts"
        places = () if source is None else (source.location,)
        self.findings.add(Diagnostic(self.missing_glyph_severity, "missing-glyph", message, places))

    def warn_of_missing_features(self, style: TextStyle, source: nodes.Source) -> None:
        """Warn once about each OpenType feature that a style requires and its font lacks."""
        face: Any = self.fonts.find(style)
        if not face.shapes:
            return
        for tag in face.find_missing_features(style.features):
            message = (
                f'The font "{face.family}" has no OpenType feature "{tag}"; '
                "the text is drawn without it"
            )
            self.warn_once("missing-feature", message, source)

    def warn_once(self, code: str, message: str, source: nodes.Source) -> None:
        """Warn at the first of the elements that a message is about."""
        self.memo.remember(
            _WARNINGS, message, lambda: self.findings.warn(code, message, source.location)
        )

    def chain(self, *inner: nodes.Source) -> tuple[nodes.Source, ...]:
        """Return the elements responsible for an error: `inner`, then the open ones outwards."""
        return (*inner, *reversed(self.path))

    def too_tall(self, source: nodes.Source, *, needed: float, available: float) -> LayoutProblem:
        """Return the problem of unbreakable content taller than an empty area."""
        return LayoutProblem(
            code="taller-than-area",
            message=f"Content does not fit: {describe_element(source, self.path)} needs {format_mm(needed)}, "
            f"an empty area allows {format_mm(available)}",
            advice="Make it smaller, or the page's margins, header or footer.",
            chain=self.chain(source),
        )

    def too_wide(
        self,
        source: nodes.Source,
        *,
        needed: float,
        available: float,
        excerpt: str = "",
        advice: str,
        is_own_limit: bool = False,
    ) -> LayoutProblem:
        """Return the problem of unbreakable content wider than its container, or than its own width."""
        container = find_container(source, self.path)
        container_name = "the page" if container is None else f"the {container.location.tag_name}"
        if is_own_limit:
            container_name = "its width"
        return LayoutProblem(
            code=TOO_WIDE,
            message=f"Content does not fit: {describe_element(source, self.path)} needs {format_mm(needed)} of width, "
            f"{container_name} allows {format_mm(available)}",
            advice=advice,
            chain=self.chain(source),
            excerpt=excerpt,
        )


def _is_on_grid(block: AnyBlock) -> bool:
    """Return whether text of a block is placed on the line grid of its area."""
    if type(block) is nodes.Container:
        is_in_flow = block.position is None and block.floating is None
        return is_in_flow and not block.style.box.rotate
    return type(block) in _ON_GRID


_ON_GRID: Final = frozenset({nodes.Paragraph, nodes.ListBlock, nodes.ListItem, nodes.Contents})


def format_mm(points: float) -> str:
    """Format a length for a message: millimetres with at most one decimal."""
    return f"{points / POINTS_PER_MM:.1f}".removesuffix(".0") + " mm"


def describe_element(source: nodes.Source, path: Sequence[nodes.Source]) -> str:
    """Describe an element and its container for a message: `p` in `box`."""
    own = f"`{source.location.tag_name}`"
    container = find_container(source, path)
    return own if container is None else f"{own} in `{container.location.tag_name}`"


def find_container(source: nodes.Source, path: Sequence[nodes.Source]) -> nodes.Source | None:
    """Return the innermost open element other than the element itself, or None."""
    return next((open_ for open_ in reversed(path) if open_.location != source.location), None)


def plain_text(inlines: Iterable[nodes.Inline]) -> str:
    """Return the text of inline content for a message; a line break becomes a space."""
    return "".join(
        inline.text if isinstance(inline, nodes.TextRun) else " "
        for inline in inlines
        if isinstance(inline, nodes.TextRun | nodes.LineBreak)
        and not isinstance(inline, nodes.NoteCall)
    )


def shorten_value(text: str) -> str:
    """Shorten a data value for a message."""
    text = " ".join(text.split())
    return text if len(text) <= EXCERPT_CHARACTERS else text[:EXCERPT_CHARACTERS] + "…"


@dataclass(frozen=True, slots=True)
class ContentProblem:
    """Why content cannot be drawn; layout adds the element. `code` is the stable code of the
    finding.

    `advice` is a remedy, where it depends on the cause.
    """

    code: str
    text: str
    advice: str = ""


class DryRunCanvas(PageCanvas):
    """A canvas that locates anchors, note calls among them, and figures that float."""

    def __init__(self, page: LaidOutPage, values: PageValues) -> None:
        super().__init__(page, values=values)
        self.items = cast("list[Item]", deque(maxlen=0))  # which keeps nothing
        self.is_dry_run = True
        self.anchors: dict[str, float] = {}  # the distance of each from the top of the page
        self.floats: dict[Any, None] = {}  # in the order of their anchors

    def add_anchor(self, name: str, x: float, y: float, element: int | None = None) -> None:
        """Record an anchor; the first of equal names counts."""
        if not self.is_artifact:
            self.anchors.setdefault(name, y)

    def add_float(self, node: object) -> None:
        """Record a figure."""
        self.floats[node] = None

    def add_link(self, area: LinkArea) -> None:
        """Discard a link."""

    def report(self, problem: LayoutProblem | None) -> None:
        """Discard a problem: the final drawing reports it."""


def trace(fragment: Fragment, page: LaidOutPage, values: PageValues) -> DryRunCanvas:
    """Return the canvas of a dry run of a fragment on a page."""
    canvas = DryRunCanvas(page, values)
    fragment.draw(canvas, 0.0, 0.0)
    return canvas
