"""The form of a file: small objects packed into streams, and the table of where each object is."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

# The second line tells programs that the file is not text (PDF 1.7, 7.5.2).
_HEADER: Final = b"%PDF-1.7\n%\xbf\xf7\xa2\xfe\n"
_PER_STREAM: Final = 100  # a reader unpacks a whole stream for one of its objects
_LEVEL: Final = 6  # some KB a document; on a thousand pages 2 ms more than level 4, and 6 % less

# An entry of the table (PDF 1.7, table 18): an object is free, at an offset, or in a stream.
_Entry = tuple[int, int, int]
_FREE, _PLACED, _PACKED = 0, 1, 2


def pack(bodies: Sequence[bytes], *, root: bytes, information: bytes) -> bytes:
    """Write objects, numbered from 1, as a file; `root` and `information` refer to two of them.

    Streams stand for themselves, all others are packed into object streams (PDF 1.7, 7.5.7).
    Equal objects give equal bytes: the identifier of the file is a digest of them.
    """
    entries: list[_Entry] = [(_FREE, 0, 0)] * (len(bodies) + 1)
    parts = [_HEADER]
    position = len(_HEADER)
    small: list[tuple[int, bytes]] = []
    for number, body in enumerate(bodies, 1):
        # Strings, arrays and dictionaries end with a bracket: only a stream ends like this.
        if not body.endswith(b"endstream"):
            small.append((number, body))
            continue
        entries[number] = (_PLACED, position, 0)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        position += len(parts[-1])
    for at in range(0, len(small), _PER_STREAM):
        group = small[at : at + _PER_STREAM]
        number = len(entries)
        for index, (member, _) in enumerate(group):
            entries[member] = (_PACKED, number, index)
        entries.append((_PLACED, position, 0))
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, _object_stream(group)))
        position += len(parts[-1])
    entries.append((_PLACED, position, 0))
    parts.append(_table(entries, root, information, _identifier(parts)))
    parts.append(b"startxref\n%d\n%%%%EOF\n" % position)
    return b"".join(parts)


def _object_stream(group: Sequence[tuple[int, bytes]]) -> bytes:
    """Pack objects into a stream that begins with their numbers and offsets (PDF 1.7, 7.5.7)."""
    index: list[bytes] = []
    offset = 0
    for number, body in group:
        index.append(b"%d %d" % (number, offset))
        offset += len(body) + 1
    head = b" ".join(index) + b"\n"
    data = zlib.compress(head + b"\n".join(body for _, body in group), _LEVEL)
    return (
        b"<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream"
        % (len(group), len(head), len(data), data)
    )


def _table(entries: Sequence[_Entry], root: bytes, information: bytes, identifier: bytes) -> bytes:
    """Write the table of objects as a stream, which is an object itself, the last (PDF 1.7, 7.5.8)."""
    size = (max(where for _, where, _ in entries).bit_length() + 7) // 8
    rows = [
        b"%c%b%c" % (kind, where.to_bytes(size, "big"), index) for kind, where, index in entries
    ]
    width = size + 2
    data = zlib.compress(_without_the_row_above(b"".join(rows), width), _LEVEL)
    return (
        b"%d 0 obj\n<< /Type /XRef /Size %d /W [1 %d 1] /Root %b /Info %b /ID [<%b> <%b>]"
        b" /DecodeParms << /Predictor 12 /Columns %d >> /Filter /FlateDecode /Length %d >>\n"
        b"stream\n%b\nendstream\nendobj\n"
    ) % (
        len(entries) - 1,
        len(entries),
        size,
        root,
        information,
        identifier,
        identifier,
        width,
        len(data),
        data,
    )


def _without_the_row_above(rows: bytes, width: int) -> bytes:
    """Take from each byte the one above it (PNG's filter Up): what repeats becomes zeros."""
    above = bytes(width) + rows
    changes = bytes([(now - before) & 255 for now, before in zip(rows, above, strict=False)])
    return b"".join(b"\x02" + changes[at : at + width] for at in range(0, len(changes), width))


def _identifier(parts: Sequence[bytes]) -> bytes:
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32].encode("ascii")
