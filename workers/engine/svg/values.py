"""Parsers of attribute values: numbers, lengths, transforms and colours; None for an invalid value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from colorsys import hls_to_rgb
from functools import lru_cache
from math import cos, radians, sin, tan
from typing import Final, NamedTuple

from workers.engine.prepared_images import Matrix
from workers.engine.units import NAMED_COLORS

RGB = tuple[float, float, float]
Box = tuple[float, float, float, float]  # left, top, right and bottom

IDENTITY: Final[Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
MAX_NUMBER: Final = 1e9  # no drawing has larger ones; keeps sums and products finite

# Possessive, so that a run of digits matches in only one way, however many numbers follow. For
# `|(?!)` see decision 0302.
_NUMBER: Final = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++|(?!))?+"
NUMBERS: Final = re.compile(_NUMBER)
_LENGTH: Final = re.compile(rf"\s*+({_NUMBER})\s*+([a-zA-Z]{{1,3}}|%)?\s*+\Z")
_TRANSFORM: Final = re.compile(r"([a-zA-Z]++)\s*+\(([^()]{0,400})\)[\s,]*+")
_ARGUMENT: Final = re.compile(rf"({_NUMBER})(px|deg|rad|grad|turn)?")
# What a drawing has in light mode (CSS Color 5), and without custom properties.
_LIGHT: Final = re.compile(r"light-dark\(\s*((?:[^(),]|\([^()]{0,100}\)){1,200}),.*\)\Z", re.DOTALL)
_FALLBACK: Final = re.compile(r"var\(\s*--[\w-]{1,100}\s*,\s*((?:[^()]|\([^()]{0,100}\)){1,200})\)")
_COMPUTED: Final = re.compile(r"calc\(|\dv(?:w|h|min|max)\b", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[\s,]+")
_CALL: Final = re.compile(r"(rgba?|hsla?)\(([^()]{1,100})\)")
_COMPONENT: Final = re.compile(rf"({_NUMBER})(%|deg|rad|turn)?")
_URL: Final = re.compile(
    r"url\(\s*(?:\"([^\"]*+)\"|'([^']*+)'|([^'\")\s]*+))\s*\)\s*(.*)", re.DOTALL | re.IGNORECASE
)
# An ICC or device colour after the sRGB fallback (SVG 1.1 §11.2).
_ICC: Final = re.compile(r"\s+(?:icc-color|device-cmyk)\([^()]{0,200}\)\Z", re.IGNORECASE)
ROOT_FONT_SIZE: Final = 16.0
_PER_UNIT: Final = {
    "px": 1.0,
    "pt": 96 / 72,
    "pc": 16.0,
    "mm": 96 / 25.4,
    "cm": 960 / 25.4,
    "q": 24 / 25.4,
    "in": 96.0,
}


_ACROSS: Final = frozenset({"x", "width", "cx", "rx", "fx", "x1", "x2", "markerWidth"})
_DOWN: Final = frozenset({"y", "height", "cy", "ry", "fy", "y1", "y2", "markerHeight"})
LENGTHS: Final = _ACROSS | _DOWN | {"r", "fr", "dx", "dy", "stroke-width", "font-size"}


class Viewport(NamedTuple):
    """The size that percentages refer to, and the font size that em refers to, in user units."""

    width: float
    height: float
    font_size: float = 16.0

    def basis_of(self, name: str) -> float:
        """Return the length that percentages of an attribute refer to (SVG 2 §8.9)."""
        if name in _ACROSS:
            return self.width
        return self.height if name in _DOWN else self.diagonal

    @property
    def diagonal(self) -> float:
        """The length that percentages of neither direction refer to (SVG 2 §8.9)."""
        return float(((self.width**2 + self.height**2) / 2) ** 0.5)


def to_number(text: str | None, default: float = 0.0) -> float:
    """Parse a number, or a percentage as a fraction."""
    match = _LENGTH.match(text or "")
    if match is None or match[2] not in (None, "%"):
        return default
    value = _clamp_number(float(match[1]))
    return value / 100 if match[2] else value


def to_numbers(text: str) -> list[float]:
    """Parse a list of numbers."""
    return [_clamp_number(float(number)) for number in NUMBERS.findall(text)]


def to_length(text: str | None, basis: float, font_size: float = 16.0) -> float | None:
    """Parse a length in user units; percentages refer to `basis`. None if invalid."""
    match = _LENGTH.match(text or "")
    if match is None:
        return None
    value, unit = _clamp_number(float(match[1])), (match[2] or "px").lower()
    if unit == "%":
        return value * basis / 100
    if unit == "em":
        return value * font_size
    if unit == "rem":  # of the root element, where its size is the usual one
        return value * ROOT_FONT_SIZE
    if unit in ("ex", "ch"):
        return value * font_size / 2
    per_unit = _PER_UNIT.get(unit)
    return None if per_unit is None else value * per_unit


def is_computed(text: str) -> bool:
    """Return whether a length is one that browsers compute and that has no value here: of `calc()` or a window."""
    return _COMPUTED.search(text) is not None


def read_length(
    attributes: Mapping[str, str], name: str, viewport: Viewport, default: float = 0.0
) -> float:
    """Return a length attribute in user units."""
    text = attributes.get(name)
    found = None if text is None else to_length(text, viewport.basis_of(name), viewport.font_size)
    return default if found is None else found


def read_lengths(
    attributes: Mapping[str, str], names: Iterable[str], viewport: Viewport, default: float = 0.0
) -> list[float]:
    """Return length attributes in user units."""
    return [read_length(attributes, name, viewport, default) for name in names]


def to_lengths(text: str, basis: float, font_size: float) -> list[float]:
    """Parse a list of lengths up to the first invalid one."""
    found: list[float] = []
    for part in text.replace(",", " ").split():
        length = to_length(part, basis, font_size)
        if length is None:
            break
        found.append(length)
    return found


def _clamp_number(value: float) -> float:
    return max(-MAX_NUMBER, min(MAX_NUMBER, value))


def simplify_value(text: str) -> str:
    """Return a value of CSS without `var()` and `light-dark()`, which have a fallback and a light mode."""
    if "(" in text:
        text = _FALLBACK.sub(lambda found: found[1].strip(), text)
        text = _LIGHT.sub(lambda found: found[1].strip(), text)
    return text


# --- transforms (CSS Transforms 1) ------------------------------------------------------------------


def multiply_matrices(outer: Matrix, inner: Matrix) -> Matrix:
    """Return the matrix that applies `inner` first, then `outer`."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return (
        *(a * g + c * h, b * g + d * h),
        *(a * i + c * j, b * i + d * j),
        *(a * k + c * m + e, b * k + d * m + f),
    )


