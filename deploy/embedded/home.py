"""The data folder of an embedded farm: what lies where, who holds it, how to reach it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from shared.encryption import new_key

DEFAULT_FOLDER: Final = Path(".pressroom")


class FolderTaken(Exception):
    """Another farm runs on the data folder; the text names the folder and the process."""


@dataclass(frozen=True, slots=True)
class FarmRecord:
    """How a running farm is reached: `farm.json`. `processes` maps each name to its process id."""

    pid: int
    url: str
    database_url: str
    redis_url: str  # of several shards the URLs of all, with spaces between
    blob_url: str
    ports: Mapping[str, int] = field(default_factory=dict)
    processes: Mapping[str, int] = field(default_factory=dict)
    restarts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Everything one embedded farm keeps. Private to its owner: it has the Redis password."""

    path: Path

    @property
    def database(self) -> Path:
        """Give the SQLite file."""
        return self.path / "pressroom.sqlite3"

    @property
    def blobs(self) -> Path:
        """Give the folder of blobs."""
        return self.path / "blobs"

    @property
    def redis(self) -> Path:
        """Give the folder of the append-only files of the first shard."""
        return self.redis_of(0)

    def redis_of(self, shard: int) -> Path:
        """Give the folder of the append-only files of a shard, counted from 0."""
        return self.path / (f"redis-{shard}" if shard else "redis")

    def count_shards(self) -> int:
        """Count the shards that the folder has files of; one where it has none yet."""
        count = 1
        while self.redis_of(count).is_dir():
            count += 1
        return count

    @property
    def secret_key(self) -> Path:
        """Return the file of the key that encrypts secrets in the database."""
        return self.path / "secret.key"

    @property
    def logs(self) -> Path:
        """Give the folder of the log files, one per process."""
        return self.path / "log"

    @property
    def metrics(self) -> Path:
        """Give the folder of the front's metric files."""
        return self.path / "metrics"

    @property
    def database_url(self) -> str:
        """Give the SQLAlchemy URL of the SQLite file."""
        return f"sqlite:///{self.database}"

    @property
    def blob_url(self) -> str:
        """Give the URL of the folder of blobs."""
        return f"file://{self.blobs}"

    def create(self) -> None:
        """Make the folder and its parts, readable by the owner alone."""
        for folder in (self.path, self.blobs, self.redis, self.logs, self.metrics):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def take(self) -> FolderLock:
        """Hold the folder until the lock is released or this process ends.

        Raises:
            FolderTaken: another farm holds it.
        """
        lock = FolderLock.find(self.path / "farm.lock")
        if lock is None:
            record = self.read_record()
            holder = f" by process {record.pid} at {record.url}" if record else ""
            raise FolderTaken(
                f"{self.path} is in use{holder}; stop that farm or name another folder with --data"
            )
        return lock

    def read_secret_key(self) -> str:
        """Return the key that encrypts secrets in the database; the first call makes it."""
        if not self.secret_key.exists():
            write_private(self.secret_key, new_key() + "\n")
        return self.secret_key.read_text().strip()

    def write_record(self, record: FarmRecord) -> None:
        """Publish how the farm is reached; readers see the old text or the new, never a part.

        Raises:
            OSError: it could not be written, as on a full disk; the old text is still there.
        """
        write_private(self._record_file, json.dumps(asdict(record), indent=2) + "\n")

    def read_record(self) -> FarmRecord | None:
        """Give what `farm.json` says, also after its farm died; None when there is none."""
        try:
            raw: dict[str, Any] = json.loads(self._record_file.read_text())
        except FileNotFoundError:
            return None
        return FarmRecord(**raw)

    def find_running(self) -> FarmRecord | None:
        """Give the record of the farm that runs on this folder now, None when none does."""
        if not self._record_file.exists():
            return None
        lock = FolderLock.find(self.path / "farm.lock")
        if lock is None:
            return self.read_record()
        lock.release()
        return None

    def forget_record(self) -> None:
        """Remove `farm.json` after a clean stop."""
        self._record_file.unlink(missing_ok=True)

    @property
    def _record_file(self) -> Path:
        return self.path / "farm.json"


class FolderLock:
    """A lock that the kernel drops with the process that holds it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def find(cls, path: Path) -> FolderLock | None:
        """Take the lock, or give None when another process holds it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return cls(descriptor)

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)


def open_folder(path: Path) -> DataFolder:
    """Give the data folder at `path`, made absolute: children run in other folders."""
    return DataFolder(path.expanduser().resolve())


def write_private(path: Path, text: str) -> None:
    """Replace a file at once with one that its owner alone can read."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
