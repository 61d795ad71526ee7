"""Values of properties: lengths in points, colours and their names in CSS, borders and sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, Generic, NamedTuple, TypeVar

from workers.engine.data_tables import read_table

SideT = TypeVar("SideT")

POINTS_PER_MM: Final = 72 / 25.4


class LengthKind(Enum):
    """The units that remain after the cascade."""

    POINTS = "pt"
    PERCENT = "%"
    FRACTION = "fr"
    AUTO = "auto"
    BETWEEN = "between"  # points of a built-in margin, which is only between blocks


class Length(NamedTuple):
    """A width, height or margin; font-relative units are already resolved to points."""

    value: float
    kind: LengthKind = LengthKind.POINTS

    def resolve(self, base: float) -> float | None:
        """Return the length in points, with per cent of `base`; None for `auto` and `fr`."""
        if self.kind is LengthKind.POINTS or self.kind is LengthKind.BETWEEN:
            return self.value
        if self.kind is LengthKind.PERCENT:
            return self.value * base / 100
        return None


AUTO: Final = Length(0.0, LengthKind.AUTO)
ZERO: Final = Length(0.0)


def mm(value: float) -> float:
    """Return millimetres in points."""
    return value * POINTS_PER_MM


class ColorSpace(StrEnum):
    """The device colour spaces of PDF 1.7, 8.6.4."""

    RGB = "rgb"
    CMYK = "cmyk"


class Color(NamedTuple):
    """A device colour; components from 0 to 1.

    One with an `ink` is a share of that spot colour, `tint`; the components are those of the full ink.
    """

    space: ColorSpace
    components: tuple[float, ...]
    ink: str = ""
    tint: float = 1.0


def tint_color(color: Color, share: float) -> Color:
    """Return a tint: a share of a colour, the rest white."""
    if color.ink:
        return color._replace(tint=color.tint * share)
    if color.space is ColorSpace.CMYK:
        return Color(color.space, tuple(part * share for part in color.components))
    return Color(color.space, tuple(1 - (1 - part) * share for part in color.components))


def to_black_ink(color: Color) -> Color:
    """Return a grey of RGB as a share of black ink, and any other colour as it is."""
    if color.space is ColorSpace.RGB and len(set(color.components)) == 1 and not color.ink:
        return Color(ColorSpace.CMYK, (0.0, 0.0, 0.0, 1 - color.components[0]))
    return color


def is_chromatic(color: Color) -> bool:
    """Return whether a colour is of RGB and no grey, which print takes as black ink."""
    return color.space is ColorSpace.RGB and to_black_ink(color) is color


def to_rgb(color: Color) -> tuple[float, float, float]:
    """Return the components of a colour in RGB; those of CMYK are converted plainly."""
    if color.tint < 1:
        color = tint_color(color._replace(ink="", tint=1.0), color.tint)
    *parts, last = color.components
    if color.space is ColorSpace.CMYK:
        red, green, blue = ((1 - part) * (1 - last) for part in parts)
        return red, green, blue
    return parts[0], parts[1], last


def relative_luminance(color: Color) -> float:
    """Return the relative luminance of a colour (WCAG 2.2), from 0 to 1.

    That of a CMYK colour is of its plain conversion to RGB.
    """
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


BLACK: Final = Color(ColorSpace.RGB, (0.0, 0.0, 0.0))
WHITE: Final = Color(ColorSpace.RGB, (1.0, 1.0, 1.0))


class BorderStyle(StrEnum):
    """Border styles (CSS Backgrounds 3 §4.2)."""

    NONE = "none"
    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class Border:
    """The border of one side; `width` in points."""

    width: float
    style: BorderStyle
    color: Color


NO_BORDER: Final = Border(0.0, BorderStyle.NONE, BLACK)


class Sides(NamedTuple, Generic[SideT]):
    """A value for each side of a box, in CSS order."""

    top: SideT
    right: SideT
    bottom: SideT
    left: SideT


def rgb_from_hex(digits: str) -> Color:
    """Return the RGB colour of six hexadecimal digits, components from 0 to 1."""
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return Color(ColorSpace.RGB, (red, green, blue))


NAMED_COLORS: Final[Mapping[str, Color]] = {
    name: rgb_from_hex(digits) for name, digits in read_table(__package__, "colors.txt").items()
}
