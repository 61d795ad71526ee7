"""Lengths, colours, borders and sides: the values of properties, in points once they are absolute."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, Generic, NamedTuple, TypeVar

SideT = TypeVar("SideT")

POINTS_PER_MM: Final = 72 / 25.4


class LengthKind(Enum):
    """What a length is measured against."""

    POINTS = "pt"
    PERCENT = "%"
    SHARE = "fr"
    AUTO = "auto"


class Length(NamedTuple):
    """A width, height or margin. Font-relative units are already points when a style is resolved."""

    value: float
    kind: LengthKind = LengthKind.POINTS

    def resolve(self, base: float) -> float | None:
        """Give points, per cent taken of `base`; None for `auto` and `fr`."""
        if self.kind is LengthKind.POINTS:
            return self.value
        if self.kind is LengthKind.PERCENT:
            return self.value * base / 100
        return None


AUTO: Final = Length(0.0, LengthKind.AUTO)
ZERO: Final = Length(0.0)


def mm(value: float) -> float:
    """Give millimetres as points."""
    return value * POINTS_PER_MM


class ColorSpace(StrEnum):
    """The device colour spaces of PDF 1.7, 8.6.4."""

    RGB = "rgb"
    CMYK = "cmyk"


class Color(NamedTuple):
    """A device colour; components from 0 to 1."""

    space: ColorSpace
    components: tuple[float, ...]


BLACK: Final = Color(ColorSpace.RGB, (0.0, 0.0, 0.0))


class BorderStyle(StrEnum):
    """Line styles of a border."""

    NONE = "none"
    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class Border:
    """One side's line; `width` in points."""

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
