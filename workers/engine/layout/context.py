"""What every element's layout shares: the room it is given, the piece it gives back, and the sheet.

Layout is a pure function with resume positions. A block is asked to fill a `Space` from a `Resume`
(None is its beginning) and answers with a `Piece`: how tall it is, how it is drawn, and where it
goes on if it is not finished. Nothing is changed by asking, so a stack may ask, throw the answer
away, and ask again for the next page. None for an answer says "nothing of me stands here, give me
a fresh area"; at the top of an empty area that answer is not allowed, which is why layout ends.

Pieces are drawn when all pages are settled, straight onto the page at their final coordinates, so
no item is ever made twice. Errors are noted as they are drawn, so an attempt that was thrown away
leaves no error, and every error knows its page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from workers.engine.diagnostics import Diagnostic, Findings, Place, Severity
from workers.engine.layout.display import Anchor, Item, LinkArea, OutlineEntry, Page
from workers.engine.ports import Resources
from workers.engine.tree.nodes import (
    Block,
    Break,
    Inline,
    LineBreak,
    ListItem,
    LoopStep,
    PageValues,
    Run,
    Source,
)
from workers.engine.tree.styles import Overflow, TextStyle
from workers.engine.units import POINTS_PER_MM

if TYPE_CHECKING:
    from workers.engine.layout.crossings import CrossState

# Lengths come from decimal millimetres and sums of widths; a hundredth of a point is not seen.
EPSILON: Final = 0.01

_LISTED_GLYPHS: Final = 5
EXCERPT_CHARACTERS: Final = 20  # language.md 1.9: data values in messages are cut

TOO_WIDE: Final = "wider-than-container"  # the finding of what is wider than what it stands in

# Where a block goes on: nested tuples of integers, compared by value, opaque to all but its maker.
Resume = Any

AnyBlock = Block | ListItem


class Typeface(Protocol):
    """What layout asks of a font face; measures are in em."""

    ascent: float
    descent: float
    cap_height: float
    underline_position: float
    underline_thickness: float
    strike_position: float
    shapes: bool  # whether text can be written by its glyphs
    is_ideographic: bool  # whether justified lines are spread between all its characters

    def measure(self, text: str) -> float:
        """Give the width of `text`."""

    def kern(self, first: str, second: str) -> float:
        """Give by how much `second` is moved when it follows `first`."""

    def encode(self, text: str) -> bytes:
        """Write `text` as a PDF operand."""

    def encode_spread(self, text: str, adjustment: float) -> bytes:
        """Write `text` with spaces wider by thousandths of an em."""


class Fonts(Protocol):
    """Where faces come from."""

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Typeface, str]]:
        """Cut `text` into runs of one face each; at least one run unless `text` is empty."""

    def find(self, style: TextStyle) -> Typeface:
        """Find the face of a style's first family."""

    def find_missing(self, text: str) -> str:
        """Give the characters of `text` that no face has."""


class Space(NamedTuple):
    """The room a block is given.

    `height` is what is left below; infinite where the content decides. `is_top` says that nothing
    stands above in this area: what does not fit here fits nowhere. `foot` is the distance down to
    the edge that `margin-top="auto"` pushes to, None where there is no such edge. `is_track` says
    that the block's own `width` is already applied, by the row it stands in.
    """

    width: float
    height: float = inf
    is_top: bool = True
    foot: float | None = None
    is_track: bool = False


