"""What a render needs beside its message: prepared templates and images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from shared.blobs.store import BlobMissingError, BlobStore
from shared.buckets.pins import Pins
from shared.db.images import IMAGES
from shared.db.session import Database
from shared.db.templates import get_content
from shared.errors import ErrorKind, ServiceError
from shared.limits import MB
from shared.outbound import Fetcher
from shared.telemetry.watch import UNWATCHED, Cache, Watch
from workers.engine.pipeline import PreparedTemplate
from workers.engine.ports import FontFile
from workers.farm.cache import SizedCache
from workers.farm.fonts import StoredFonts
from workers.farm.remote import RemoteImages

# A prepared template takes some ten times its text.
TEMPLATE_TEXT_BYTES: Final = 8 * MB
IMAGE_BYTES: Final = 64 * MB
_READ_ATTEMPTS: Final = 3


class Templates:
    """Templates by the SHA-256 of their text: parsed and compiled once in this process."""

    def __init__(
        self,
        database: Database,
        prepare: Callable[[bytes], PreparedTemplate],
        *,
        watch: Watch = UNWATCHED,
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._prepared: SizedCache[PreparedTemplate] = SizedCache(
            Cache.TEMPLATES, max_bytes=TEMPLATE_TEXT_BYTES, watch=watch
        )

    def get(self, sha256: str) -> PreparedTemplate:
        """Give the template of a pinned text.

        Raises:
            LookupError: no text of this SHA-256 is kept; a pinned one always is.
            Unavailable: the database is away.
        """
        return self._prepared.get(sha256, lambda: self._read(sha256))

    def _read(self, sha256: str) -> tuple[PreparedTemplate, int]:
        with self._database.snapshot() as session:
            text = get_content(session, sha256).encode()
        return self._prepare(text), len(text)


class Images:
    """The stored images of all workspaces, their bytes kept by content."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        pins: Pins,
        *,
        fetcher: Fetcher,
        fonts: StoredFonts | None = None,
        watch: Watch = UNWATCHED,
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
        """Give the images one job may draw; without a workspace those at addresses alone."""
        return WorkspaceImages(self, workspace_id, RemoteImages(self._fetcher, account_id))

    def find(self, workspace_id: str, name: str) -> bytes | None:
        """Give the bytes the name has now, None when the workspace has no image of that name.

        Raises:
            Unavailable: the database or the object store is away.
            ServiceError: the image was replaced again and again while it was read.
        """
        for _ in range(_READ_ATTEMPTS):
            sha256 = self._find_digest(workspace_id, name)
            if sha256 is None:
                return None
            key = IMAGES.blob_key(workspace_id, sha256)
            try:
                return self._bytes.get(key, partial(self._read, key))
            except BlobMissingError:
                continue  # replaced between the record and the bytes: look again
        raise ServiceError(
            503,
            f"The bytes of image '{name}' could not be read; try again.",
            kind=ErrorKind.RESOURCE,
        )

    def _find_digest(self, workspace_id: str, name: str) -> str | None:
        pinned = self._pins.find(workspace_id, name)
        if pinned is not None:
            return pinned
        with self._database.snapshot() as session:
            image = IMAGES.find(session, workspace_id, name)
        if image is None:
            return None
        self._pins.put(workspace_id, name, image.facts.sha256)
        return image.facts.sha256

    def _read(self, key: str) -> tuple[bytes, int]:
        data = self._blobs.read(key)
        return data, len(data)


class WorkspaceImages:
    """The engine's `Resources` of one job; each name is looked up once, so it stays one picture."""

    def __init__(self, images: Images, workspace_id: str | None, remote: RemoteImages) -> None:
        self._images = images
        self._remote = remote
        self._workspace_id = workspace_id
        self._found: dict[str, bytes | None] = {}
        self._fonts: dict[str, FontFile | None] = {}

    def find_image(self, name: str) -> bytes | None:
        """Give the bytes of a stored image, None when the workspace has none of that name."""
        if self._workspace_id is None:
            return None
        if name not in self._found:
            self._found[name] = self._images.find(self._workspace_id, name)
        return self._found[name]

    def find_font(self, name: str) -> FontFile | None:
        """Return a stored font, None when the workspace has none of that name."""
        if self._workspace_id is None or self._images.fonts is None:
            return None
        if name not in self._fonts:
            self._fonts[name] = self._images.fonts.find(self._workspace_id, name)
        return self._fonts[name]

    def list_fonts(self) -> Sequence[str]:
        """Return the names of stored fonts."""
        if self._workspace_id is None or self._images.fonts is None:
            return ()
        return self._images.fonts.list_names(self._workspace_id)

    def find_remote_image(self, address: str) -> bytes | None:
        """Give the bytes at an address.

        Raises:
            ImageAwayError: they cannot be had.
            Unavailable: the fetcher is away.
        """
        return self._remote.find(address)
