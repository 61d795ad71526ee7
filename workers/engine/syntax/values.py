"""The value types of attributes: the accepted texts, and their parsers.

`ValueType.parse` returns the value or raises ValueError with the accepted texts as its message; the
caller adds the attribute, the element and the text. Absolute lengths are in points. The tree stage
resolves `RelativeLength` (`em`, `rem`) and `ColorName` (colours declared by `color`).
"""

from __future__ import annotations

import base64
import binascii
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import unquote_to_bytes

from workers.engine.fonts import GENERIC_FAMILIES
from workers.engine.syntax.identifiers import (
    LANGUAGE_TAG,
    ImageSource,
    find_web_address,
    read_language,
    read_link,
)
from workers.engine.syntax.suggestions import join_words
from workers.engine.units import (
    AUTO,
    BLACK,
    NAMED_COLORS,
    ZERO,
    BorderStyle,
    Color,
    ColorSpace,
    Length,
    LengthKind,
    Sides,
    mm,
    rgb_from_hex,
)

T = TypeVar("T")

MAX_LENGTH: Final = mm(5000)  # PDF 1.7, C.2 ends at 14,400 units, which is 5.08 m
MAX_RELATIVE: Final = 100.0  # em and rem
MAX_PERCENT: Final = 1000.0
MAX_FRACTION: Final = 10_000.0  # fr
MAX_PATTERN: Final = 200  # characters of a regular expression; bounds its nesting


class FontUnit(StrEnum):
    """Font-relative units: `em` of the element's font size, `rem` of the document's."""

    EM = "em"
    REM = "rem"


class RelativeLength(NamedTuple):
    """A length in font sizes; the tree stage resolves it to points."""

    value: float
    unit: FontUnit


class ColorName(NamedTuple):
    """A colour name; a `color` element of that name overrides `standard`, the CSS colour."""

    name: str
    standard: Color | None = None


class BorderValue(NamedTuple):
    """A border as written; its colour may still be a name."""

    width: LengthValue
    style: BorderStyle
    color: ColorValue


class Paper(NamedTuple):
    """A sheet's width and height in points; one `is_open` is as high as its content, at most so high."""

    width: float
    height: float
    is_open: bool = False


class LoopClause(NamedTuple):
    """The parts of a `for`: `name in expression`, or `key, name in expression`."""

    key: str | None
    name: str
    expression: str


LengthValue = Length | RelativeLength
ColorValue = Color | ColorName


@dataclass(frozen=True, slots=True)
class ValueType(Generic[T]):
    """A type of attribute values.

    `form` describes the accepted texts, with `{}` for each of the `parts` that it is made of. Numbers have
    bounds, and lengths the units that may follow them.
    """

    form: str
    read: Callable[[str], T]
    choices: tuple[str, ...] = ()  # keywords, for suggestions
    parts: tuple[ValueType[Any], ...] = ()
    is_closed: bool = False  # only the keywords are accepted
    minimum: float | None = None
    maximum: float | None = None
    is_whole: bool = False  # a number without a fraction
    units: tuple[str, ...] = ()

    @property
    def accepts(self) -> str:
        """The accepted texts, for messages and the manual."""
        return self.form.format(*(one.accepts for one in self.parts)) if self.parts else self.form

    def parse(self, text: str) -> T:
        """Parse a value.

        Raises:
            ValueError: the text is not accepted; the message is `accepts`.
        """
        try:
            return self.read(text.strip())
        except (ValueError, ArithmeticError, LookupError):
            raise ValueError(self.accepts) from None


# --- words and names ----------------------------------------------------------------------------------

