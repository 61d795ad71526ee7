"""Computed values of styles, as plain values that layout takes.

The defaults of fields are the initial values. Every style is interned: equal styles are one object, so a
table of 5,000 rows has a handful of them, and layout may cache by identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from workers.engine.syntax.identifiers import ImageSource
from workers.engine.syntax.numbers import NumberFormat
from workers.engine.syntax.typography import Features
from workers.engine.units import AUTO, BLACK, NO_BORDER, ZERO, Border, Color, Length, Sides

DEFAULT_PAGE_FAMILY: Final = "default"
_NO_MARGIN: Final = Sides(ZERO, ZERO, ZERO, ZERO)
_NO_PADDING: Final = Sides(0.0, 0.0, 0.0, 0.0)
_NO_BORDERS: Final = Sides(NO_BORDER, NO_BORDER, NO_BORDER, NO_BORDER)


class Align(StrEnum):
    """CSS `text-align`; `start` and `end` are resolved by direction."""

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
    """CSS `text-wrap-style` (CSS Text 4, 6.4.1): how lines are broken.

    `auto` breaks justified text as `pretty` does, and any other as `stable`, line after line, with
    no single word in the last one where the line before keeps 60 % of its measure.
    """

    AUTO = "auto"
    STABLE = "stable"
    PRETTY = "pretty"
    BALANCE = "balance"


class VerticalAlign(StrEnum):
    """The vertical alignment of a cell's content in its row."""

    TOP = "top"
    MIDDLE = "middle"
    BOTTOM = "bottom"
    BASELINE = "baseline"


class Overflow(StrEnum):
    """The treatment of content that does not fit a limited size.

    `shrunk` is internal: it replaces `shrink` once the content is made smaller.
    """

    ERROR = "error"
    SHRINK = "shrink"
    HIDDEN = "hidden"
    ELLIPSIS = "ellipsis"
    VISIBLE = "visible"
    SHRUNK = "shrunk"


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
    """The style of characters. Sizes in points; `rise` lifts the baseline (sub, super)."""

    families: tuple[str, ...]
    size: float
    weight: int
    is_italic: bool
    color: Color = BLACK
    letter_spacing: float = 0.0
    decoration: str = "none"  # none, underline, line-through
    rise: float = 0.0
    background: Color | None = None
    lang: str = "en"
    stretch: float = 100.0  # width of the font, in per cent of the normal one
    features: Features = ()  # of OpenType, with their values, sorted by tag
    ligatures: Features = ()  # the common ones, where the font has them
    word_spacing: float = 0.0


@dataclass(frozen=True, slots=True)
class LineGrid:
    """The grid of baselines (CSS Line Grid 1): the step in points, and the text of its element."""

    step: float
    text: TextStyle


class HyphenLimits(NamedTuple):
    """Limits of hyphenation (CSS Text 4 §6.3): `chars` are those of a word, before and after a hyphen.

    None is that of the language. `lines` is 0 for no limit, `last` none, column or always.
    """

    chars: tuple[int | None, int | None, int | None] = (None, None, None)
    lines: int = 2
    last: str = "column"
    zone: Length = ZERO


USUAL_HYPHEN_LIMITS: Final = HyphenLimits()


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """The style of lines. `line_height` in points, of the paragraph's own font size.

    `decimal_sign` is the decimal symbol of the language, which `Align.DECIMAL` aligns on.
    """

    line_height: float
    align: Align
    indent: float = 0.0
    white_space: WhiteSpace = WhiteSpace.NORMAL
    hyphens: str = "manual"  # none, manual, auto
    breaks_anywhere: bool = True
    orphans: int = 2
    widows: int = 2
    is_rtl: bool = False
    decimal_sign: str = "."
    text_wrap: TextWrap = TextWrap.AUTO
    hanging: tuple[str, ...] = ()  # keywords of `hanging-punctuation`
    initial_letter: tuple[float, int] | None = None  # its size and its sink in lines
    line_grid: LineGrid | None = None
    hyphen_limits: HyphenLimits = USUAL_HYPHEN_LIMITS
    has_autospace: bool = True  # CSS Text 4 §8.3
    has_spacing_trim: bool = True  # CSS Text 4 §8.4
    breaks_before_kana: bool = False  # of any size: `line-break="normal"`, CSS Text 3 §5.2


@dataclass(frozen=True, slots=True)
class BoxStyle:
    """A block's box, CSS border-box sizes. Margins may be `auto`; paddings are points."""

    width: Length = AUTO
    height: Length = AUTO
    min_width: Length = ZERO
    max_width: Length | None = None
    min_height: Length = ZERO
    max_height: Length | None = None
    margin: Sides[Length] = _NO_MARGIN
    padding: Sides[float] = _NO_PADDING
    border: Sides[Border] = _NO_BORDERS
    radius: float = 0.0
    background: Color | None = None
    background_image: ImageSource | None = None
    opacity: float = 1.0
    overflow: Overflow = Overflow.ERROR
    min_font_size: float | None = None
    rotate: float = 0.0
    vertical_align: VerticalAlign = VerticalAlign.TOP


@dataclass(frozen=True, slots=True)
class BreakStyle:
    """CSS Fragmentation: breaks around and inside a block."""

    before: BreakTo = BreakTo.AUTO
    after: BreakTo = BreakTo.AUTO
    avoid_inside: bool = False
    page: str | None = None  # page family, inherited; None is the flow's
    counter_reset: int | None = None  # first page number of a new page sequence


@dataclass(frozen=True, slots=True)
class Numbering:
    """The counters an element resets, sets and advances, and the number it shows.

    `width` is the column of the number in points, None if the text follows it. `resets` are
    counters with their next number, `sets` those with their number here.
    """

    format: NumberFormat | None
    counter: str
    width: float | None
    resets: tuple[tuple[str, int], ...]
    sets: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Style:
    """The computed style of one element; `numbering` is None if it counts nothing."""

    text: TextStyle
    paragraph: ParagraphStyle
    box: BoxStyle
    breaks: BreakStyle
    numbering: Numbering | None = None
