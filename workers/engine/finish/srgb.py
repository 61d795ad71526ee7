"""The sRGB colour profile (IEC 61966-2.1) as an ICC file, computed from its definition."""

from __future__ import annotations

import struct
from functools import cache
from typing import Final

# ICC.1:2001-04, 10.2: the primaries and the white point of sRGB adapted to D50.
_WHITE: Final = (0.9642, 1.0, 0.8249)
_RED: Final = (0.4360747, 0.2225045, 0.0139322)
_GREEN: Final = (0.3850649, 0.7168786, 0.0971045)
_BLUE: Final = (0.1430804, 0.0606169, 0.7141733)
_CURVE_POINTS: Final = 1024
_NAME: Final = b"sRGB IEC61966-2.1"
_HEADER: Final = 128


@cache
def make_srgb_profile() -> bytes:
    """Return the profile; the result is constant."""
    curve = _curve()
    tags = {
        b"desc": _description(_NAME),
        b"cprt": b"text" + bytes(4) + b"No copyright, use freely\0",
        b"wtpt": _xyz(_WHITE),
        b"rXYZ": _xyz(_RED),
        b"gXYZ": _xyz(_GREEN),
        b"bXYZ": _xyz(_BLUE),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    return _assemble(tags)


def _assemble(tags: dict[bytes, bytes]) -> bytes:
    start = _HEADER + 4 + 12 * len(tags)
    offsets: dict[bytes, int] = {}
    body = b""
    for content in tags.values():
        if content not in offsets:  # the three curves share one body
            offsets[content] = start + len(body)
            body += content + bytes(-len(content) % 4)
    table = b"".join(
        struct.pack(">4sII", tag, offsets[content], len(content)) for tag, content in tags.items()
    )
    size = start + len(body)
    return _header(size) + struct.pack(">I", len(tags)) + table + body


def _header(size: int) -> bytes:
    """Return the header of a display profile of version 2.1, with the date of the sRGB standard."""
    return struct.pack(
        ">I4sI4s4s4s6H4s4sI4s4sQI3i4s44x",
        *(size, b"", 0x02100000, b"mntr", b"RGB ", b"XYZ "),
        *(1999, 10, 18, 0, 0, 0),
        *(b"acsp", b"", 0, b"", b"sRGB", 0, 0),
        *map(_fixed, _WHITE),
        b"",
    )


def _description(text: bytes) -> bytes:
    """Return a textDescriptionType with an ASCII text, and empty Unicode and script codes."""
    return b"desc" + bytes(4) + struct.pack(">I", len(text) + 1) + text + b"\0" + bytes(8 + 3 + 67)


def _xyz(values: tuple[float, float, float]) -> bytes:
    return b"XYZ " + bytes(4) + struct.pack(">3i", *map(_fixed, values))


def _fixed(value: float) -> int:
    return round(value * 65536)


def _curve() -> bytes:
    points = [_linear(at / (_CURVE_POINTS - 1)) for at in range(_CURVE_POINTS)]
    values = [round(point * 65535) for point in points]
    return b"curv" + bytes(4) + struct.pack(f">I{_CURVE_POINTS}H", _CURVE_POINTS, *values)


def _linear(value: float) -> float:
    """Decode a component (IEC 61966-2-1, 5.2)."""
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