_TEMPLATE_REFERENCE: Final = re.compile(
    r"(?!__.*__@)[A-Za-z0-9_-]{1,128}@(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*"
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{0,99}", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_LOOP: Final = re.compile(r"(?:(\w+)\s*,\s*)?(\w+)\s+in\s+(\S.*)", re.ASCII | re.DOTALL)
_FAMILY: Final = re.compile(r"[^\W_][\w .-]{0,99}")
_STORED_IMAGE: Final = re.compile(r"(?=.{3,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_DATA_IMAGE: Final = re.compile(r"(?i)data:(?:image/[a-z0-9.+-]{1,40}|application/pdf);base64,")
# SVG is text, and often percent-encoded.
_DATA_SVG: Final = re.compile(r"(?i)data:image/svg\+xml(?:;charset=[a-z0-9-]{1,20}|;utf8)?,")

# Keywords of the expression grammar and predefined names.
RESERVED_NAMES: Final = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "none"}
    | {"True", "False", "None", "data", "now", "today", "doc", "page", "totals", "loop"}
)


def matching(pattern: re.Pattern[str]) -> Callable[[str], str]:
    """Return a parser that accepts a text if a pattern matches all of it, and raises ValueError otherwise."""

    def read(text: str) -> str:
        if pattern.fullmatch(text) is None:
            raise ValueError(text)
        return text

    return read


def _read_expression(text: str) -> str:
    if not text or "{{" in text:
        raise ValueError(text)
    return text


def _read_names(text: str) -> tuple[str, ...]:
    names = tuple(text.split())
    if not names or not all(_NAME.fullmatch(name) for name in names):
        raise ValueError(text)
    return names


def _read_variable(text: str) -> str:
    if _VARIABLE.fullmatch(text) is None or text in RESERVED_NAMES:
        raise ValueError(text)
    return text


def _read_path(text: str) -> tuple[str, ...]:
    steps = tuple(text.split("."))
    if len(steps) > 20 or not all(_VARIABLE.fullmatch(step) for step in steps):
        raise ValueError(text)
    return steps


def _read_loop(text: str) -> LoopClause:
    match = _LOOP.fullmatch(text)
    if match is None or "{{" in text:
        raise ValueError(text)
    key, name, expression = match.groups()
    return LoopClause(key and _read_variable(key), _read_variable(name), expression)


def _read_families(text: str) -> tuple[str, ...]:
    families = tuple(part.strip().strip("'\"").strip() for part in text.split(","))
    if len(families) > 20 or not all(_FAMILY.fullmatch(family) for family in families):
        raise ValueError(text)
    return families


def _read_family(text: str) -> str:
    if _FAMILY.fullmatch(text) is None or text.lower() in GENERIC_FAMILIES:
        raise ValueError(text)
    return text


def _read_word_list(text: str) -> tuple[str, ...]:
    parts = text.split(",") if "," in text else text.split()
    words = tuple(part.strip() for part in parts)
    if not all(words) or not words:
        raise ValueError(text)
    return words


