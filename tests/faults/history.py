"""The requests and responses of a run: one JSON line for each request, written as it ends."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One request. `status` is None when the connection broke off before an answer.

    `pages` and `job_id` are of a 200 or a 202, `batch_id` of an accepted batch with `total`
    documents. `flaw` says what was wrong with a 200's PDF, or with an error's form.
    """

    call: str
    started: float
    ended: float
    status: int | None
    job_id: str | None = None
    pages: int = 0
    batch_id: str | None = None
    total: int = 0
    flaw: str | None = None


class History:
    """The entries of a run, in a file; many threads write to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Write an entry."""
        with self._lock:
            with self.path.open("a") as file:
                file.write(json.dumps(asdict(entry)) + "\n")
            self._entries.append(entry)

    def __iter__(self) -> Iterator[Entry]:
        with self._lock:
            return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def count(self, *statuses: int | None) -> int:
        """Return the number of requests that ended in one of these statuses."""
        return sum(entry.status in statuses for entry in self)


def read_history(path: Path) -> list[Entry]:
    """Read a history that was written before."""
    return [Entry(**json.loads(line)) for line in path.read_text().splitlines()]


def instant() -> float:
    """Return the time of an entry."""
    return time.monotonic()
