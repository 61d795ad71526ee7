"""Key states that this process read a moment ago, and that nobody has changed since."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from redis import Redis, RedisError
from redis.connection import Connection
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.clock import ticks

if TYPE_CHECKING:
    from shared.buckets.admission import Admission

# Should word of a change get lost: half of what contract.md 2 allows a revoked key.
FRESH_SECONDS: Final = 0.5
_MOST_KEPT: Final = 10_000
_LISTEN_SECONDS: Final = 1.0
_RECONNECT_SECONDS: Final = 1.0


class RecentKeys:
    """Keeps what was read of a key for half a second, or until Redis says that the key changed.

    Redis sends word itself (`CLIENT TRACKING`), on a connection that is begun by the first look. As
    long as there is none, nothing is kept. What Redis does not say reaches nobody later than
    `FRESH_SECONDS`.
    """

    def __init__(self, redis: Redis, *, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix
        self._lock = Lock()
        self._kept: dict[str, tuple[float, date, Admission]] = {}
        self._version = 0  # changes with every word that was heard
        self._listener: Thread | None = None
        self._is_listening = False

    def find(self, key_digest: str, *, today: date) -> Admission | None:
        """Give what is kept of a key; periods end with the day, so what was read yesterday is not."""
        kept = self._kept.get(key_digest)
        if kept is None or kept[0] <= ticks() or kept[1] != today:
            return None
        return kept[2]

    def begin(self) -> int | None:
        """Give what `keep` has to know of the moment before a key is read; None: keep nothing."""
        if self._listener is None:
            self._start()
        return self._version if self._is_listening else None

    def keep(self, key_digest: str, admission: Admission, *, today: date, begun: int) -> None:
        """Keep what was read, unless anything changed meanwhile: it may have been this key."""
        with self._lock:
            if begun != self._version:
                return
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key_digest] = (ticks() + FRESH_SECONDS, today, admission)

    def forget(self) -> None:
        """Forget all that was kept, and what is being read."""
        with self._lock:
            self._version += 1
            self._kept.clear()

    def hear(self, keys: Iterable[bytes] | None) -> None:
        """Take Redis' word for which keys changed; None is everything."""
        if keys is None:
            self.forget()
            return
        with self._lock:
            self._version += 1
            for key in keys:
                self._kept.pop(key.decode("utf-8", "replace").removeprefix(self._prefix), None)

    def set_listening(self, is_listening: bool) -> None:
        """Say whether Redis' word is heard from now on; what was kept before is forgotten."""
        self._is_listening = is_listening
        self.forget()

    def _start(self) -> None:
        with self._lock:
            if self._listener is not None:
                return
            # It ends with its owner, and so must not keep it.
            self._listener = Thread(
                target=_listen,
                args=(weakref.ref(self), self._redis.connection_pool, self._prefix),
                name="key-changes",
                daemon=True,
            )
            self._listener.start()


def _listen(owner: weakref.ref[RecentKeys], pool: Any, prefix: str) -> None:
    """Tell the owner of every change for as long as there is one."""
    while owner() is not None:
        # Only protocol 3 brings word beside answers.
        connection = pool.connection_class(**pool.connection_kwargs | {"protocol": 3})
        try:
            _follow(owner, connection, prefix)
        except (RedisError, OSError):
            _tell(owner, lambda keys: keys.set_listening(False))
            time.sleep(_RECONNECT_SECONDS)
        finally:
            connection.disconnect()


def _follow(owner: weakref.ref[RecentKeys], connection: Connection, prefix: str) -> None:
    connection.connect()  # type: ignore[no-untyped-call]
    connection.send_command("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", prefix)  # type: ignore[no-untyped-call]
    connection.read_response()
    connection._parser.set_invalidation_push_handler(
        lambda word: _tell(owner, lambda keys: keys.hear(word[1]))
    )
    _tell(owner, lambda keys: keys.set_listening(True))
    while owner() is not None:
        with suppress(RedisTimeoutError):
            connection.read_response(
                push_request=True, timeout=_LISTEN_SECONDS, disconnect_on_error=False
            )


def _tell(owner: weakref.ref[RecentKeys], what: Callable[[RecentKeys], None]) -> None:
    keys = owner()
    if keys is not None:
        what(keys)