def _read_pattern(text: str) -> re.Pattern[str]:
    if not text or len(text) > MAX_PATTERN:
        raise ValueError(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarning: `[[` may become a nested set
            return re.compile(text)
    except (re.error, RecursionError, OverflowError):
        raise ValueError(text) from None


def _read_image(text: str) -> ImageSource:
    if _STORED_IMAGE.fullmatch(text):
        return ImageSource(text)
    if (address := find_web_address(text)) is not None:
        return ImageSource(address)
    if drawing := _DATA_SVG.match(text):
        return ImageSource(unquote_to_bytes(text[drawing.end() :]))
    head = _DATA_IMAGE.match(text)
    if head is None:
        raise ValueError(text)
    try:
        return ImageSource(base64.b64decode("".join(text[head.end() :].split()), validate=True))
    except binascii.Error:
        raise ValueError(text) from None


def choice(*words: str) -> ValueType[str]:
    """Return a value type that accepts one of some keywords."""
    return keywords({word: word for word in words})


def keywords(values: Mapping[str, T]) -> ValueType[T]:
    """Return a value type that accepts one of some keywords, each for its value."""
    words = tuple(values)
    return ValueType(join_words(words, "or"), values.__getitem__, words, is_closed=True)


TEXT: Final[ValueType[str]] = ValueType("text", str)
NAME: Final = ValueType(
    "a name of letters, digits, _ . and -, beginning with a letter", matching(_NAME)
)
TEMPLATE_REFERENCE: Final = ValueType(
    "the id or slug of a template and a selector: letterhead@3, letterhead@approved for a tag, "
    "letterhead@latest or letterhead@live",
    matching(_TEMPLATE_REFERENCE),
)
NAMES: Final = ValueType("names of letters, digits, _ . and -, separated by spaces", _read_names)
VARIABLE: Final = ValueType(
    "a name of letters, digits and _ that is not a word of the language", _read_variable
)
DATA_PATH: Final = ValueType("a dotted path of names, such as buyer.name", _read_path)
EXPRESSION: Final = ValueType("an expression, written without braces", _read_expression)
LOOP: Final = ValueType("name in expression, or key, name in expression", _read_loop)
LANG: Final = ValueType(LANGUAGE_TAG, read_language)
CURRENCY: Final = ValueType(
    "a currency code of three capital letters, such as EUR", matching(re.compile("[A-Z]{3}"))
)
TIMEZONE: Final = ValueType(
    "a time zone such as UTC or Europe/London",
    matching(re.compile(r"[A-Za-z][\w+-]{0,40}(?:/[\w+-]{1,40}){0,2}", re.ASCII)),
)
FAMILY: Final = ValueType(
    "the name of a font family: letters, digits, spaces, _ . and -", _read_family
)
FAMILIES: Final = ValueType("font families, separated by commas", _read_families)
WORD_LIST: Final = ValueType("values separated by commas, or by spaces", _read_word_list)
PATTERN: Final = ValueType(
    f"a regular expression of at most {MAX_PATTERN} characters", _read_pattern
)
IMAGE: Final = ValueType(
    "the name of a stored image, an https address, or a data address in base64", _read_image
)
STORED_IMAGE: Final = ValueType(
    "the name of a stored image: 3 to 64 lowercase letters, digits and single hyphens",
    matching(_STORED_IMAGE),
)
OUTPUT_INTENT: Final = ValueType(
    "the name of a stored ICC profile, of 3 to 64 lowercase letters, digits and single hyphens",
    matching(_STORED_IMAGE),
)
STORED_FONT: Final = ValueType(
    "the name of a stored font: 3 to 64 lowercase letters, digits and single hyphens",
    matching(_STORED_IMAGE),
)
LINK: Final = ValueType("an http, https, mailto or tel address, or #id", read_link)


# --- numbers --------------------------------------------------------------------------------------------

# CSS Fonts 4 §2.3: the keywords of `font-stretch`, in per cent.
STRETCHES: Final[Mapping[str, float]] = {
    "ultra-condensed": 50.0,
    "extra-condensed": 62.5,
    "condensed": 75.0,
    "semi-condensed": 87.5,
    "normal": 100.0,
    "semi-expanded": 112.5,
    "expanded": 125.0,
    "extra-expanded": 150.0,
    "ultra-expanded": 200.0,
}
_SETTING: Final = re.compile(r"""["']?([A-Za-z0-9]{4})["']?\s+(\S+)""", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_FILTERS: Final = re.compile(r"[a-z_]+(?:\s*[(|].*)?", re.ASCII | re.DOTALL)
_COUNT: Final = re.compile(r"[+-]?\d{1,9}", re.ASCII)


def _read_number(text: str) -> float:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    return float(text)


def number(low: float, high: float) -> ValueType[float]:
    """Return a value type that accepts a number within bounds."""
    return ValueType(
        f"a number from {low:g} to {high:g}",
        lambda text: _within(_read_number(text), low, high),
        minimum=low,
        maximum=high,
    )


def count(low: int, high: int) -> ValueType[int]:
    """Return a value type that accepts an integer within bounds."""

    def read(text: str) -> int:
        if _COUNT.fullmatch(text) is None:
            raise ValueError(text)
        return int(_within(int(text), low, high))

    form = f"a whole number from {low} to {high}"
    return ValueType(form, read, minimum=low, maximum=high, is_whole=True)


PDF_PAGE: Final = count(1, 10_000)


def _read_chart_bound(text: str) -> Decimal | date:
    if _NUMBER.fullmatch(text) is not None:
        return Decimal(text)
    return date.fromisoformat(matching(_DATE)(text))


def _read_filters(text: str) -> str:
    if _FILTERS.fullmatch(text) is None or "{{" in text:
        raise ValueError(text)
    return text


def _within(value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise ValueError(value)
    return value


def _read_weight(text: str) -> int:
    weight = {"normal": 400, "bold": 700}.get(text) or WEIGHTS.parse(text)
    if weight % 100:
        raise ValueError(text)
    return weight


def _read_stretch(text: str) -> float:
    if text in STRETCHES:
        return STRETCHES[text]
    if not text.endswith("%"):
        raise ValueError(text)
    return _within(_read_number(text[:-1]), 50, 200)


def _read_range(text: str, read: Callable[[str], float]) -> tuple[float, float]:
    ends = tuple(map(read, text.split()))
    if len(ends) not in (1, 2) or ends[0] > ends[-1]:
        raise ValueError(text)
    return ends[0], ends[-1]


def _read_settings(text: str) -> tuple[tuple[str, float], ...]:
    settings: dict[str, float] = {}
    for part in text.split(","):
        match = _SETTING.fullmatch(part.strip())
        if match is None or len(settings) >= 20:
            raise ValueError(text)
        settings[match[1]] = _read_number(match[2])
    return tuple(sorted(settings.items()))


def _read_angle(text: str) -> float:
    value = _read_number(text.removesuffix("deg"))
    if value and not text.endswith("deg"):
        raise ValueError(text)
    return _within(value, -360, 360)


CHART_BOUND: Final = ValueType("a number, or a date such as 2026-03-01", _read_chart_bound)
FILTERS: Final = ValueType("a filter with its arguments, such as number(1)", _read_filters)
BOOLEAN: Final = keywords({"true": True, "false": False})
OPACITY: Final = number(0, 1)
WEIGHTS: Final = count(100, 900)
FONT_WEIGHT: Final = ValueType("normal, bold, or 100 to 900 in hundreds", _read_weight)
FONT_STRETCH: Final = keywords(STRETCHES)
WEIGHT_RANGE: Final = ValueType(
    "normal, bold, or 100 to 900 in hundreds; two of them for a variable font, such as 100 900",
    lambda text: _read_range(text, _read_weight),
)
STRETCH_RANGE: Final = ValueType(
    "a width such as condensed, or 50% to 200%; two of them for a variable font, such as 75% 125%",
    lambda text: _read_range(text, _read_stretch),
)
AXES: Final = ValueType(
    "axes of a variable font and their values, such as 'GRAD' 50, 'opsz' 14", _read_settings
)
ANGLE: Final = ValueType("an angle from -360deg to 360deg", _read_angle)


# --- lengths --------------------------------------------------------------------------------------------

_POINTS: Final = {
    "mm": 72 / 25.4,
    "cm": 72 / 2.54,
    "in": 72.0,
    "pt": 1.0,
    "pc": 12.0,
    "px": 0.75,  # 96 pixels per inch (CSS Values 4 §6.2)
}
_UNITS: Final = (*_POINTS, "em", "rem")
_LENGTH: Final = re.compile(r"(.*?)(mm|cm|in|pt|pc|px|rem|em|fr|%)?", re.DOTALL)


def length(
    *,
    low: float = 0.0,
    high: float = MAX_LENGTH,
    percent: bool = False,
    fraction: bool = False,
    words: str = "",
) -> ValueType[Any]:
    """Return a value type that accepts a length from `low` to `high`, in points.

    `percent` and `fraction` add `%` and `fr`; `words` adds `auto`, or `none`, which is parsed as None.
    """

    def read(text: str) -> Length | RelativeLength | None:
        if text in words.split():
            return AUTO if text == "auto" else None
        digits, unit = _LENGTH.fullmatch(text).groups("")  # type: ignore[union-attr]  # any text matches
        value = _read_number(digits)
        if unit in _POINTS:
            return Length(_within(value * _POINTS[unit], low, high))
        if unit == "" and value == 0:
            return Length(_within(0.0, low, high))
        if unit in ("em", "rem"):
            floor = -MAX_RELATIVE if low < 0 else 0.0
            return RelativeLength(_within(value, floor, MAX_RELATIVE), FontUnit(unit))
        if unit == "%" and percent:
            return Length(_within(value, 0, MAX_PERCENT), LengthKind.PERCENT)
        if unit == "fr" and fraction:
            return Length(_within(value, 0, MAX_FRACTION), LengthKind.FRACTION)
        raise ValueError(text)

    units = (*_UNITS, *("%",) * percent, *("fr",) * fraction)
    bounds = f", from {low:g}pt to {high:g}pt" if (low, high) != (0.0, MAX_LENGTH) else ""
    others = "".join(f", or {word}" for word in words.split())
    negative = "" if low < 0 else ", not negative"
    return ValueType(
        f"a number with a unit ({' '.join(units)}){bounds or negative}{others}",
        read,
        tuple(words.split()),
        minimum=low,
        maximum=high,
        units=units,
    )


# For one to four values: which of them is that of the top, right, bottom and left.
_SIDES_GIVEN: Final = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1), 4: (0, 1, 2, 3)}


def sides(kind: ValueType[T]) -> ValueType[Sides[T]]:
    """Return a value type that accepts one to four values, for the sides of a box in CSS order."""

    def read(text: str) -> Sides[T]:
        given = [kind.read(part) for part in split_values(text)]
        top, right, bottom, left = (given[at] for at in _SIDES_GIVEN[len(given)])
        return Sides(top, right, bottom, left)

    return ValueType("one to four values, each {}", read, parts=(kind,))


def split_values(text: str) -> list[str]:
    """Split a list of values at white space outside of brackets."""
    return _VALUES.findall(text)


_VALUES: Final = re.compile(r"[^\s(]+(?:\([^()]*\))?|\S+")


def _read_line_height(text: str) -> float | Length | RelativeLength:
    if _NUMBER.fullmatch(text):
        return _within(float(text), 0.5, 10)
    return _LINE_LENGTH.read(text)  # type: ignore[no-any-return]


LENGTH: Final = length()
OPTIONAL_LENGTH: Final = length(words="none")
AUTO_LENGTH: Final = length(words="auto")
SIGNED_LENGTH: Final = length(low=-MAX_LENGTH)
MAX_TRACKS: Final = 100


def _read_tracks(text: str) -> tuple[Length | RelativeLength, ...]:
    tracks: list[Length | RelativeLength] = []
    for part in split_values(text):
        repeated = _REPEAT.fullmatch(part)
        times, widths = (int(repeated[1]), repeated[2]) if repeated else (1, part)
        _within(times, 1, MAX_TRACKS)
        tracks += map(_GRID_TRACK.read, widths.split() * times)
    _within(len(tracks), 1, MAX_TRACKS)
    return tuple(tracks)


_REPEAT: Final = re.compile(r"repeat\(\s*(\d{1,3})\s*,\s*([^()]{1,500}?)\s*\)", re.ASCII)
_GRID_TRACK: Final = length(percent=True, fraction=True)
TRACKS: Final = ValueType(
    f"up to {MAX_TRACKS} widths separated by spaces, such as 60mm 1fr or repeat(3, 1fr), each {{}}",
    _read_tracks,
    parts=(_GRID_TRACK,),
)
TRACK: Final = length(percent=True, fraction=True, words="auto")
FONT_SIZE: Final = length(low=0.5, high=2000, percent=True)
LEAST_FONT_SIZE: Final = length(low=0.5, high=2000)
PARTIAL_LENGTH: Final = length(percent=True)
_LINE_LENGTH: Final = length(low=0.5, high=4000)
LINE_HEIGHT: Final = ValueType(
    "a number from 0.5 to 10, or {}", _read_line_height, parts=(_LINE_LENGTH,)
)


# --- paper ----------------------------------------------------------------------------------------------

# the sizes that CSS Paged Media 3 names (7.1), and A6
_PAPERS: Final = {
    "A3": Paper(mm(297), mm(420)),
    "A4": Paper(mm(210), mm(297)),
    "A5": Paper(mm(148), mm(210)),
    "A6": Paper(mm(105), mm(148)),
    "B4": Paper(mm(250), mm(353)),
    "B5": Paper(mm(176), mm(250)),
    "JIS-B4": Paper(mm(257), mm(364)),
    "JIS-B5": Paper(mm(182), mm(257)),
    "Letter": Paper(612, 792),
    "Legal": Paper(612, 1008),
    "Ledger": Paper(792, 1224),
}
_PAPER_OF_NAME: Final = {name.lower(): paper for name, paper in _PAPERS.items()}
_EDGE: Final = length(low=mm(10), high=MAX_LENGTH)


def _read_paper(text: str) -> Paper:
    parts = text.split()
    paper = _PAPER_OF_NAME.get(parts[0].lower()) if parts else None
    match parts[1:]:
        case [] | ["portrait"] if paper:
            return paper
        case ["landscape"] if paper:
            return Paper(paper.height, paper.width)
        case ["auto"] if paper is None:
            return Paper(_read_edge(parts[0]), MAX_LENGTH, is_open=True)
        case [height] if paper is None:
            return Paper(_read_edge(parts[0]), _read_edge(height))
        case _:
            raise ValueError(text)


def _read_edge(text: str) -> float:
    value = _EDGE.read(text)
    if not isinstance(value, Length):
        raise ValueError(text)
    return value.value


PAPER: Final = ValueType(
    f"{', '.join(_PAPERS)}, alone or with landscape, or a width and a height from 10mm to 5000mm; the height may be auto, that of the content",
    _read_paper,
    tuple(_PAPERS),
)


# --- colours and borders --------------------------------------------------------------------------------

_HEX: Final = re.compile(r"#(?:[0-9A-Fa-f]{3}){1,2}")
_FUNCTION: Final = re.compile(r"(rgb|cmyk)\(([^()]*)\)")
_COLOR_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,99}", re.ASCII)
_COLOR_FORMS: Final = "a colour name, #rgb, #rrggbb, rgb(r g b) or cmyk(c m y k)"


