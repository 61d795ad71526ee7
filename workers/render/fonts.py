"""Stored fonts of workspaces for renders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from shared.blobs.store import BlobMissingError, BlobStore
from shared.db.session import Database
from shared.errors import ErrorKind, ServiceError
from shared.files.repository import FONTS
from shared.templates.pinning import Pins
from workers.engine.ports import FontFile


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
        sha256 = self.pins.find(workspace_id, name)
        if sha256 is None:
            with self.database.snapshot() as session:
                font = FONTS.find(session, workspace_id, name)
            if font is None:
                return None
            sha256 = font.properties.sha256
            self.pins.put(workspace_id, name, sha256)
        return FontFile(sha256, partial(self._read, workspace_id, name, sha256))

    def list_names(self, workspace_id: str) -> Sequence[str]:
        """Return the names of the workspace's fonts."""
        with self.database.snapshot() as session:
            return FONTS.list_names(session, workspace_id)

    def _read(self, workspace_id: str, name: str, sha256: str) -> bytes:
        try:
            return self.blobs.read(FONTS.blob_key(workspace_id, sha256))
        except BlobMissingError as error:
            raise ServiceError(
                503,
                f"The bytes of font '{name}' could not be read; try again.",
                kind=ErrorKind.RESOURCE,
            ) from error
