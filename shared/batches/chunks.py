"""Cutting a batch into chunks: small enough to share workers by, large enough to cost little."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

from shared.batches.records import Chunk

_CHUNKS_AIMED_AT: Final = 64
_FEWEST: Final = 10
# A chunk is also ended by its slice's two seconds; what each costs beside is a hundredth of those.
_MOST: Final = 500


def cut_chunks(batch_id: str, starts: array[int], *, end: int) -> Iterator[Chunk]:
    """Give the chunks of a batch whose documents start at these bytes, the last before `end`."""
    total = len(starts)
    size = min(max(-(-total // _CHUNKS_AIMED_AT), _FEWEST), _MOST)
    for number, first in enumerate(range(0, total, size)):
        after = first + size
        stop = starts[after] if after < total else end
        yield Chunk(
            batch_id=batch_id,
            number=number,
            first_index=first,
            count=min(size, total - first),
            body_offset=starts[first],
            body_length=stop - starts[first],
        )