def _read_color(text: str) -> ColorValue:
    if _HEX.fullmatch(text):
        digits = text[1:]
        return rgb_from_hex(digits if len(digits) == 6 else "".join(d * 2 for d in digits))
    if match := _FUNCTION.fullmatch(text):
        return _read_components(match[1], match[2].replace(",", " ").split())
    if _COLOR_NAME.fullmatch(text) is None or text == "transparent":
        raise ValueError(text)
    return ColorName(text, NAMED_COLORS.get(text.lower()))


def _read_components(function: str, parts: list[str]) -> Color:
    if function == "rgb" and len(parts) == 3:
        red, green, blue = (_within(_read_number(part), 0, 255) / 255 for part in parts)
        return Color(ColorSpace.RGB, (red, green, blue))
    if function == "cmyk" and len(parts) == 4:
        inks = (_within(_read_number(part.removesuffix("%")), 0, 100) / 100 for part in parts)
        return Color(ColorSpace.CMYK, tuple(inks))
    raise ValueError(function)


def _read_background(text: str) -> ColorValue | None:
    return None if text == "transparent" else _read_color(text)


def _several(kind: ValueType[T]) -> ValueType[tuple[T, ...]]:
    def read(text: str) -> tuple[T, ...]:
        values = tuple(map(kind.read, split_values(text)))
        _within(len(values), 1, 20)
        return values

    return ValueType("up to 20 values separated by spaces, each {}", read, parts=(kind,))