class Piece(Protocol):
    """A laid-out part of a block. `resume` is None when the block is finished.

    `forced` names the break that ended the piece (`page`, `left`, …), empty for none;
    `first_baseline` is None for what has no text.
    """

    @property
    def height(self) -> float:
        """Give the height of the border box, in points."""

    @property
    def resume(self) -> Resume:
        """Tell where the block goes on."""

    @property
    def forced(self) -> str:
        """Name the forced break."""

    @property
    def first_baseline(self) -> float | None:
        """Give the distance down to the first line's baseline."""

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Draw with the top left corner at a point of the page."""


LayOut = Callable[["Context", Any, Space, Resume], "Piece | None"]
Measure = Callable[["Context", Any], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Misfit:
    """An authoring error of layout, complete but for the page it is drawn on (language.md 1.9).

    `what` tells what, where and by how much; `advice` what to try.
    """

    code: str
    what: str
    advice: str
    chain: tuple[Source, ...]
    excerpt: str = ""
    severity: Severity = Severity.ERROR

    def describe(self, page: int | None) -> str:
        """Write the message, for a page from 1."""
        details = [] if page is None else [f"page {page}"]
        details += [f"{step.name} row {step.index}" for step in self._loop]
        if self.excerpt:
            details.append(f'"{self.excerpt}"')
        where = f" ({', '.join(details)})" if details else ""
        return f"{self.what}{where}. {self.advice}"

    def as_cut(self) -> Misfit:
        """Give the note that what does not fit is cut off, as its box asks for."""
        what = self.what.replace("does not fit", "is cut off", 1)
        return replace(self, code="content-hidden", what=what, severity=Severity.WARNING)

    @property
    def places(self) -> tuple[Place, ...]:
        """Give the responsible elements, innermost first, each once."""
        return tuple(dict.fromkeys(source.place for source in self.chain))

    @property
    def _loop(self) -> tuple[LoopStep, ...]:
        return max((source.loop for source in self.chain), key=len, default=())


class Rectangle(NamedTuple):
    """A rectangle of a page, in points from its upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Sheet:
    """The page being drawn on. `values` are the page's own; furniture is drawn with no owner.

    `told` is what was reported on any page: what a header does wrong on every page is one error.
    `holder` is what boxes with a position count from: the paper, or the box or cell being drawn.
    """

    __slots__ = (
        "_findings",
        "_told",
        "holder",
        "index",
        "is_furniture",
        "is_tracing",
        "is_turned",
        "items",
        "outline",
        "overflow",
        "page",
        "values",
    )

    def __init__(
        self,
        page: Page,
        *,
        values: PageValues,
        outline: list[OutlineEntry],
        findings: Findings,
        told: set[Misfit],
    ) -> None:
        self.page = page
        self.items: list[Item] = page.items
        self.index = values.index
        self.values = values
        self.outline = outline
        self.is_furniture = False
        self.is_tracing = False  # only named places are looked for, and nothing is kept
        self.is_turned = False  # inside a turned box, places are not where they are drawn
        self.holder = Rectangle(0.0, 0.0, page.width, page.height)
        self.overflow = Overflow.ERROR  # of the box being drawn: whether it may be too narrow
        self._findings = findings
        self._told = told

    def owner(self, node: object) -> object | None:
        """Give the owner of what is drawn for a node: none when it is page furniture."""
        return None if self.is_furniture else node

    def link(self, area: LinkArea) -> None:
        """Make a rectangle clickable."""
        self.page.links.append(area)

    def anchor(self, name: str, x: float, y: float) -> None:
        """Name a place; furniture repeats and cannot be pointed to."""
        if not self.is_furniture:
            self.page.anchors.append(Anchor(name, x, y))

    def report(self, misfit: Misfit) -> None:
        """Note an error, on this page, unless an earlier page had the very same.

        What is too wide is none in a box that shows or hides it on purpose; what is hidden is told.
        """
        if misfit.code == TOO_WIDE and self.overflow is Overflow.VISIBLE:
            return
        if misfit.code == TOO_WIDE and self.overflow is Overflow.HIDDEN:
            misfit = misfit.as_cut()
        if misfit in self._told:
            return
        self._told.add(misfit)
        message = misfit.describe(self.index)
        self._findings.add(Diagnostic(misfit.severity, misfit.code, message, misfit.places))


