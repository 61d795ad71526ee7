"""Blobs as files of one folder, for a farm on one machine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote, urlsplit

from shared.blobs.keys import checked_key
from shared.blobs.sections import Section
from shared.blobs.store import BlobMissingError, Part
from shared.clock import machine_epoch
from shared.errors import NoSpace, Unavailable, is_full

_CHUNK_BYTES: Final = 1024 * 1024
# Where files lie that must have a name before they have their own; no key begins with a dot.
_DRAFTS: Final = ".drafts"
_NAMINGS: Final = 100


class FolderStore:
    """A blob store on a file system; survives a crash at any point (see `BlobStore`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of_url(cls, blob_url: str) -> FolderStore:
        """Open the store of a `file:///folder` URL."""
        return cls(Path(unquote(urlsplit(blob_url).path)))

    @property
    def is_near(self) -> bool:
        """Say yes."""
        return True

    def put(self, key: str, stream: BinaryIO, size: int, *, is_brief: bool = False) -> None:
        """Store exactly the next `size` bytes of the stream; see `BlobStore.put`."""
        with self._drafted(key, is_brief=is_brief) as file:
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
        """Delete the bytes, and the folders that have nothing left; see `BlobStore.delete`."""
        path = self._path(key)
        with _failures_named():
            path.unlink(missing_ok=True)
        self._prune(path)

    def list_keys(self, prefix: str) -> Iterator[str]:
        """Walk the keys of a prefix; see `BlobStore.list_keys`."""
        top = self._path(prefix.removesuffix("/"))
        with _failures_named():
            for folder, _, names in os.walk(top, onerror=_refuse_unless_gone):
                within = Path(folder).relative_to(self._folder).as_posix()
                # What begins with a dot was under way in an earlier release.
                yield from (f"{within}/{name}" for name in names if not name.startswith("."))

    def remove_drafts(self, *, older_than_seconds: float) -> int:
        """Remove what killed writers left behind; see `BlobStore.remove_drafts`."""
        written_before = machine_epoch() - older_than_seconds
        count = 0
        with _failures_named(), suppress(FileNotFoundError), os.scandir(self._drafts) as drafts:
            for draft in drafts:
                with suppress(FileNotFoundError):
                    if draft.stat().st_mtime < written_before:
                        Path(draft.path).unlink()
                        count += 1
        return count

    def check(self) -> None:
        """Make sure the folder takes files; see `BlobStore.check`."""
        with _failures_named():
            self._drafts.mkdir(parents=True, exist_ok=True)
            probe = self._drafts / f"check.{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()

    @property
    def _drafts(self) -> Path:
        return self._folder / _DRAFTS

    @contextmanager
    def _drafted(self, key: str, *, is_brief: bool = False) -> Iterator[BinaryIO]:
        """Open a file for writing that gets its name only when the block ends well."""
        path = self._path(key)
        draft = self._drafts / secrets.token_hex(12)
        with _failures_named():
            try:
                with _open_draft(draft, path.parent) as file:
                    yield file
                    file.flush()
                    if not is_brief:
                        os.fsync(file.fileno())
                    _name(file, draft, path)
            except BaseException:
                self._prune(path)
                raise
            finally:
                draft.unlink(missing_ok=True)
            if not is_brief:
                with suppress(FileNotFoundError):  # deleted again by now
                    _sync_folder(path.parent)

    def _prune(self, path: Path) -> None:
        """Remove the folders of a file that have nothing in them."""
        with suppress(OSError):  # it is not empty, or not there
            for folder in path.relative_to(self._folder).parents[:-1]:
                (self._folder / folder).rmdir()

    def _path(self, key: str) -> Path:
        return self._folder / checked_key(key)

    def _opened(self, key: str) -> BinaryIO:
        path = self._path(key)
        try:
            with _failures_named():
                return path.open("rb")
        except FileNotFoundError as error:
            raise BlobMissingError(key) from error


def _open_draft(draft: Path, folder: Path) -> BinaryIO:
    """Open a file that has no name yet, so that it is gone with a writer that is killed.

    It is made in the folder it is for: ext4 looks for room near the folder a file is made in, and for
    0.6 ms once much is there, as it is around a folder that all files would be made in.
    """
    for _ in range(_NAMINGS):
        try:
            descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
        except FileNotFoundError:
            _make_folder(folder)
        except OSError:
            # Not every file system has such files; the keeper removes what is left of these.
            break
        else:
            return os.fdopen(descriptor, "w+b")
    draft.parent.mkdir(parents=True, exist_ok=True)
    return draft.open("xb")


def _name(file: BinaryIO, draft: Path, path: Path) -> None:
    """Give a file its place, again where a deletion took the folder that was empty meanwhile."""
    for _ in range(_NAMINGS):
        with suppress(FileNotFoundError):
            if not _link(file, path):
                # In place of another file it goes by the name of its draft, which it may have.
                draft.parent.mkdir(parents=True, exist_ok=True)
                _link(file, draft)
                draft.replace(path)
            return
        _make_folder(path.parent)
    raise OSError(f"no folder for {path.name} in {_NAMINGS} tries")


def _make_folder(folder: Path) -> None:
    """Make a folder that may be there by now, or not any more."""
    with suppress(FileNotFoundError, FileExistsError):
        folder.mkdir(parents=True)


def _link(file: BinaryIO, path: Path) -> bool:
    """Give a file a name; tell whether it could be given.

    Raises:
        FileNotFoundError: its folder is gone.
    """
    descriptor = file.fileno()
    source = f"/proc/self/fd/{descriptor}"
    try:
        # With any descriptor beside an absolute path, or Python would link the link itself.
        os.link(source, path, src_dir_fd=descriptor, follow_symlinks=True)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True


def _refuse_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


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
        part = "object store"
        raise (NoSpace(part) if is_full(error) else Unavailable(part)) from error