def _read_plain_color(text: str) -> Color:
    color = _read_color(text)
    if not isinstance(color, ColorName):
        return color
    if color.standard is None:
        raise ValueError(text)
    return color.standard


def _read_border(text: str) -> BorderValue:
    if text == "none":
        return BorderValue(ZERO, BorderStyle.NONE, BLACK)
    width, style, color = split_values(text)
    return BorderValue(_BORDER_WIDTH.read(width), BorderStyle(style), _read_color(color))


_BORDER_WIDTH: Final = length(high=200)
COLOR: Final = ValueType(f"{_COLOR_FORMS}, or the name of a color element", _read_color)
PLAIN_COLOR: Final = ValueType(_COLOR_FORMS, _read_plain_color)
BACKGROUND: Final = ValueType("{}, or transparent", _read_background, parts=(COLOR,))
BACKGROUNDS: Final = _several(BACKGROUND)
COLORS: Final = _several(COLOR)
INK: Final = ValueType(
    "a name of at most 60 characters, such as PANTONE 186 C, but not All or None",
    matching(re.compile(r"(?!(?:All|None)\Z)(?=\S)[^\x00-\x1f\x7f]{0,59}\S")),
)
BORDER: Final = ValueType(
    "width, style and colour, such as 0.5pt solid black, or none; styles are "
    + join_words([style.value for style in BorderStyle if style is not BorderStyle.NONE], "or"),
    _read_border,
)


