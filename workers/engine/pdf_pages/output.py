"""Objects to write into another file, which refer to each other by their index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from workers.engine.compression import compress
from workers.engine.pdf_pages.objects import SIMPLIFY, UnusablePdfError

# The body of an object: bytes, and the indexes of the objects to which it refers.
Parts = list[bytes | int]

MAX_OBJECTS: Final = 20_000
MAX_BYTES: Final = 50 * 1024 * 1024


class ObjectBuilder:
    """Collects objects; an index is reserved before its object is defined."""

    def __init__(self) -> None:
        self._objects: list[Parts] = []
        self.size = 0

    def reserve(self) -> int:
        """Return the index of a new object.

        Raises:
            UnusablePdfError: there are too many.
        """
        if len(self._objects) >= MAX_OBJECTS:
            raise UnusablePdfError(
                f"The page of the PDF has more than {MAX_OBJECTS:,} objects", advice=SIMPLIFY
            )
        self._objects.append([b"null"])
        return len(self._objects) - 1

    def define(self, index: int, parts: Parts) -> None:
        """Set the body of an object.

        Raises:
            UnusablePdfError: all bodies together are too large.
        """
        self._objects[index] = parts
        self.size += sum(len(part) if isinstance(part, bytes) else 8 for part in parts)
        if self.size > MAX_BYTES:
            raise UnusablePdfError(
                f"The page of the PDF is larger than {MAX_BYTES // (1024 * 1024)} MB",
                advice=SIMPLIFY,
            )

    def finish(self) -> tuple[tuple[bytes | int, ...], ...]:
        """Return the bodies in the order of their indexes, adjacent bytes joined."""
        return tuple(_join(parts) for parts in self._objects)


def write_deflated(entries: Parts, data: bytes) -> Parts:
    """Return a stream with data compressed."""
    compressed = compress(data)
    return [
        *(b"<< ", *entries, b" /Filter /FlateDecode"),
        *(b" /Length %d >>\nstream\n" % len(compressed), compressed, b"\nendstream"),
    ]


def _join(parts: Iterable[bytes | int]) -> tuple[bytes | int, ...]:
    joined: list[bytes | int] = []
    run: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            run.append(part)
            continue
        joined += [b"".join(run), part]
        run.clear()
    return (*joined, b"".join(run))
