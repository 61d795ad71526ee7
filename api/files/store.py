"""Storing of files, sent or fetched from a `source_url`: inspect in a worker, store, record, delete."""

from __future__ import annotations

import base64
import binascii
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final, cast

from api.admission.body import SPOOL_BYTES, Body
from api.auth.guard import Principal, record_change
from api.jobs.inspection import Inspections
from api.jobs.remote_images import ConcurrencyLimit
from api.ports import Cell, Ports
from shared.blobs.store import BlobMissingError, ByteRange
from shared.clock import now
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.files.repository import (
    FONTS,
    IMAGES,
    FileRecord,
    Properties,
    StoredFiles,
    WorkspaceFullError,
    lock_workspace,
)
from shared.jobs.records import BodyKind
from shared.limits import KB, MAX_FONT_BYTES, MAX_IMAGE_BYTES, MB, REMOTE_IMAGE_SECONDS
from shared.outbound import (
    Fetcher,
    FetcherBusy,
    FetchRequest,
    TargetRefusedError,
    TargetTooLargeError,
    TargetUnreachableError,
)
from shared.telemetry import log
from shared.templates.pinning import Pins

MAX_DATA_BYTES: Final = 20 * MB  # of the base64 form, decoded
_CHUNK_BYTES: Final = 64 * KB


def decode_data(text: str, kind: FileKind) -> bytes:
    """Decode the bytes of a file in base64.

    Raises:
        ServiceError: 400, not base64; 413, too large.
    """
    if len(text) > (MAX_DATA_BYTES + 2) // 3 * 4:
        raise _data_too_large(kind)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ServiceError(
            400, "The field data must be base64 with padding and without line breaks."
        ) from error
    if len(data) > MAX_DATA_BYTES:
        raise _data_too_large(kind)
    return data


def compute_sha256(body: Body) -> str:
    """Return the SHA-256 of an upload in hexadecimal; its file is at its start before and after."""
    digest = hashlib.sha256()
    while chunk := body.file.read(_CHUNK_BYTES):
        digest.update(chunk)
    body.file.seek(0)
    return digest.hexdigest()


