"""The resources of renders: compiled templates, stored images, fonts, remote images and signatures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Final, Generic, TypeAlias, TypeVar

from shared.blobs.store import BlobMissingError, BlobStore
from shared.db.session import Database
from shared.errors import ErrorKind, ServiceError
from shared.files.repository import FONTS, IMAGES, StoredFiles
from shared.jobs.records import PinnedTemplate, RenderJob
from shared.limits import MB
from shared.outbound import Fetcher
from shared.queue.claims import Claims
from shared.signer import SignatureCall, SignatureRefusedError, SignerClient
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup
from shared.templates.pinning import Pins
from shared.templates.repository import get_content
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import FontFile, Resources, SignatureRequest, SigningRefusedError
from workers.render.remote_images import AwaitedImages, RemoteImages

Value = TypeVar("Value")


class SizedCache(Generic[Value]):
    """Holds the most recently used values, up to `max_bytes` in total."""

    def __init__(self, name: Cache, *, max_bytes: int, watch: Observer = NULL_OBSERVER) -> None:
        self._name = name
        self._watch = watch
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def get(self, key: str, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return the value of a key, calling `make` for the value and its size if it is not cached.

        Values larger than the whole cache are not cached.
        """
        count_lookup(self._watch, self._name, is_hit=key in self._kept)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]
        value, size = make()
        if size <= self._max_bytes:
            self._kept[key] = (value, size)
            self._bytes += size
            self._shrink()
        return value

    def _shrink(self) -> None:
        while self._bytes > self._max_bytes:
            _, (_, size) = self._kept.popitem(last=False)
            self._bytes -= size


# Of texts: a compiled template takes about ten times their memory.
_STORED_BYTES: Final = 8 * MB
_DRAFT_BYTES: Final = 2 * MB  # of a few editors: data change more often than the template


# `prepare_template` of `workers.engine.pipeline`.
PrepareFunction: TypeAlias = Callable[[bytes, Mapping[str, bytes]], PreparedTemplate]