def transform_point(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return a transformed point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def enclose(boxes: Sequence[Box]) -> Box | None:
    """Return the box around some boxes, None for none."""
    if not boxes:
        return None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def transform_box(matrix: Matrix, box: Box) -> Box:
    """Return the box around a transformed box."""
    left, top, right, bottom = box
    corners = [transform_point(matrix, x, y) for x in (left, right) for y in (top, bottom)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def invert(matrix: Matrix) -> Matrix | None:
    """Return the inverse of a matrix, None for a singular one."""
    a, b, c, d, e, f = matrix
    det = a * d - b * c
    if not abs(det) > 1e-12:
        return None
    return (d / det, -b / det, -c / det, a / det, (c * f - d * e) / det, (b * e - a * f) / det)


def to_matrix(text: str | None) -> Matrix | None:
    """Parse a transform list (CSS Transforms 1 §8); None for an invalid one."""
    if not text or text == "none":
        return IDENTITY
    result, at = IDENTITY, 0
    text = text.strip()
    while at < len(text):
        match = _TRANSFORM.match(text, at)
        if match is None:
            return None
        function_matrix = _parse_function(match[1], match[2])
        if function_matrix is None:
            return None
        result, at = multiply_matrices(result, function_matrix), match.end()
    return result if all(abs(part) < MAX_NUMBER for part in result) else None


def _parse_function(name: str, text: str) -> Matrix | None:  # noqa: PLR0911 - a table of transforms
    if _BETWEEN.sub("", _ARGUMENT.sub("", text)):
        return None
    # Numbers need no separator before a sign.
    numbers = [_in_degrees(*argument) for argument in _ARGUMENT.findall(text)]
    match name, numbers:
        case "matrix", [a, b, c, d, e, f]:
            return a, b, c, d, e, f
        case (("translate" | "translateX"), [x]):
            return 1, 0, 0, 1, x, 0
        case "translateY", [y]:
            return 1, 0, 0, 1, 0, y
        case "translate", [x, y]:
            return 1, 0, 0, 1, x, y
        case "scale", [x]:
            return x, 0, 0, x, 0, 0
        case "scale", [x, y]:
            return x, 0, 0, y, 0, 0
        case "rotate", [angle]:
            return _rotation_matrix(angle)
        case "rotate", [angle, x, y]:
            return multiply_matrices(
                multiply_matrices((1, 0, 0, 1, x, y), _rotation_matrix(angle)), (1, 0, 0, 1, -x, -y)
            )
        case "skewX", [angle]:
            return 1, 0, tan(radians(angle)), 1, 0, 0
        case "skewY", [angle]:
            return 1, tan(radians(angle)), 0, 1, 0, 0
    return None


def _in_degrees(number: str, unit: str) -> float:
    """Return a number with the unit of CSS Transforms: px, or an angle in degrees."""
    per_unit = {"rad": 57.29577951308232, "turn": 360.0, "grad": 0.9}.get(unit, 1.0)
    return _clamp_number(float(number)) * per_unit


def _rotation_matrix(angle: float) -> Matrix:
    cosine, sine = cos(radians(angle)), sin(radians(angle))
    return cosine, sine, -sine, cosine, 0.0, 0.0


# --- colours (CSS Color 4) --------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def to_color(text: str) -> tuple[RGB, float] | None:
    """Parse a colour and its opacity (CSS Color 4); None if invalid."""
    text = _ICC.sub("", text.strip().lower())
    if text.startswith("#"):
        return _from_hex(text[1:])
    if text == "transparent":
        return (0.0, 0.0, 0.0), 0.0
    named = NAMED_COLORS.get(text)
    if named is not None:
        red, green, blue = named.components
        return (red, green, blue), 1.0
    call = _CALL.match(text)
    return _from_call(call[1], call[2]) if call else None


def _from_hex(digits: str) -> tuple[RGB, float] | None:
    if len(digits) in (3, 4):
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) not in (6, 8) or not all(digit in "0123456789abcdef" for digit in digits):
        return None
    red, green, blue, *alpha = (
        int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)
    )
    return (red, green, blue), alpha[0] if alpha else 1.0


