"""Files of deliveries: they are read from the blob store, and those of a batch are put in the outbox before its index."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from typing import BinaryIO, Final, TypeAlias, cast

from shared import json_text
from shared.batches.records import Batch, BatchItem, BatchOutput, ItemStatus, item_job_id
from shared.batches.repository import find_batch, iterate_items, list_items
from shared.batches.runs import INDEX_NUMBER, StoredFile, list_files
from shared.blobs.store import BlobMissingError, BlobStore, ByteRange
from shared.clock import now, ticks
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
from shared.webhooks.uploads import parse_address, upload
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
        settings = DestinationRequest.of_builtins(delivery.settings).replace(secret=secret)
        source = FileSource.decode(delivery.payload)
        if source.batch_id is None:
            return self._send(delivery, settings, source)
        with self.database.snapshot() as session:
            batch = find_batch(session, source.batch_id)
        if batch is None or batch.removed_at is not None:
            raise BlobMissingError(source.batch_id)
        if source.after is not None:
            self._add_files(delivery, settings, source, batch)
            return None
        with self.database.snapshot() as session:
            failed = find_undelivered(session, batch.id, except_id=delivery.id)
        if failed is None:
            with self.database.session() as session:
                postpone_delivery(session, delivery.id, until=now() + _WAIT)
            return None
        if batch.plan is None:
            with tempfile.SpooledTemporaryFile(max_size=MB) as file:
                manifest = cast("BinaryIO", file)
                self._write_manifest(manifest, batch, settings, failed)
                source = source.replace(size=manifest.tell())
                manifest.seek(0)
                return self._upload(delivery, settings, source, manifest)
        return self._send(delivery, settings, self._find_index(batch, source))

    def _send(
        self, delivery: DueDelivery, settings: DestinationRequest, source: FileSource
    ) -> PostResult:
        if source.key is None:
            test = source.replace(size=len(_TEST))
            return self._upload(delivery, settings, test, BytesIO(_TEST))
        part = ByteRange(source.offset, source.size)
        with self.blobs.open(source.key, byte_range=part) as file:
            return self._upload(delivery, settings, source, file)

    def _upload(
        self,
        delivery: DueDelivery,
        settings: DestinationRequest,
        source: FileSource,
        file: BinaryIO,
    ) -> PostResult:
        if settings.file is FileForm.PEPPOL and source.media_type == "application/pdf":
            try:
                content = wrap_invoice(file, delivery_id=delivery.id, at=delivery.created_at)
            except ValueError as error:
                return PostResult(0, is_final=True, text=f"there is no invoice for Peppol: {error}")
            file = BytesIO(content)
            source = source.replace(size=len(content), media_type="application/xml")
        if source.values is not None and settings.mail and settings.mail.link_hours is not None:
            link = self._make_link(delivery, settings.mail.link_hours)
            source = source.replace(values={**source.values, **link})
        seconds = min(_SECONDS + _SECONDS_PER_MB * source.size / MB, _MAX_SECONDS)
        return upload(
            Upload(
                outbound=self.outbound,
                address=parse_address(settings.url),
                settings=settings,
                id=delivery.id,
                name=delivery.name or "",
                file=file,
                source=source,
                give_up_at=ticks() + seconds,
            )
        )

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
        self, delivery: DueDelivery, settings: DestinationRequest, source: FileSource, batch: Batch
    ) -> None:
        assert source.after is not None
        after = None
        with self.database.snapshot() as session:
            if batch.output is BatchOutput.MERGED:
                files = _name_files(batch, settings, list_files(session, batch.id), source)
            else:
                items, has_more = list_items(
                    session, batch, after=source.after, limit=_AT_ONCE, status=ItemStatus.SUCCEEDED
                )
                after = items[-1].index if has_more else None
                files = [_name_item(batch, item, settings) for item in items if item.place]
        with self.database.session() as session:
            add_batch_files(session, delivery.id, source, files, after=after, at=now())

    def _find_index(self, batch: Batch, source: FileSource) -> FileSource:
        with self.database.snapshot() as session:
            files = list_files(session, batch.id)
        for file in files:
            if file.number == INDEX_NUMBER:
                return source.replace(key=file.blob_key, size=file.bytes)
        raise BlobMissingError(batch.id)

    def _write_manifest(
        self, file: BinaryIO, batch: Batch, settings: DestinationRequest, undelivered: set[str]
    ) -> None:
        """Write a line for each document, with its file and whether it was delivered."""
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
