"""The data folder of an embedded farm: its paths, its lock and the record of the running farm."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from shared.encryption import new_key

DEFAULT_FOLDER: Final = Path(".pressroom")


class FolderInUse(Exception):
    """Another farm is running on the data folder; the message names the folder and the process."""


@dataclass(frozen=True, slots=True)
class FarmRecord:
    """The content of `farm.json`: URLs, ports and processes of a running farm; `processes` maps names to pids."""

    pid: int
    url: str
    database_url: str
    redis_url: str  # the URLs of all shards, separated by spaces
    blob_url: str
    broker_url: str = ""  # where it is not Redis
    memory_redis_url: str = ""  # of the Redis that keeps nothing, if any
    ports: Mapping[str, int] = field(default_factory=dict)
    processes: Mapping[str, int] = field(default_factory=dict)
    restarts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The data folder of one farm. Private to its owner, since it contains the Redis password."""

    path: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.path / "pressroom.sqlite3"

    @property
    def blobs(self) -> Path:
        """The folder of blobs."""
        return self.path / "blobs"

    @property
    def redis(self) -> Path:
        """The folder of the append-only files of the first shard."""
        return self.redis_of(0)

    def redis_of(self, shard: int) -> Path:
        """Return the folder of the append-only files of a shard, counted from 0."""
        return self.path / (f"redis-{shard}" if shard else "redis")

    def count_shards(self) -> int:
        """Return the number of shards with files in the folder, 1 for a new folder."""
        count = 1
        while self.redis_of(count).is_dir():
            count += 1
        return count

    @property
    def secret_key(self) -> Path:
        """The file of the key that encrypts secrets in the database."""
        return self.path / "secret.key"

    @property
    def logs(self) -> Path:
        """The folder of the log files, one per process."""
        return self.path / "log"

    @property
    def metrics(self) -> Path:
        """The folder of the front's metric files, in memory where the system has a file system for that.

        The files are memory-mapped: on a full disk a write to one would end its process. Other users
        cannot guess the folder's name.
        """
        memory = Path("/dev/shm")  # noqa: S108 - the name in it is a secret
        if not os.access(memory, os.W_OK):
            return self.path / "metrics"
        return memory / f"pressroom-{sha256(self.read_secret_key().encode()).hexdigest()[:24]}"

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the SQLite file."""
        return f"sqlite:///{self.database}"

    @property
    def blob_url(self) -> str:
        """The URL of the folder of blobs."""
        return f"file://{self.blobs}"

    def create(self) -> None:
        """Create the folder and its subfolders, readable by the owner only."""
        for folder in (self.path, self.blobs, self.redis, self.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def lock(self) -> IO[str]:
        """Lock the folder until the returned file is closed or this process ends.

        Raises:
            FolderInUse: another farm has locked it.
        """
        lock = self._try_lock()
        if lock is None:
            record = self.read_record()
            holder = f" by process {record.pid} at {record.url}" if record else ""
            raise FolderInUse(
                f"{self.path} is in use{holder}; stop that farm or choose another folder with --data"
            )
        return lock

    def _try_lock(self) -> IO[str] | None:
        lock = (self.path / "farm.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return lock

    def read_secret_key(self) -> str:
        """Return the key that encrypts secrets in the database; the first call creates it."""
        if not self.secret_key.exists():
            write_private(self.secret_key, new_key() + "\n")
        return self.secret_key.read_text().strip()

    def write_record(self, record: FarmRecord) -> None:
        """Replace `farm.json` atomically.

        Raises:
            OSError: it could not be written, for example on a full disk; the old content is unchanged.
        """
        write_private(self._record_file, json.dumps(asdict(record), indent=2) + "\n")

    def read_record(self) -> FarmRecord | None:
        """Return the content of `farm.json`, also after its farm died; None if it does not exist."""
        try:
            raw: dict[str, Any] = json.loads(self._record_file.read_text())
        except FileNotFoundError:
            return None
        return FarmRecord(**raw)

    def find_running(self) -> FarmRecord | None:
        """Return the record of the farm running on this folder, None if there is none."""
        if not self._record_file.exists():
            return None
        lock = self._try_lock()
        if lock is None:
            return self.read_record()
        lock.close()
        return None

    def delete_record(self) -> None:
        """Remove `farm.json` after a clean stop."""
        self._record_file.unlink(missing_ok=True)

    @property
    def _record_file(self) -> Path:
        return self.path / "farm.json"


def open_folder(path: Path) -> DataFolder:
    """Return the data folder at `path` as an absolute path, since children run in other folders."""
    return DataFolder(path.expanduser().resolve())


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically by one that only its owner can read."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
