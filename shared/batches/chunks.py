"""Splits a batch into chunks: small enough to be spread over workers, large enough to be cheap."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

from shared.batches.records import BatchOutput, Chunk

TARGET_CHUNKS: Final = 64
MIN_DOCUMENTS: Final = 10
# A part of a merged batch stores shared resources once: 1,000 invoices in parts of 16 took 16.2 % of
# their total size, in parts of 100 13.9 %.
_MIN_MERGED_DOCUMENTS: Final = 100
# A slice of a chunk ends after two seconds anyway; its overhead is a hundredth of that.
MAX_DOCUMENTS: Final = 500


def split_into_chunks(
    batch_id: str, starts: array[int], *, end: int, output: BatchOutput
) -> Iterator[Chunk]:
    """Yield the chunks of a batch. `starts` has the byte offset of each document, `end` that of the body's end."""
    total = len(starts)
    fewest = _MIN_MERGED_DOCUMENTS if output is BatchOutput.MERGED else MIN_DOCUMENTS
    size = min(max(-(-total // TARGET_CHUNKS), fewest), MAX_DOCUMENTS)
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
