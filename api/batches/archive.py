"""The zip archive of a batch, generated from its parts while it is sent."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from typing import IO, Final

from api.batches.representations import write_item
from api.conditional_requests import make_etag
from api.ports import Ports
from shared.batches.records import Batch, BatchItem, ItemStatus
from shared.batches.repository import BatchPart, iterate_items, list_items_of_part, list_parts
from shared.blobs.store import BlobMissingError, ByteRange, skip
from shared.limits import KB
from shared.zip_files import ZipWriter, entry_size, name_entry

MANIFEST: Final = "manifest.ndjson"
_FORMAT: Final = "zip 1"  # change it when the bytes of a zip do
_PARTS_AT_ONCE: Final = 100
_CHUNK_BYTES: Final = 256 * KB


class Archive:
    """The zip of an ended batch: each PDF under its index and name, and the manifest at the end.

    It is never stored. Entries are not compressed, so a first pass over the records finds its size.
    """

    def __init__(self, batch: Batch, ports: Ports) -> None:
        self._batch = batch
        self._ports = ports

    @property
    def etag(self) -> str:
        """The entity tag: the documents of an ended batch do not change."""
        return make_etag(_FORMAT, self._batch.id)

    @property
    def size(self) -> int:
        """The number of bytes of the zip."""
        return self._sizes[0]

    def read(self, part: ByteRange) -> Iterator[bytes]:
        """Yield the bytes of a range.

        Raises:
            BlobMissingError, Unavailable: a part cannot be read; the archive is incomplete.
        """
        # What is before the range is not read from the blob store, but for a part of one document.
        skipped, left = -1, part.length
        archive = ZipWriter()
        for chunk in self._write(archive, begin=part.offset):
            if skipped < 0:
                skipped = part.offset - archive.offset
            piece = chunk[skipped : skipped + left]
            skipped = max(skipped - len(chunk), 0)
            left -= len(piece)
            if piece:
                yield piece
            if not left:
                return

    def _write(self, archive: ZipWriter, *, begin: int) -> Iterator[bytes]:
        """Yield the zip from the entry on that contains the byte `begin`."""
        for part in _iterate_parts(self._batch, self._ports):
            yield from self._write_part(archive, part, begin=begin)
        _, size, crc32 = self._sizes
        if archive.offset + entry_size(MANIFEST, size) <= begin:
            archive.skip(MANIFEST, size=size, crc32=crc32)
        else:
            items = iterate_items(self._ports.database, self._batch)
            lines = (_write_line(self._batch, item) for item in items)
            yield from archive.write(MANIFEST, lines, size=size, crc32=crc32)
        yield archive.close()

    def _write_part(self, archive: ZipWriter, part: BatchPart, *, begin: int) -> Iterator[bytes]:
        if part.blob_key is None:
            return
        with self._ports.database.snapshot() as session:
            items = list_items_of_part(session, self._batch, part)
        with ExitStack() as opened:
            stream, at = None, 0
            for item in items:
                if item.place is None:
                    continue
                name, place = name_entry(item.index, item.filename), item.place
                if archive.offset + entry_size(name, place.length) <= begin:
                    archive.skip(name, size=place.length, crc32=place.crc32)
                    continue
                if stream is None:
                    rest = ByteRange(place.offset, part.bytes - place.offset)
                    blobs, at = self._ports.blobs, place.offset
                    stream = opened.enter_context(blobs.open(part.blob_key, byte_range=rest))
                skip(stream, place.offset - at)  # a document beyond the allowance
                chunks = _read_chunks(stream, place.length)
                yield from archive.write(name, chunks, size=place.length, crc32=place.crc32)
                at = place.offset + place.length

    @cached_property
    def _sizes(self) -> tuple[int, int, int]:
        """The size of the zip; the size of the manifest and its CRC-32."""
        archive = ZipWriter()
        crc32 = size = 0
        for item in iterate_items(self._ports.database, self._batch):
            if item.place is not None and item.part_key is not None:
                name = name_entry(item.index, item.filename)
                archive.skip(name, size=item.place.length, crc32=item.place.crc32)
            line = _write_line(self._batch, item)
            size += len(line)
            crc32 = zlib.crc32(line, crc32)
        archive.skip(MANIFEST, size=size, crc32=crc32)
        return archive.offset + len(archive.close()), size, crc32


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


def _write_line(batch: Batch, item: BatchItem) -> bytes:
    """Return a document's line of the manifest."""
    record = write_item(batch, item)
    if item.status is ItemStatus.SUCCEEDED:
        record["file"] = name_entry(item.index, item.filename)
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
    return line.encode("utf-8", "replace")


def _read_chunks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = stream.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise BlobMissingError("the part is shorter than its documents")
        left -= len(chunk)
        yield chunk