@dataclass(slots=True)
class Context:
    """What layout of one document knows: fonts, images, findings, and how each kind is laid out.

    `path` is the open elements, outermost first, for the chain of an error. `memory` keeps what is
    worth keeping between attempts (table widths, measured blocks), by kind and node; `lines` has
    the lines of each paragraph at the first width it was broken to. Only with `has_families` does a block ask for pages of another family than the block before it.
    """

    resources: Resources
    findings: Findings
    fonts: Fonts
    layouts: Mapping[type, LayOut]
    measures: Mapping[type, Measure]
    turn: LayOut  # of what is turned by a quarter
    path: list[Source] = field(default_factory=list)
    memory: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    lines: dict[int, Any] = field(default_factory=dict)  # by the paragraph's identity
    looks: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of text in lines, shared
    has_families: bool = False
    is_in_columns: bool = False
    is_lowering: bool = False  # a block of a row to the baseline of the others
    missing_glyphs: Severity = Severity.WARNING
    crossings: CrossState | None = None  # None where nothing refers to anything

    def lay_out(self, block: AnyBlock, space: Space, resume: Resume = None) -> Piece | None:
        """Lay out a block of any kind; see the module's text for the contract."""
        if not isinstance(block, Break) and block.style.box.rotate % 180 == 90:
            return self.turn(self, block, space, resume)
        return self.layouts[type(block)](self, block, space, resume)

    def measure(self, block: AnyBlock) -> tuple[float, float]:
        """Give the narrowest and the widest sensible outer width of a block, in points."""
        # Kept: each table in a table asks twice, so depth would double the work.
        key = ("measure", id(block))
        known: tuple[AnyBlock, tuple[float, float]] | None = self.memory.get(key)
        if known is None:
            known = self.memory[key] = (block, self.measures[type(block)](self, block))
        return known[1]

    def tell_missing(self, text: str, source: Source | None) -> None:
        """Tell the characters of a text that no font has (language.md 1.5)."""
        missing = self.fonts.find_missing(text)
        if not missing:
            return
        shown = ", ".join(f'"{char}" (U+{ord(char):04X})' for char in missing[:_LISTED_GLYPHS])
        if len(missing) > _LISTED_GLYPHS:
            shown += f" and {len(missing) - _LISTED_GLYPHS} more characters"
        message = f"No font has {shown}; an empty box is drawn"
        places = () if source is None else (source.place,)
        self.findings.add(Diagnostic(self.missing_glyphs, "missing-glyph", message, places))

    def chain(self, *inner: Source) -> tuple[Source, ...]:
        """Give the elements responsible for an error: `inner`, then the open ones outwards."""
        return (*inner, *reversed(self.path))

    def too_tall(self, source: Source, *, need: float, room: float) -> Misfit:
        """Describe a thing that cannot be broken and is taller than an empty area."""
        return Misfit(
            code="taller-than-area",
            what=f"Content does not fit: {name_in(source, self.path)} needs {in_mm(need)}, "
            f"an empty area gives {in_mm(room)}",
            advice="Make it smaller, or the page's margins, header or footer.",
            chain=self.chain(source),
        )

    def too_wide(
        self,
        source: Source,
        *,
        need: float,
        room: float,
        excerpt: str = "",
        advice: str,
        is_own_limit: bool = False,
    ) -> Misfit:
        """Describe a thing that cannot be broken and is wider than its container, or its own width."""
        holder = find_holder(source, self.path)
        gives = "the page" if holder is None else f"the {holder.place.tag_name}"
        if is_own_limit:
            gives = "its width"
        return Misfit(
            code=TOO_WIDE,
            what=f"Content does not fit: {name_in(source, self.path)} needs {in_mm(need)} of width, "
            f"{gives} gives {in_mm(room)}",
            advice=advice,
            chain=self.chain(source),
            excerpt=excerpt,
        )


def in_mm(points: float) -> str:
    """Write a length for a message: millimetres with at most one decimal."""
    return f"{points / POINTS_PER_MM:.1f}".removesuffix(".0") + " mm"


def name_in(source: Source, path: Sequence[Source]) -> str:
    """Name an element and what it stands in, as messages do: `p` in `box`."""
    own = f"`{source.place.tag_name}`"
    holder = find_holder(source, path)
    return own if holder is None else f"{own} in `{holder.place.tag_name}`"


def find_holder(source: Source, path: Sequence[Source]) -> Source | None:
    """Find the innermost open element that is not the element itself."""
    return next((open_ for open_ in reversed(path) if open_.place != source.place), None)


def words_of(inlines: Iterable[Inline]) -> str:
    """Give the text of a paragraph for a message; a line break parts words."""
    return "".join(
        inline.text if isinstance(inline, Run) else " "
        for inline in inlines
        if isinstance(inline, Run | LineBreak)
    )


def cut_excerpt(text: str) -> str:
    """Cut a data value for a message."""
    text = " ".join(text.split())
    return text if len(text) <= EXCERPT_CHARACTERS else text[:EXCERPT_CHARACTERS] + "…"
