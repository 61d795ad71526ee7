"""Writes `images/press.icc`: a small ICC profile of a CMYK printer, for files for print.

It is a table of two points in each direction (ICC.1:2001-04, 6.5.8), of no press in particular.
"""

from __future__ import annotations

import struct
from itertools import product
from pathlib import Path

NAME = b"Pressroom test press\0"
IDENTITY = bytes(range(256))


def make() -> bytes:
    points = bytearray()
    for cyan, magenta, yellow, black in product((0, 1), repeat=4):
        light = max(0, 240 - 60 * (cyan + magenta) - 15 * yellow - 200 * black)
        points += bytes((light, 128 - 40 * cyan + 60 * magenta, 128 - 40 * cyan + 80 * yellow))
    one, none = 65536, 0
    matrix = struct.pack(">9i", one, none, none, none, one, none, none, none, one)
    table = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + matrix + 4 * IDENTITY + points + 3 * IDENTITY
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(NAME)) + NAME + bytes(78),
        b"cprt": b"text\0\0\0\0No rights are reserved\0",
        b"wtpt": b"XYZ \0\0\0\0" + struct.pack(">3i", 63190, 65536, 54061),
        b"A2B0": table,
    }
    offset = 128 + 4 + 12 * len(tags)
    index, bodies = struct.pack(">I", len(tags)), b""
    for name, body in tags.items():
        index += name + struct.pack(">2I", offset + len(bodies), len(body))
        bodies += body + bytes(-len(body) % 4)
    size = offset + len(bodies)
    head = struct.pack(">I4s4B", size, b"\0\0\0\0", 2, 0x40, 0, 0) + b"prtrCMYKLab "
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    head += struct.pack(">3i", 63190, 65536, 54061)
    return head + bytes(128 - len(head)) + index + bodies


if __name__ == "__main__":
    (Path(__file__).parent / "images" / "press.icc").write_bytes(make())
