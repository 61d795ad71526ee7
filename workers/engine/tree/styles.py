"""Computed styles: what the cascade of language.md 1.5 comes to for one element, as plain values.

Every style is interned: equal styles are one object, so layout may key its caches by identity and a
table of 5,000 rows holds a handful of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workers.engine.syntax.numbers import NumberFormat
from workers.engine.units import Border, Color, Length, Sides


class Align(StrEnum):
    """Where lines stand between the edges; `start` and `end` are resolved by direction in build."""

    LEFT = "left"
    RIGHT = "right"
    CENTER = "center"
    JUSTIFY = "justify"
    DECIMAL = "decimal"


class WhiteSpace(StrEnum):
    """CSS `white-space`."""

    NORMAL = "normal"
    NOWRAP = "nowrap"
    PRE_LINE = "pre-line"
    PRE_WRAP = "pre-wrap"
    PRE = "pre"


class TextWrap(StrEnum):
    """How the breaks of a paragraph are chosen: CSS `text-wrap-style` (CSS Text 4, 6.4.1).

    `auto` breaks justified text as `pretty` does, and any other as `stable`: line after line.
    """

    AUTO = "auto"
    STABLE = "stable"
    PRETTY = "pretty"
    BALANCE = "balance"


class VerticalAlign(StrEnum):
    """How a cell's content stands in its row."""

    TOP = "top"
    MIDDLE = "middle"
    BOTTOM = "bottom"
    BASELINE = "baseline"


class Overflow(StrEnum):
    """What happens to content that a limited size cannot hold (language.md 1.9).

    No author writes `spent`: it is what `shrink` becomes once the content is made smaller.
    """

    ERROR = "error"
    SHRINK = "shrink"
    HIDDEN = "hidden"
    ELLIPSIS = "ellipsis"
    VISIBLE = "visible"
    SPENT = "spent"


class BreakTo(StrEnum):
    """A forced break before or after a block."""

    AUTO = "auto"
    PAGE = "page"
    COLUMN = "column"
    LEFT = "left"
    RIGHT = "right"
    AVOID = "avoid"


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How characters look. Sizes in points; `rise` lifts the baseline (sub, super)."""

    families: tuple[str, ...]
    size: float
    weight: int
    is_italic: bool
    color: Color
    letter_spacing: float
    decoration: str  # none, underline, line-through
    rise: float
    background: Color | None
    lang: str
    stretch: float = 100.0  # width of the font, in per cent of the normal one


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """How lines are made. `line_height` in points, of the paragraph's own font size.

    `decimal_sign` is that of the language, which `Align.DECIMAL` aligns on.
    """

    line_height: float
    align: Align
    indent: float
    white_space: WhiteSpace
    hyphens: str  # none, manual, auto
    breaks_anywhere: bool
    orphans: int
    widows: int
    is_rtl: bool
    decimal_sign: str = "."
    text_wrap: TextWrap = TextWrap.AUTO


@dataclass(frozen=True, slots=True)
class BoxStyle:
    """A block's box, CSS border-box sizes. Margins may be `auto`; paddings are points."""

    width: Length
    height: Length
    min_width: Length
    max_width: Length | None
    min_height: Length
    max_height: Length | None
    margin: Sides[Length]
    padding: Sides[float]
    border: Sides[Border]
    radius: float
    background: Color | None
    background_image: str | bytes | None  # a stored name, or the image itself
    opacity: float
    overflow: Overflow
    min_font_size: float | None
    rotate: float
    vertical_align: VerticalAlign


@dataclass(frozen=True, slots=True)
class BreakStyle:
    """Where the flow may and must break around and inside a block."""

    before: BreakTo
    after: BreakTo
    avoid_inside: bool
    page: str | None  # page family, inherited; None is the flow's
    counter_reset: int | None  # first number of a new numbering run


@dataclass(frozen=True, slots=True)
class Numbering:
    """What an element does to the counters of the document, and the number it shows.

    `width` is the room for the number in points, None where the text follows it. `resets` are
    counters with the number that comes next, `sets` those with the number they have here.
    """

    shape: NumberFormat | None
    counter: str
    width: float | None
    resets: tuple[tuple[str, int], ...]
    sets: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Style:
    """All parts of one element's computed style; no `numbering` where it counts nothing."""

    text: TextStyle
    paragraph: ParagraphStyle
    box: BoxStyle
    breaks: BreakStyle
    numbering: Numbering | None = None
