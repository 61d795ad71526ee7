"""The remaining documents of a chunk as payloads of the engine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from shared.batches.csv_rows import InvalidRow, read_rows
from shared.batches.json_documents import read_documents
from shared.batches.records import Batch, Chunk
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.errors import ErrorBody, ErrorKind, ServiceError
from shared.limits import KB, MB
from workers.engine.ports import Payload, PayloadKind

_SPOOL_BYTES: Final = 8 * MB
_CHUNK_BYTES: Final = 256 * KB


@contextmanager
def open_documents(
    blobs: BlobStore, batch: Batch, chunk: Chunk
) -> Iterator[Iterator[tuple[int, bytes | InvalidRow]]]:
    """Open the rest of a chunk; each document is yielded with the offset of its end in bytes.

    Raises:
        BlobMissingError: the body was deleted, since the batch has ended.
        Unavailable: the object store is unavailable.
    """
    if batch.body_key is None:
        raise BlobMissingError(batch.id)
    left = chunk.body_length - chunk.done_bytes
    part = ByteRange(chunk.body_offset + chunk.done_bytes, left)
    # Downloaded at once, large ones to disk: the store would close the connection during the render
    # of a slow document.
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as file:
        with blobs.open(batch.body_key, byte_range=part) as stream:
            shutil.copyfileobj(stream, file, _CHUNK_BYTES)
        file.seek(0)
        body = cast("BinaryIO", file)
        yield read_documents(body) if batch.head is None else read_rows(body, batch.head)


def to_payload(document: bytes | InvalidRow) -> Payload:
    """Return a document as a payload of the engine.

    Raises:
        ServiceError: 400, the row is invalid.
    """
    if isinstance(document, InvalidRow):
        raise ServiceError(400, str(document), kind=ErrorKind.AUTHORING)
    return Payload(PayloadKind.JSON, document)


def is_outage(error: ErrorBody) -> bool:
    """Return whether a part of the farm is unavailable, as opposed to a fault of the document."""
    return error.kind is ErrorKind.UNAVAILABLE
