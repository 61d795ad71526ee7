"""Cutting a batch into chunks: small enough to share workers by, large enough to cost little."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

from shared.batches.records import Chunk, Output

_CHUNKS_AIMED_AT: Final = 64
_FEWEST: Final = 10
# What the documents of a merged slice have in common is in its part once: 1,000 invoices in parts of
# 16 came to 16.2 % of their sum, in parts of 100 to 13.9 %.
_FEWEST_MERGED: Final = 100
# A chunk is also ended by its slice's two seconds; what each costs beside is a hundredth of those.
_MOST: Final = 500


def cut_chunks(batch_id: str, starts: array[int], *, end: int, output: Output) -> Iterator[Chunk]:
    """Give the chunks of a batch whose documents start at these bytes, the last before `end`."""
    total = len(starts)
    fewest = _FEWEST_MERGED if output is Output.MERGED else _FEWEST
    size = min(max(-(-total // _CHUNKS_AIMED_AT), fewest), _MOST)
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
