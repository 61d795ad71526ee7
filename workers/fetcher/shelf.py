"""What was fetched, kept for the account that asked for it: so many bytes, for so long."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final, NamedTuple

from shared.clock import ticks
from shared.outbound import TargetUnreachableError, Told
from workers.fetcher.bodies import Body

# What is not asked for again for this long goes, also when it could still be revalidated.
KEEP_SECONDS: Final = 3600.0
_ENTRIES: Final = 4096
# What an entry takes beside its bytes.
_OVERHEAD_BYTES: Final = 4096


class Key(NamedTuple):
    """Whose, and what. An account never sees what another one fetched, nor how quickly."""

    account: str
    url: str


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a fetch: the status of the other server with a body, or why there is none."""

    status: int
    body: Body | None = None
    failure: TargetUnreachableError | None = None

    @property
    def size(self) -> int:
        """Give the number of its bytes."""
        return 0 if self.body is None else self.body.size


@dataclass(frozen=True, slots=True)
class Kept:
    """Something found, until when it may be used, and what its server said of that."""

    found: Found
    fresh_until: float
    told: tuple[Told, ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Tell whether it may be used without asking."""
        return ticks() < self.fresh_until


class Shelf:
    """Keeps what is used most lately; safe to share between threads."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._kept: OrderedDict[Key, tuple[Kept, float]] = OrderedDict()  # the latest used last
        self._size = 0

    @property
    def size(self) -> int:
        """Give the number of bytes that lie here."""
        return self._size

    def find(self, key: Key) -> Kept | None:
        """Give what is kept, fresh or not, None for nothing."""
        with self._lock:
            if key not in self._kept:
                return None
            kept, _ = self._kept[key]
            self._kept[key] = (kept, ticks())
            self._kept.move_to_end(key)
            return kept

    def put(self, key: Key, kept: Kept) -> None:
        """Keep something in place of what was there; what does not fit is not kept."""
        with self._lock:
            self._drop(key)
            if _cost(kept) > self._max_bytes:
                return
            self._kept[key] = (kept, ticks())
            self._size += _cost(kept)
            while self._size > self._max_bytes or len(self._kept) > _ENTRIES:
                self._drop(next(iter(self._kept)))

    def drop(self, key: Key) -> None:
        """Keep nothing under a key."""
        with self._lock:
            self._drop(key)

    def clear_old(self) -> None:
        """Let go of what nobody has asked for in a while."""
        with self._lock:
            since = ticks() - KEEP_SECONDS
            while self._kept and next(iter(self._kept.values()))[1] < since:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        if key in self._kept:
            kept, _ = self._kept.pop(key)
            self._size -= _cost(kept)


def _cost(kept: Kept) -> int:
    return kept.found.size + _OVERHEAD_BYTES
