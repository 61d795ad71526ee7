"""A blob store in a folder, for a farm on one machine."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote, urlsplit

from shared.blobs.store import BlobMissingError, ByteRange, ExactReader, LimitedReader, validate_key
from shared.clock import machine_epoch
from shared.errors import StorageFull, Unavailable, is_disk_full
from shared.telemetry.observer import NULL_OBSERVER, Observer, Store, timed, timed_as

_CHUNK_BYTES: Final = 1024 * 1024
# The folder of temporary files; no key begins with a dot.
_TEMPORARY_FOLDER: Final = ".drafts"
_MAX_ATTEMPTS: Final = 100


class FolderStore:
    """A blob store on a file system, consistent after a crash at any point (see `BlobStore`)."""

    def __init__(self, folder: Path, *, observer: Observer = NULL_OBSERVER) -> None:
        self._folder = folder
        self.observer: Final = observer

    @classmethod
    def of_url(cls, blob_url: str, *, observer: Observer = NULL_OBSERVER) -> FolderStore:
        """Open the store of a `file:///folder` URL."""
        return cls(Path(unquote(urlsplit(blob_url).path)), observer=observer)

    @property
    def is_local(self) -> bool:
        """True."""
        return True

    @timed_as("put")
    def put(
        self, key: str, stream: BinaryIO, size: int | None = None, *, is_transient: bool = False
    ) -> None:
        """Store the next `size` bytes of the stream, or all that it has; see `BlobStore.put`."""
        whole = stream if size is None else ExactReader(stream, size)
        with self._open_for_writing(key, is_transient=is_transient) as file:
            shutil.copyfileobj(whole, file, _CHUNK_BYTES)

    @contextmanager
    def open(self, key: str, *, byte_range: ByteRange | None = None) -> Iterator[BinaryIO]:
        """Open the bytes for reading; see `BlobStore.open`."""
        with timed(self.observer, Store.OBJECT_STORE, "open"):
            opened = self._open_for_reading(key)
        with opened as stream:
            if byte_range is None:
                yield stream
            else:
                stream.seek(byte_range.offset)
                yield LimitedReader(stream, byte_range.length)

    @timed_as("read")
    def read(self, key: str) -> bytes:
        """Return all the bytes; see `BlobStore.read`."""
        with self._open_for_reading(key) as stream, _translate_errors():
            return stream.read()

    @timed_as("delete")
    def delete(self, key: str) -> None:
        """Delete the bytes and folders that become empty; see `BlobStore.delete`."""
        path = self._path(key)
        with _translate_errors():
            path.unlink(missing_ok=True)
        self._prune(path)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Iterate over the keys of a prefix; see `BlobStore.list_keys`."""
        top = self._path(prefix.removesuffix("/"))
        with _translate_errors():
            for folder, _, names in os.walk(top, onerror=_raise_unless_missing):
                within = Path(folder).relative_to(self._folder).as_posix()
                # Names with a leading dot are temporary files of an earlier release.
                yield from (f"{within}/{name}" for name in names if not name.startswith("."))

    def remove_temporary_files(self, *, older_than_seconds: float) -> int:
        """Remove files that interrupted writers left; see `BlobStore.remove_temporary_files`."""
        written_before = machine_epoch() - older_than_seconds
        count = 0
        with _translate_errors(), suppress(FileNotFoundError), os.scandir(self._drafts) as drafts:
            for draft in drafts:
                with suppress(FileNotFoundError):
                    if draft.stat().st_mtime < written_before:
                        Path(draft.path).unlink()
                        count += 1
        return count

    def check(self) -> None:
        """Check that a file can be created; see `BlobStore.check`."""
        with _translate_errors():
            self._drafts.mkdir(parents=True, exist_ok=True)
            probe = self._drafts / f"check.{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()

    @property
    def _drafts(self) -> Path:
        return self._folder / _TEMPORARY_FOLDER

    @contextmanager
    def _open_for_writing(self, key: str, *, is_transient: bool = False) -> Iterator[BinaryIO]:
        """Open a file for writing; it gets its name only if the block succeeds."""
        path = self._path(key)
        draft = self._drafts / secrets.token_hex(12)
        with _translate_errors():
            try:
                with _open_temporary(draft, path.parent) as file:
                    yield file
                    file.flush()
                    if not is_transient:
                        os.fsync(file.fileno())
                    _link_into_place(file, draft, path)
            except BaseException:
                self._prune(path)
                raise
            finally:
                draft.unlink(missing_ok=True)
            if not is_transient:
                with suppress(FileNotFoundError):  # it may already be deleted again
                    _sync_folder(path.parent)

    def _prune(self, path: Path) -> None:
        """Remove the empty folders of a file's path."""
        with suppress(OSError):  # not empty, or already removed
            for folder in path.relative_to(self._folder).parents[:-1]:
                (self._folder / folder).rmdir()

    def _path(self, key: str) -> Path:
        return self._folder / validate_key(key)

    def _open_for_reading(self, key: str) -> BinaryIO:
        path = self._path(key)
        try:
            with _translate_errors():
                return path.open("rb")
        except FileNotFoundError as error:
            raise BlobMissingError(key) from error


def _open_temporary(draft: Path, folder: Path) -> BinaryIO:
    """Open an unnamed file (O_TMPFILE), which disappears if its writer is killed.

    It is created in its target folder: ext4 allocates near that folder, which takes 0.6 ms where a common
    folder for all temporary files has filled its neighbourhood.
    """
    for _ in range(_MAX_ATTEMPTS):
        try:
            descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        except FileNotFoundError:
            _make_folder(folder)
        except OSError:
            # Some file systems lack O_TMPFILE; the maintenance process removes named leftovers.
            break
        else:
            return os.fdopen(descriptor, "w+b")
    draft.parent.mkdir(parents=True, exist_ok=True)
    return draft.open("xb")


def _link_into_place(file: BinaryIO, draft: Path, path: Path) -> None:
    """Link a file to its path; retry if a concurrent deletion removed its folder."""
    for _ in range(_MAX_ATTEMPTS):
        with suppress(FileNotFoundError):
            if not _link(file, path):
                # Replacing an existing file needs a temporary name and a rename.
                draft.parent.mkdir(parents=True, exist_ok=True)
                _link(file, draft)
                draft.replace(path)
            return
        _make_folder(path.parent)
    raise OSError(f"no folder for {path.name} in {_MAX_ATTEMPTS} tries")


def _make_folder(folder: Path) -> None:
    """Create a folder; others may create or remove it at the same time."""
    with suppress(FileNotFoundError, FileExistsError):
        folder.mkdir(parents=True)


def _link(file: BinaryIO, path: Path) -> bool:
    """Link a file to a path; return whether that was possible.

    Raises:
        FileNotFoundError: the folder does not exist.
    """
    descriptor = file.fileno()
    source = f"/proc/self/fd/{descriptor}"
    try:
        # Only with `src_dir_fd` does Python follow the symbolic link (linkat(2), AT_SYMLINK_FOLLOW).
        os.link(source, path, src_dir_fd=descriptor, follow_symlinks=True)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _sync_folder(folder: Path) -> None:
    # The new name must survive a power failure, or a record could refer to a missing file.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        part = "object store"
        raise (StorageFull(part) if is_disk_full(error) else Unavailable(part)) from error