class Templates:
    """Compiled templates by the SHA-256 of their text, cached in this process."""

    def __init__(
        self, database: Database, prepare: PrepareFunction, *, watch: Observer = NULL_OBSERVER
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._stored, self._drafts = (
            SizedCache[PreparedTemplate](Cache.TEMPLATES, max_bytes=most, watch=watch)
            for most in (_STORED_BYTES, _DRAFT_BYTES)
        )

    def get(self, pinned: PinnedTemplate) -> PreparedTemplate:
        """Return the compiled template of a pinned text and those that it links to.

        Raises:
            LookupError: a text is not stored, which cannot happen to a pinned one.
            Unavailable: the database is unavailable.
        """
        key = _name_linked(pinned.sha256, pinned.links)
        return self._stored.get(key, lambda: self._compile(self._read(pinned.sha256), pinned.links))

    def get_draft(self, text: str, links: Mapping[str, str]) -> PreparedTemplate:
        """Return the compiled template of a text that is not stored; `links` are those of a `PinnedTemplate`.

        Raises:
            LookupError, Unavailable: as `get`.
        """
        source = text.encode()
        key = _name_linked(sha256(source).hexdigest(), links)
        return self._drafts.get(key, lambda: self._compile(source, links))

    def _compile(self, text: bytes, links: Mapping[str, str]) -> tuple[PreparedTemplate, int]:
        linked = {reference: self._read(digest) for reference, digest in links.items()}
        return self._prepare(text, linked), len(text) + sum(map(len, linked.values()))

    def _read(self, digest: str) -> bytes:
        with self._database.snapshot() as session:
            return get_content(session, digest).encode()


def _name_linked(digest: str, links: Mapping[str, str]) -> str:
    return "".join((digest, *map("".join, sorted(links.items()))))


@dataclass(frozen=True, slots=True)
class StoredFonts:
    """Finds fonts by workspace and name; the engine caches parsed fonts by digest."""

    database: Database
    blobs: BlobStore
    pins: Pins

    def find(self, workspace_id: str, name: str) -> FontFile | None:
        """Return the current font of a name, None if the workspace has no such font.

        Raises:
            Unavailable: the database or Redis is unavailable.
        """
        digest = _find_digest(self.database, FONTS, self.pins, workspace_id, name)
        if digest is None:
            return None
        return FontFile(digest, partial(self._read, workspace_id, name, digest))

    def list_names(self, workspace_id: str) -> Sequence[str]:
        """Return the names of the workspace's fonts."""
        with self.database.snapshot() as session:
            return FONTS.list_names(session, workspace_id)

    def _read(self, workspace_id: str, name: str, digest: str) -> bytes:
        try:
            return self.blobs.read(FONTS.blob_key(workspace_id, digest))
        except BlobMissingError as error:
            raise _unreadable(f"font '{name}'") from error


IMAGE_BYTES: Final = 64 * MB
_READ_ATTEMPTS: Final = 3


class Images:
    """The stored images of all workspaces, cached by content."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        pins: Pins,
        *,
        fetcher: Fetcher,
        fonts: StoredFonts | None = None,
        watch: Observer = NULL_OBSERVER,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._pins = pins
        self._fetcher = fetcher
        self.fonts = fonts
        self._bytes: SizedCache[bytes] = SizedCache(
            Cache.IMAGES, max_bytes=IMAGE_BYTES, watch=watch
        )

    def of_account(self, account_id: str, workspace_id: str | None) -> WorkspaceImages:
        """Return the images of an account's documents; without a workspace only remote ones."""
        return WorkspaceImages(self, workspace_id, RemoteImages(self._fetcher, account_id))

    def of_job(
        self, job: RenderJob, claims: Claims, *, found: FoundFiles | None = None
    ) -> WorkspaceImages:
        """Return the images of a job; stored ones that are in `found` are not looked up again."""
        remote = (
            AwaitedImages(self._fetcher, job, claims)
            if job.is_fetched_for
            else RemoteImages(self._fetcher, job.meter.account_id)
        )
        return WorkspaceImages(self, job.workspace_id, remote, found)

    def find(self, workspace_id: str, name: str) -> bytes | None:
        """Return the current bytes of a name, None if the workspace has no such image.

        Raises:
            Unavailable: the database or the object store is unavailable.
            ServiceError: the image was replaced during each of three attempts to read it.
        """
        for _ in range(_READ_ATTEMPTS):
            digest = _find_digest(self._database, IMAGES, self._pins, workspace_id, name)
            if digest is None:
                return None
            key = IMAGES.blob_key(workspace_id, digest)
            try:
                return self._bytes.get(key, partial(self._read, key))
            except BlobMissingError:
                continue  # replaced between the two reads: retry
        raise _unreadable(f"image '{name}'")

    def _read(self, key: str) -> tuple[bytes, int]:
        data = self._blobs.read(key)
        return data, len(data)


def _find_digest(
    database: Database, files: StoredFiles, pins: Pins, workspace_id: str, name: str
) -> str | None:
    """Return the SHA-256 of a stored file, pinned for other processes; None if the workspace has no such file."""
    digest = pins.find(workspace_id, name)
    if digest is None:
        with database.snapshot() as session:
            stored = files.find(session, workspace_id, name)
        if stored is None:
            return None
        digest = stored.sha256
        pins.put(workspace_id, name, digest)
    return digest


def _unreadable(what: str) -> ServiceError:
    message = f"The bytes of {what} could not be read; try again."
    return ServiceError(503, message, kind=ErrorKind.RESOURCE)


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The stored images and fonts of a workspace that were looked up, by name; None is missing.

    Jobs that were claimed together may share them: each then uses files at least as new as its acceptance.
    """

    images: dict[str, bytes | None] = field(default_factory=dict)
    fonts: dict[str, FontFile | None] = field(default_factory=dict)


class WorkspaceImages(Resources):
    """The engine's `Resources` of one job; each name is resolved once, so its image does not change."""

    def __init__(
        self,
        images: Images,
        workspace_id: str | None,
        remote: RemoteImages,
        found: FoundFiles | None = None,
    ) -> None:
        self._images = images
        self._remote = remote
        self._workspace_id = workspace_id
        self._found = FoundFiles() if found is None else found

    def begin_document(self) -> None:
        """Begin the next document of a part, which draws the same images; see `RemoteImages.begin_document`."""
        self._remote.begin_document()

    @property
    def wanted(self) -> Sequence[str]:
        """The URLs of missing images; a render without them must be discarded."""
        return self._remote.wanted

    def find_image(self, name: str) -> bytes | None:
        """Return the bytes of a stored image, None if the workspace has no such image."""
        if self._workspace_id is None:
            return None
        found = self._found.images
        if name not in found:
            found[name] = self._images.find(self._workspace_id, name)
        return found[name]

    def find_font(self, name: str) -> FontFile | None:
        """Return a stored font, None if the workspace has no such font."""
        if self._workspace_id is None or self._images.fonts is None:
            return None
        found = self._found.fonts
        if name not in found:
            found[name] = self._images.fonts.find(self._workspace_id, name)
        return found[name]

    def list_fonts(self) -> Sequence[str]:
        """Return the names of stored fonts."""
        if self._workspace_id is None or self._images.fonts is None:
            return ()
        return self._images.fonts.list_names(self._workspace_id)

    def find_remote_image(self, address: str) -> bytes | None:
        """Return the bytes of a URL.

        Raises:
            ImageUnavailableError: the download failed.
            Unavailable: the fetcher is unavailable.
        """
        return self._remote.find(address)


@dataclass(frozen=True, slots=True)
class AccountSigner:
    """Signs files of one account, if the farm has a signer; see `workers.engine.ports.Signer`.

    The id comes from the job, never from its document. A file that `is_discarded`, as some of its images are
    missing yet, is refused.
    """

    client: SignerClient | None
    account_id: str
    is_discarded: Callable[[], object] = lambda: False

    def sign(self, pdf: bytes, request: SignatureRequest) -> bytes:
        """Return the signed file.

        Raises:
            SigningRefusedError: the certificate or the field cannot be used, or the farm signs no files.
            Unavailable: the signer is unavailable.
        """
        if self.client is None:
            raise SigningRefusedError(
                "This service signs no files, as its operator runs no signer; leave `sign` out"
            )
        if self.is_discarded():
            raise SigningRefusedError("The file has images that are missing yet")
        call = SignatureCall(self.account_id, request.certificate, request.field)
        try:
            return self.client.sign(pdf, call)
        except SignatureRefusedError as error:
            raise SigningRefusedError(f"The file cannot be signed: {error}") from error