def _from_call(name: str, text: str) -> tuple[RGB, float] | None:
    parts = _COMPONENT.findall(text)
    if len(parts) not in (3, 4):
        return None
    alpha = 1.0
    if len(parts) == 4:
        alpha = _clamp_unit(float(parts[3][0]) / (100 if parts[3][1] == "%" else 1))
    values = [float(number) for number, _ in parts[:3]]
    if name.startswith("hsl"):
        saturation, lightness = (_clamp_unit(value / 100) for value in values[1:])
        return hls_to_rgb(values[0] % 360 / 360, lightness, saturation), alpha
    red, green, blue = (
        _clamp_unit(value / (100 if unit == "%" else 255))
        for value, (_, unit) in zip(values, parts, strict=False)
    )
    return (red, green, blue), alpha


def _clamp_unit(value: float) -> float:
    return max(0.0, min(1.0, value))


def to_opacity(text: str | None) -> float:
    """Parse an opacity, 1 if invalid."""
    return _clamp_unit(to_number(text, 1.0))


def to_reference(text: str) -> tuple[str, str] | None:
    """Parse `url(#id) fallback` into the id, empty for one outside of the file, and the fallback;
    None for other values.
    """
    match = _URL.match(text.strip())
    if match is None:
        return None
    target = match[1] or match[2] or match[3] or ""
    return target[1:] if target.startswith("#") else "", match[4].strip()
