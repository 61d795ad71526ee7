"""Files of deliveries: they are read from the blob store, and those of a batch are put in the outbox before its index."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from typing import BinaryIO, Final, TypeAlias, cast

from shared import json_text
from shared.batches.records import Batch, BatchItem, BatchOutput, ItemStatus, item_job_id
from shared.batches.repository import find_batch, iterate_items, list_items
from shared.batches.runs import INDEX_NUMBER, StoredFile, list_files
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.clock import now
from shared.db.session import Database
from shared.encryption import SecretCipher
from shared.limits import MB
from shared.outbound import Outbound, PostResult, TargetUnreachableError
from shared.webhooks.destinations import (
    DestinationRequest,
    FileForm,
    FileSource,
    Upload,
    add_batch_files,
    address_file,
    find_undelivered,
)
from shared.webhooks.links import find_end, write_link
from shared.webhooks.repository import DueDelivery, postpone_delivery
from shared.webhooks.uploads import upload
from workers.webhooks.peppol import wrap_invoice

_Named: TypeAlias = tuple[str, FileSource]
_AT_ONCE: Final = 500  # files of a batch that one transaction adds
_WAIT: Final = timedelta(seconds=2)  # until the files of a batch are looked at again
_TEST: Final = b"This file was sent by Pressroom to test the destination.\n"
_SECONDS: Final = 20.0  # of an upload, and for each megabyte
_SECONDS_PER_MB: Final = 1.0
_MAX_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True)
class FileSender:
    """Uploads the files of deliveries. Thread-safe."""

    database: Database
    blobs: BlobStore
    outbound: Outbound
    secrets: SecretCipher
    public_url: str

    def send(self, delivery: DueDelivery, secret: str) -> PostResult | None:
        """Upload the file of a delivery; None if it waits for others of its batch.

        Raises:
            TargetRefusedError, TargetUnreachableError: the upload failed.
            BlobMissingError: the file was deleted.
            Unavailable: the database or the object store is unavailable.
        """
        source = FileSource.decode(delivery.payload)
        if source.batch_id is None:
            return self._send(delivery, source, secret)
        with self.database.snapshot() as session:
            batch = find_batch(session, source.batch_id)
        if batch is None or batch.removed_at is not None:
            raise BlobMissingError(source.batch_id)
        if source.after is not None:
            self._add_files(delivery, source, batch, source.after)
            return None
        with self.database.snapshot() as session:
            failed = find_undelivered(session, batch.id, except_id=delivery.id)
        if failed is None:
            with self.database.session() as session:
                postpone_delivery(session, delivery.id, until=now() + _WAIT)
            return None
        if batch.plan is None:
            with self._write_manifest(delivery, batch, failed) as (file, size):
                return self._upload(delivery, source, secret, file, size)
        return self._send(delivery, self._find_index(batch, source), secret)

    def _send(self, delivery: DueDelivery, source: FileSource, secret: str) -> PostResult:
        if source.key is None:
            return self._upload(delivery, source, secret, BytesIO(_TEST), len(_TEST))
        part = ByteRange(source.offset, source.size)
        with self.blobs.open(source.key, byte_range=part) as file:
            return self._upload(delivery, source, secret, file, source.size)

    def _upload(
        self, delivery: DueDelivery, source: FileSource, secret: str, file: BinaryIO, size: int
    ) -> PostResult:
        settings = _read_settings(delivery).replace(secret=secret)
        media_type, values = source.media_type, source.values
        if settings.file is FileForm.PEPPOL and media_type == "application/pdf":
            try:
                content = wrap_invoice(file, delivery_id=delivery.id, at=delivery.created_at)
            except ValueError as error:
                return PostResult(0, is_final=True, text=f"there is no invoice for Peppol: {error}")
            file, size, media_type = BytesIO(content), len(content), "application/xml"
        if values is not None and settings.mail and settings.mail.link_hours is not None:
            values = {**values, **self._make_link(delivery, settings.mail.link_hours)}
        item = Upload(
            id=delivery.id,
            name=delivery.name or "",
            file=file,
            size=size,
            media_type=media_type,
            values=values,
        )
        seconds = min(_SECONDS + _SECONDS_PER_MB * size / MB, _MAX_SECONDS)
        return upload(self.outbound, settings, item, deadline_seconds=seconds)

    def _make_link(self, delivery: DueDelivery, hours: int) -> dict[str, str]:
        if not self.public_url:
            raise TargetUnreachableError("links need the setting PRESSROOM_STUDIO_URL of the farm")
        with self.database.snapshot() as session:
            end = find_end(session, delivery.source_id, at=now(), hours=hours)
        if end is None:
            raise BlobMissingError(delivery.id)
        link = f"{self.public_url}/links/{write_link(self.secrets, delivery.id, end)}"
        return {"link": link, "expires": f"{end:%Y-%m-%d %H:%M} UTC"}

    def _add_files(
        self, delivery: DueDelivery, source: FileSource, batch: Batch, after: int
    ) -> None:
        settings = _read_settings(delivery)
        with self.database.snapshot() as session:
            if batch.output is BatchOutput.MERGED:
                files, has_more = (
                    _name_files(batch, settings, list_files(session, batch.id), source),
                    False,
                )
            else:
                items, has_more = list_items(
                    session, batch, after=after, limit=_AT_ONCE, status=ItemStatus.SUCCEEDED
                )
                after = items[-1].index if items else after
                files = [
                    _name_item(batch, item, settings) for item in items if item.place is not None
                ]
        with self.database.session() as session:
            add_batch_files(
                session, delivery.id, source, files, after=after if has_more else None, at=now()
            )

    def _find_index(self, batch: Batch, source: FileSource) -> FileSource:
        with self.database.snapshot() as session:
            files = list_files(session, batch.id)
        for file in files:
            if file.number == INDEX_NUMBER:
                return source.replace(key=file.blob_key, size=file.bytes)
        raise BlobMissingError(batch.id)

    @contextmanager
    def _write_manifest(
        self, delivery: DueDelivery, batch: Batch, undelivered: set[str]
    ) -> Iterator[tuple[BinaryIO, int]]:
        """Open the manifest: a line for each document, with its file and whether it was delivered."""
        settings = _read_settings(delivery)
        with tempfile.SpooledTemporaryFile(max_size=MB) as file:
            for item in iterate_items(self.database, batch):
                name = _name_item(batch, item, settings)[0] if item.place else None
                line = {
                    "index": item.index,
                    "job": item_job_id(batch.id, item.index),
                    "status": "undelivered" if name in undelivered else item.status.value,
                    "pages": item.pages,
                    "file": name,
                    "error": item.error["message"] if item.error else None,
                }
                shown = {field: value for field, value in line.items() if value is not None}
                file.write(json_text.encode(shown) + b"\n")
            size = file.tell()
            file.seek(0)
            yield cast("BinaryIO", file), size


def _read_settings(delivery: DueDelivery) -> DestinationRequest:
    return DestinationRequest.of_builtins(delivery.settings)


def _name_item(batch: Batch, item: BatchItem, settings: DestinationRequest) -> _Named:
    """Return a document's PDF with its name at a destination."""
    assert item.place is not None
    return address_file(
        settings,
        FileSource(
            key=item.part_key, offset=item.place.offset, size=item.place.length, values=item.values
        ),
        job=item_job_id(batch.id, item.index),
        at=batch.created_at,
        batch=batch.id,
        index=item.index,
        key=batch.subject,
    )


def _name_files(
    batch: Batch, settings: DestinationRequest, files: Sequence[StoredFile], source: FileSource
) -> list[_Named]:
    """Return the files of a merged batch: those of its plan that were ordered together, or its one PDF."""
    # Before them are proofs and reprints, which are fetched.
    first = max(source.after or INDEX_NUMBER, INDEX_NUMBER) + 1
    found = {
        file.number: (file.blob_key, file.bytes)
        for file in files
        if file.number >= first and (source.until is None or file.number <= source.until)
    }
    if batch.result_key is not None:
        found[0] = batch.result_key, batch.result_bytes or 0
    media_type = "application/zip" if batch.has_own_pdfs else "application/pdf"
    return [
        address_file(
            settings,
            FileSource(media_type=media_type, key=key, size=size),
            job=f"{batch.id}-{number}" if number else batch.id,
            at=batch.created_at,
            batch=batch.id,
            index=number,
            key=batch.subject,
        )
        for number, (key, size) in found.items()
    ]