# --- single words with a second form --------------------------------------------------------------------

_RISE_WORDS: Final = ("sub", "super")


def _read_rise(text: str) -> str | Length | RelativeLength | None:
    return text if text in _RISE_WORDS else SIGNED_LENGTH.read(text)


def _read_vertical_align(text: str) -> str | Length | RelativeLength | None:
    return text if text in CELL_ALIGN.choices else _read_rise(text)


CELL_ALIGN: Final = choice("top", "middle", "bottom", "baseline")
RISE: Final = ValueType(
    f"{join_words(_RISE_WORDS, 'or')}, or {{}}", _read_rise, _RISE_WORDS, (SIGNED_LENGTH,)
)
VERTICAL_ALIGN: Final = ValueType(
    f"in cells {CELL_ALIGN.accepts}, in lines {{}}",
    _read_vertical_align,
    (*CELL_ALIGN.choices, *_RISE_WORDS),
    (RISE,),
)


OFFSET: Final = length(low=-MAX_LENGTH, percent=True)

# Per cent of the difference between box and image (CSS Images 3 §5.6).
_ACROSS: Final = {"left": 0.0, "center": 50.0, "right": 100.0}
_DOWN: Final = {"top": 0.0, "center": 50.0, "bottom": 100.0}


def _read_position(text: str) -> tuple[Length | RelativeLength, Length | RelativeLength]:
    parts = text.split()
    if len(parts) == 1:
        parts = ["center", *parts] if parts[0] in ("top", "bottom") else [*parts, "center"]
    across, down = parts
    if across in ("top", "bottom") or down in ("left", "right"):
        across, down = down, across
    return _read_offset(across, _ACROSS), _read_offset(down, _DOWN)


def _read_offset(text: str, words: dict[str, float]) -> Length | RelativeLength:
    if text in words:
        return Length(words[text], LengthKind.PERCENT)
    return OFFSET.read(text)  # type: ignore[no-any-return]


POSITION: Final = ValueType(
    "one or two of left, center, right, top, bottom, a length or per cent", _read_position
)
DELIMITER: Final = choice(",", ";", "|", "tab")
