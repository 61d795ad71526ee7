"""The colour names of CSS Color 4, section 6.1, as device RGB."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.data_tables import read_table
from workers.engine.units import Color, ColorSpace


def rgb_from_hex(digits: str) -> Color:
    """Return the RGB colour of six hexadecimal digits, components from 0 to 1."""
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return Color(ColorSpace.RGB, (red, green, blue))


NAMED_COLORS: Final[Mapping[str, Color]] = MappingProxyType(
    {name: rgb_from_hex(digits) for name, digits in read_table(__package__, "colors.txt").items()}
)