def _data_too_large(kind: FileKind) -> ServiceError:
    most = MAX_DATA_BYTES // MB
    return ServiceError(
        413, f"The field data is larger than {most} MB decoded; {kind.larger_hint}."
    )


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file; `plural` is also its path under /v2.

    `larger_hint` ends the error message for base64 data over the limit.
    """

    singular: str
    plural: str
    formats: str
    larger_hint: str
    media_types: tuple[str, ...]
    max_bytes: int
    files: StoredFiles
    body_kind: BodyKind
    pins: Callable[[Cell], Pins]


IMAGE: Final = FileKind(
    singular="image",
    plural="images",
    formats="a PNG, JPEG, WebP, SVG or PDF, or an ICC profile",
    larger_hint="PUT /v2/images/{name} accepts images up to 50 MB",
    media_types=(
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/svg+xml",
        "application/pdf",
        "application/vnd.iccprofile",
    ),
    max_bytes=MAX_IMAGE_BYTES,
    files=IMAGES,
    body_kind=BodyKind.IMAGE,
    pins=lambda cell: cell.image_pins,
)
FONT: Final = FileKind(
    singular="font",
    plural="fonts",
    formats="a TrueType, OpenType, WOFF or WOFF2 font",
    larger_hint="the limit for fonts is 20 MB",
    media_types=(
        "font/ttf",
        "font/otf",
        "font/collection",
        "font/woff",
        "font/woff2",
        "font/sfnt",
        "application/octet-stream",
    ),
    max_bytes=MAX_FONT_BYTES,
    files=FONTS,
    body_kind=BodyKind.FONT,
    pins=lambda cell: cell.font_pins,
)


_log: Final = log.get_logger(__name__)


class FileStore:
    """Stores and deletes files of one kind, for one process of the front."""

    def __init__(self, kind: FileKind, ports: Ports) -> None:
        self._kind = kind
        self._ports = ports
        self._inspections = Inspections(ports)

    def store(self, name: str, body: Body, principal: Principal) -> tuple[FileRecord, bool]:
        """Store an upload under a name; return its record, and whether the name is new.

        A crash can leave bytes without a record, never a record without bytes.

        Raises:
            ServiceError: 400, renders cannot use the file; 409, the workspace is full; and the errors
                of `Inspections.inspect`.
        """
        properties = self._inspect(body, principal)
        try:
            record, replaced = self._write(name, properties, body, principal)
        except WorkspaceFullError as error:
            raise self._workspace_full(name, properties, error) from error
        if replaced is not None and replaced != properties["sha256"]:
            self._delete_unreferenced(principal.get_workspace(), replaced)
        return record, replaced is None

    def delete(self, name: str, principal: Principal) -> bool:
        """Delete a file, free its space, and return whether it existed."""
        workspace_id = principal.get_workspace()
        self._drop_pin(name, principal)
        with self._ports.database.session() as session:
            sha256 = self._kind.files.delete(session, workspace_id, name)
            if sha256 is not None:
                record_change(session, principal, f"{self._kind.singular}.deleted", name)
        if sha256 is not None:
            self._delete_unreferenced(workspace_id, sha256)
        return sha256 is not None

    def _inspect(self, body: Body, principal: Principal) -> Properties:
        """Return the properties of an upload; bytes that the workspace already holds are not inspected again."""
        sha256 = compute_sha256(body)
        with self._ports.database.snapshot() as session:
            known = self._kind.files.find_properties(session, principal.get_workspace(), sha256)
        if known is not None:
            return known
        found = self._inspections.inspect(self._kind.body_kind, body, principal)
        return {**found, "bytes": body.size, "sha256": sha256}

    def _write(
        self, name: str, properties: Properties, body: Body, principal: Principal
    ) -> tuple[FileRecord, str | None]:
        ports, files, workspace_id = self._ports, self._kind.files, principal.get_workspace()
        key, size = files.blob_key(workspace_id, properties["sha256"]), properties["bytes"]
        with ports.database.snapshot() as session:  # before bytes that it has no room for
            files.check_room(session, workspace_id, name, size)
        ports.blobs.put(key, body.file, size)
        self._drop_pin(name, principal)
        with ports.database.session() as session:
            stored = files.record(
                session, workspace_id, name, properties=properties, user=principal.user, at=now()
            )
            if not self._has(key):  # another one that named the same bytes was deleted meanwhile
                body.file.seek(0)
                ports.blobs.put(key, body.file, size)
            details = {"sha256": properties["sha256"]}
            record_change(session, principal, f"{self._kind.singular}.stored", name, details)
            return stored

    def _has(self, key: str) -> bool:
        try:
            with self._ports.blobs.open(key, byte_range=ByteRange(0, 1)):
                return True
        except BlobMissingError:
            return False

    def _drop_pin(self, name: str, principal: Principal) -> None:
        cell = self._ports.cell(principal.state.account_id)
        self._kind.pins(cell).drop(principal.get_workspace(), name)

    def _delete_unreferenced(self, workspace_id: str, sha256: str) -> None:
        """Delete a blob that no file of the workspace references; if that fails, maintenance deletes it later."""
        files = self._kind.files
        try:
            with self._ports.database.session() as session:
                # Locked, so that no upload of the same bytes starts between check and deletion.
                lock_workspace(session, workspace_id)
                if sha256 not in files.find_needed(session, workspace_id):
                    self._ports.blobs.delete(files.blob_key(workspace_id, sha256))
        except Unavailable as error:
            _log.warning(
                f"{self._kind.singular} bytes left behind",
                workspace=workspace_id,
                sha256=sha256,
                part=error.part,
            )

    def _workspace_full(
        self, name: str, properties: Properties, error: WorkspaceFullError
    ) -> ServiceError:
        kind, usage = self._kind, error.usage
        return ServiceError(
            409,
            f"The workspace has no space for {kind.singular} '{name}' of {properties['bytes']} bytes: it "
            f"holds {usage.total_bytes} bytes in {usage.count} {kind.plural}; the limit is "
            f"{kind.files.max_bytes} bytes and {kind.files.max_count} {kind.plural}.",
            kind=ErrorKind.QUOTA,
        )


# One account may not occupy all connections of this process; the fetcher bounds the fetches of all.
MAX_OF_ACCOUNT: Final = 8
SLOT_WAIT_SECONDS: Final = 2.0


class SourceUrlFetcher:
    """Fetches files of one kind for one process of the front, a bounded number of an account at once."""

    def __init__(
        self, fetcher: Fetcher, kind: FileKind, *, of_account: int = MAX_OF_ACCOUNT
    ) -> None:
        self._fetcher = fetcher
        self._limit = ConcurrencyLimit(of_account, kind.plural, "fetched")
        self._kind = kind

    @contextmanager
    def fetch(self, url: str, *, account_id: str) -> Iterator[Body]:
        """Fetch a file into a temporary one, which is deleted when the block ends.

        Raises:
            ServiceError: 400, the address is not allowed or has no file; 413, the file is too large;
                429, too many fetches of the account are in progress; 503, too many of all accounts
                are, or the fetcher is unavailable.
        """
        with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
            with self._limit.acquire(account_id, seconds=SLOT_WAIT_SECONDS):
                self._download(url, cast("BinaryIO", file), account_id)
            size = file.tell()
            file.seek(0)
            yield Body(cast("BinaryIO", file), size)

    def _download(self, url: str, file: BinaryIO, account_id: str) -> None:
        kind = self._kind
        failed = f"The {kind.singular} at source_url could not be fetched"
        ask = FetchRequest(
            url,
            account_id,
            limit_bytes=kind.max_bytes,
            deadline_seconds=REMOTE_IMAGE_SECONDS,
            patience_seconds=SLOT_WAIT_SECONDS,
            is_fresh=True,  # bypass the cache: store the current file
        )
        try:
            status = self._fetcher.download(ask, file)
        except FetcherBusy as error:
            raise ServiceError(
                503,
                f"Too many {kind.plural} are being fetched; try again in a few seconds.",
                headers={"Retry-After": "5"},
            ) from error
        except TargetRefusedError as error:
            raise ServiceError(400, f"The source_url is not allowed: {error}.") from error
        except TargetTooLargeError as error:
            message = f"The {kind.singular} at source_url is larger than {kind.max_bytes // MB} MB."
            raise ServiceError(413, message) from error
        except TargetUnreachableError as error:
            raise ServiceError(400, f"{failed}: {error}.") from error
        if not 200 <= status < 300:
            raise ServiceError(400, f"{failed}: the server responded {status}.")
