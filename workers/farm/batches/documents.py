"""The documents of a chunk, from where its last slice ended, as the engine takes them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from shared.batches.csv_rows import Fault, read_rows
from shared.batches.ndjson import read_documents
from shared.batches.records import Batch, Chunk
from shared.blobs.store import BlobMissingError, BlobStore, Part
from shared.errors import ErrorBody, ErrorKind, ServiceError
from shared.limits import KB, MB
from workers.engine.ports import Payload, PayloadKind

_SPOOL_BYTES: Final = 8 * MB
_PIECE: Final = 256 * KB


@contextmanager
def open_documents(
    blobs: BlobStore, batch: Batch, chunk: Chunk
) -> Iterator[Iterator[tuple[int, bytes | Fault]]]:
    """Open the rest of a chunk; each document comes with the number of bytes up to its end.

    Raises:
        BlobMissingError: the body is gone, since the batch has ended.
        Unavailable: the object store is away.
    """
    if batch.body_key is None:
        raise BlobMissingError(batch.id)
    left = chunk.body_length - chunk.done_bytes
    part = Part(chunk.body_offset + chunk.done_bytes, left)
    # Read at once, a long one onto disk: a store that waited for a slow document to be rendered
    # would drop the connection, each time again.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as file:
        with blobs.open(batch.body_key, part=part) as stream:
            shutil.copyfileobj(stream, file, _PIECE)
        file.seek(0)
        body = cast("BinaryIO", file)
        yield read_documents(body) if batch.head is None else read_rows(body, batch.head)


def to_payload(document: bytes | Fault) -> Payload:
    """Give a document as the engine takes it.

    Raises:
        ServiceError: 400, it is none.
    """
    if isinstance(document, Fault):
        raise ServiceError(400, str(document), kind=ErrorKind.AUTHORING)
    return Payload(PayloadKind.JSON, document)


def is_outage(error: ErrorBody) -> bool:
    """Tell a part of the farm that is away from a fault of the document."""
    return error.kind is ErrorKind.UNAVAILABLE
