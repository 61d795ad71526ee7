"""Backup of an embedded farm in one file: a snapshot of the database, and all blobs."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

from deploy.embedded.data_folder import DataFolder
from shared.blobs.store import validate_key
from shared.clock import now, timestamp
from shared.queue.claims import CLAIM_FOLDER

FORMAT: Final = 1
_DATABASE: Final = "pressroom.sqlite3"
_SECRET_KEY: Final = "secret.key"  # noqa: S105 - the name of a file
_BLOBS: Final = "blobs/"
_MANIFEST: Final = "manifest.json"
_SQLITE_BUSY_SECONDS: Final = 30.0
_COMPRESSION: Final = 1  # large members, images and PDFs, are already compressed


class BackupFailed(Exception):
    """A backup cannot be made or restored; the message states the reason and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of an archive; its last member, so that a truncated archive has none."""

    format: int
    made_at: str
    database_sha256: str
    blobs: int


def make_backup(folder: DataFolder, target: Path) -> Manifest:
    """Write a backup of a data folder to a file that only its owner can read; the farm may be running.

    The file gets its name when it is complete.

    Raises:
        BackupFailed: there is no farm, the file exists, or it cannot be written.
    """
    if not folder.database.is_file():
        raise BackupFailed(f"there is no farm in {folder.path}")
    if target.exists():
        raise BackupFailed(f"{target} already exists; choose another file")
    part = target.with_name(f".{target.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            manifest = _write(folder, file, beside=target.parent)
            file.flush()
            os.fsync(file.fileno())
        # A link fails if the target was created meanwhile.
        os.link(part, target)
    except FileExistsError as error:
        raise BackupFailed(f"{target} already exists; choose another file") from error
    except OSError as error:
        raise BackupFailed(f"{target} cannot be written: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise BackupFailed(f"{folder.database} cannot be read: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def restore_backup(source: Path, folder: DataFolder, *, replace: bool = False) -> Manifest:
    """Restore a data folder from a backup.

    With `replace` the existing data are moved to a folder beside it, in a volume of its own
    to one in it, and never deleted. The archive is read and
    checked completely before anything is changed.

    Raises:
        BackupFailed: the file is not a complete backup, or the folder already has a farm.
        FolderInUse: a farm is running on the folder.
    """
    folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.lock():
        try:
            there = [part for part in _parts(folder) if _has_content(part)]
            if there and not replace:
                names = ", ".join(part.name for part in there)
                raise BackupFailed(
                    f"{folder.path} already has a farm ({names}); choose another folder, "
                    "or use --replace, which moves it aside"
                )
            with tempfile.TemporaryDirectory(prefix=".restore-", dir=folder.path) as scratch:
                manifest = _unpack(source, Path(scratch))
                _set_aside(folder, there)
                (Path(scratch) / "blobs").replace(folder.blobs)
                if (key := Path(scratch) / _SECRET_KEY).exists():
                    key.replace(folder.secret_key)
                # Last: it makes the farm complete.
                (Path(scratch) / _DATABASE).replace(folder.database)
        except OSError as error:
            raise BackupFailed(f"{source} cannot be restored: {error.strerror or error}") from error
    return manifest


def _write(folder: DataFolder, file: IO[bytes], *, beside: Path) -> Manifest:
    with (
        tempfile.TemporaryDirectory(prefix=".backup-", dir=beside) as scratch,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_COMPRESSION) as packed_file,
        tarfile.open(fileobj=packed_file, mode="w|") as archive,
    ):
        # Blobs, then the database, then new blobs: blobs are stored before their record and deleted after
        # it, so each record of the copy has its blob.
        packed = _pack_blobs(archive, folder.blobs, frozenset())
        copy = Path(scratch) / _DATABASE
        copy_database(folder.database, copy)
        packed |= _pack_blobs(archive, folder.blobs, packed)
        with copy.open("rb") as database:
            _pack(archive, _DATABASE, database)
            database.seek(0)
            digest = hashlib.file_digest(database, "sha256").hexdigest()
        if folder.secret_key.exists():  # needed to decrypt the secrets of webhooks
            with folder.secret_key.open("rb") as key:
                _pack(archive, _SECRET_KEY, key)
        manifest = Manifest(FORMAT, timestamp(now()), digest, len(packed))
        _pack(archive, _MANIFEST, io.BytesIO(json.dumps(asdict(manifest)).encode()))
    return manifest


def copy_database(source: Path, copy: Path) -> None:
    """Copy a database that may be in use, to one file without a write-ahead log."""
    with (
        closing(sqlite3.connect(source, timeout=_SQLITE_BUSY_SECONDS)) as live,
        closing(sqlite3.connect(copy)) as target,
    ):
        live.backup(target)  # in one step; in WAL mode readers and writers continue
        target.execute("PRAGMA journal_mode = DELETE")


def _pack_blobs(archive: tarfile.TarFile, blobs: Path, known: frozenset[str]) -> frozenset[str]:
    packed = set()
    for path in _files(blobs):
        key = path.relative_to(blobs).as_posix()
        if key in known or key.startswith(CLAIM_FOLDER):  # claims serve running processes only
            continue
        try:
            with path.open("rb") as stream:
                _pack(archive, _BLOBS + key, stream)
        except FileNotFoundError:
            continue  # deleted since it was listed, after its record
        packed.add(key)
    return known | packed


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        # Names with a leading dot are temporary files.
        within = path.relative_to(folder).parts
        if not any(part.startswith(".") for part in within) and path.is_file():
            yield path


def _pack(archive: tarfile.TarFile, name: str, stream: IO[bytes]) -> None:
    info = tarfile.TarInfo(name)
    info.size = stream.seek(0, io.SEEK_END)
    info.mode, info.mtime = 0o600, int(now().timestamp())
    stream.seek(0)
    archive.addfile(info, stream)


def _unpack(source: Path, scratch: Path) -> Manifest:
    (scratch / "blobs").mkdir(mode=0o700)
    blobs, manifest = 0, None
    with _opened(source) as archive:
        for member in archive:
            if not member.isreg():
                raise BackupFailed(f"{source} is not a backup: {member.name!r} is not a file")
            stream = archive.extractfile(member)
            assert stream is not None
            if member.name == _MANIFEST:
                manifest = _read_manifest(source, stream.read(4096))
                break
            _save(stream, _place(source, member.name, scratch))
            blobs += member.name not in (_DATABASE, _SECRET_KEY)
    database = scratch / _DATABASE
    if manifest is None or not database.exists() or blobs != manifest.blobs:
        raise BackupFailed(
            f"{source} is incomplete: it was truncated while it was written or copied"
        )
    _check_database(source, database, manifest)
    return manifest


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(source, mode="r|gz") as archive:
            yield archive
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # an error of the file system, not of the content
        raise BackupFailed(f"{source} is not a complete backup: {error}") from error


def _place(source: Path, name: str, scratch: Path) -> Path:
    if name in (_DATABASE, _SECRET_KEY):
        return scratch / name
    key = name.removeprefix(_BLOBS)
    try:
        if key == name:
            raise ValueError(name)
        return scratch / "blobs" / validate_key(key)  # cannot refer to a path outside
    except ValueError as error:
        raise BackupFailed(f"{source} is not a backup: it contains {name!r}") from error


def _save(stream: IO[bytes], place: Path) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with place.open("xb") as file:
        shutil.copyfileobj(stream, file, 1024 * 1024)
        file.flush()
        os.fsync(file.fileno())
    place.chmod(0o600)


def _read_manifest(source: Path, text: bytes) -> Manifest:
    try:
        manifest = Manifest(**json.loads(text))
    except (ValueError, TypeError) as error:
        raise BackupFailed(f"{source} is not a backup: its manifest is malformed") from error
    if manifest.format != FORMAT:
        raise BackupFailed(
            f"{source} is of format {manifest.format}; this release reads format {FORMAT}"
        )
    return manifest


def _check_database(source: Path, database: Path, manifest: Manifest) -> None:
    with database.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != manifest.database_sha256:
        raise BackupFailed(f"{source} is damaged: the checksum of its database is wrong")
    with closing(sqlite3.connect(database)) as opened:
        [said] = opened.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise BackupFailed(f"{source} is damaged: {said}")


def _parts(folder: DataFolder) -> list[Path]:
    beside = [folder.database.with_name(f"{folder.database.name}{end}") for end in ("-wal", "-shm")]
    # Redis too: its queue and counters belong to the replaced farm.
    return [folder.database, *beside, folder.secret_key, folder.blobs, *_redis_folders(folder)]


def _redis_folders(folder: DataFolder) -> list[Path]:
    return [folder.redis_of(shard) for shard in range(folder.count_shards())]


def _has_content(part: Path) -> bool:
    return part.is_file() or (part.is_dir() and any(part.iterdir()))


def _set_aside(folder: DataFolder, parts: list[Path]) -> None:
    for empty in (folder.blobs, *_redis_folders(folder)):
        if empty.is_dir() and empty not in parts:
            empty.rmdir()
    if not parts:
        return
    prefix, home = f"replaced-{now():%Y%m%dT%H%M%S}-", folder.path
    if os.access(home.parent, os.W_OK) and home.stat().st_dev == home.parent.stat().st_dev:
        prefix, home = f"{home.name}.{prefix}", home.parent
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
    for part in parts:
        part.replace(aside / part.name)
