"""The zip archive of a batch, generated from its parts while it is sent."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, Final

from api.batches.representations import write_item
from api.batches.zip_writer import ZipWriter
from api.pdf_headers import DEFAULT_FILENAME, sanitize_filename
from api.ports import Ports
from shared.batches.records import Batch, BatchItem, ItemStatus
from shared.blobs import store
from shared.db.batch_items import BatchPart, list_items, list_items_of_part, list_parts
from shared.limits import KB, MB

MANIFEST: Final = "manifest.ndjson"
_PARTS_AT_ONCE: Final = 100
_ITEMS_AT_ONCE: Final = 1000
_CHUNK_BYTES: Final = 256 * KB
_SPOOL_BYTES: Final = 1 * MB


def write_archive(batch: Batch, ports: Ports) -> Iterator[bytes]:
    """Yield the bytes of the zip: each PDF under its index and name, and the manifest at the end.

    Raises:
        BlobMissingError, Unavailable: a part cannot be read; the archive is incomplete.
    """
    archive = ZipWriter()
    for part in _iterate_parts(batch, ports):
        yield from _write_part(archive, batch, part, ports)
    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as manifest:
        size, crc32 = _write_manifest(manifest, batch, ports)
        manifest.seek(0)
        yield from archive.write(MANIFEST, _read_chunks(manifest, size), size=size, crc32=crc32)
    yield archive.close()


def archive_entry_name(item: BatchItem) -> str:
    """Return the name of a document's PDF in the archive."""
    return f"{item.index:06d}-{sanitize_filename(item.filename or DEFAULT_FILENAME)}"


def _iterate_parts(batch: Batch, ports: Ports) -> Iterator[BatchPart]:
    after = -1
    while True:
        # One snapshot per page: a client may take an hour to read the archive.
        with ports.database.snapshot() as session:
            parts = list_parts(session, batch.id, after=after, limit=_PARTS_AT_ONCE)
        if not parts:
            return
        yield from parts
        after = parts[-1].first_index


def _write_part(archive: ZipWriter, batch: Batch, part: BatchPart, ports: Ports) -> Iterator[bytes]:
    if part.blob_key is None:
        return
    with ports.database.snapshot() as session:
        items = list_items_of_part(session, batch, part)
    with ports.blobs.open(part.blob_key) as stream:
        at = 0
        for item in items:
            if item.place is None:
                continue
            for _ in _read_chunks(stream, item.place.offset - at):
                pass  # skip a document that was rendered but exceeded the allowance
            yield from archive.write(
                archive_entry_name(item),
                _read_chunks(stream, item.place.length),
                size=item.place.length,
                crc32=item.place.crc32,
            )
            at = item.place.offset + item.place.length


def _write_manifest(manifest: IO[bytes], batch: Batch, ports: Ports) -> tuple[int, int]:
    crc32 = size = 0
    for item in _iterate_items(batch, ports):
        record = write_item(batch, item)
        if item.status is ItemStatus.SUCCEEDED:
            record["file"] = archive_entry_name(item)
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        raw = line.encode("utf-8", "replace")
        manifest.write(raw)
        size += len(raw)
        crc32 = zlib.crc32(raw, crc32)
    return size, crc32


def _iterate_items(batch: Batch, ports: Ports) -> Iterator[BatchItem]:
    after, has_more = -1, True
    while has_more:
        with ports.database.snapshot() as session:
            items, has_more = list_items(
                session, batch, after=after, limit=_ITEMS_AT_ONCE, status=None
            )
        yield from items
        after = items[-1].index


def _read_chunks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = stream.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise store.BlobMissingError("the part is shorter than its documents")
        left -= len(chunk)
        yield chunk
