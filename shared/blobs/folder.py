"""Blobs as files of one folder, for a farm on one machine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote, urlsplit

from shared.blobs.keys import checked_key
from shared.blobs.sections import Section
from shared.blobs.store import BlobMissingError, Part
from shared.errors import Unavailable

_CHUNK_BYTES: Final = 1024 * 1024


class FolderStore:
    """A blob store on a file system; survives a crash at any point (see `BlobStore`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of_url(cls, blob_url: str) -> FolderStore:
        """Open the store of a `file:///folder` URL."""
        return cls(Path(unquote(urlsplit(blob_url).path)))

    def put(self, key: str, stream: BinaryIO, size: int) -> None:
        """Store exactly the next `size` bytes of the stream; see `BlobStore.put`."""
        with self._drafted(key) as file:
            _copy_exactly(stream, file, size)

    def put_all(self, key: str, stream: BinaryIO) -> int:
        """Store all bytes of the stream; see `BlobStore.put_all`."""
        with self._drafted(key) as file:
            while piece := stream.read(_CHUNK_BYTES):
                file.write(piece)
            return file.tell()

    @contextmanager
    def open(self, key: str, *, part: Part | None = None) -> Iterator[BinaryIO]:
        """Open the bytes for reading; see `BlobStore.open`."""
        with self._opened(key) as stream:
            if part is None:
                yield stream
            else:
                stream.seek(part.offset)
                yield Section(stream, part.length)

    def read(self, key: str) -> bytes:
        """Give all the bytes; see `BlobStore.read`."""
        with self._opened(key) as stream, _failures_named():
            return stream.read()

    def delete(self, key: str) -> None:
        """Delete the bytes; see `BlobStore.delete`."""
        with _failures_named():
            self._path(key).unlink(missing_ok=True)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Walk the keys of a prefix; see `BlobStore.list_keys`."""
        folder = self._path(prefix.removesuffix("/"))
        with _failures_named():
            for path in folder.rglob("*"):
                # What begins with a dot is under way, or was when its writer was killed.
                if path.is_file() and not path.name.startswith("."):
                    yield path.relative_to(self._folder).as_posix()

    def check(self) -> None:
        """Make sure the folder takes files; see `BlobStore.check`."""
        with _failures_named():
            self._folder.mkdir(parents=True, exist_ok=True)
            probe = self._folder / f".check.{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()

    @contextmanager
    def _drafted(self, key: str) -> Iterator[BinaryIO]:
        """Open a file for writing that gets its name only when the block ends well."""
        path = self._path(key)
        with _failures_named():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            try:
                with draft.open("xb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
            _sync_folder(path.parent)

    def _path(self, key: str) -> Path:
        return self._folder / checked_key(key)

    def _opened(self, key: str) -> BinaryIO:
        path = self._path(key)
        try:
            with _failures_named():
                return path.open("rb")
        except FileNotFoundError as error:
            raise BlobMissingError(key) from error


def _copy_exactly(stream: BinaryIO, file: BinaryIO, size: int) -> None:
    left = size
    while left:
        piece = stream.read(min(left, _CHUNK_BYTES))
        if not piece:
            raise ValueError(f"the stream ended {left} bytes before its {size}")
        file.write(piece)
        left -= len(piece)


def _sync_folder(folder: Path) -> None:
    # The new name itself must survive a power cut, or a record could point at nothing.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _failures_named() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable("object store") from error
