"""A cache of key states in the process, invalidated by messages of Redis."""

from __future__ import annotations

import weakref
from datetime import date
from threading import Event, Lock, Thread
from typing import Any, Final

from redis import Redis

from shared.clock import ticks
from shared.redis_state.key_state import Admission
from shared.telemetry.log import get_logger

# The channel on which changed keys are published (`put_key.lua`, `drop_keys.lua`).
CHANGES: Final = "key:changes"
EVERY_KEY: Final = "*"  # published instead of a key if all have changed
# If a message is lost: half of what contract.md 2 allows a revoked key.
FRESH_SECONDS: Final = 0.5
_MAX_ENTRIES: Final = 10_000
_LISTEN_SECONDS: Final = 1.0
_RECONNECT_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class LocalKeyCache:
    """Caches key states for half a second, or until a message reports a change.

    The first lookup subscribes to the channel of changes; without a subscription nothing is cached. A
    change without a message, as after Redis was emptied, takes effect after `FRESH_SECONDS`.
    """

    def __init__(self, redis: Redis, *, prefix: str) -> None:
        self._redis = redis
        self._entries = _Entries(prefix)
        self._lock = Lock()
        self._listener: Thread | None = None

    @property
    def is_listening(self) -> bool:
        """Whether the subscription to changes is active."""
        return self._entries.is_listening

    def find(self, key_digest: str, *, today: date) -> Admission | None:
        """Return the cached state of a key; entries of an earlier day are ignored, since periods end with a day."""
        return self._entries.find(key_digest, today=today)

    def begin(self) -> int | None:
        """Return the version to pass to `keep`, read before the key; None means do not cache."""
        if self._listener is None:
            self._start()
        return self._entries.version if self._entries.is_listening else None

    def keep(self, key_digest: str, admission: Admission, *, today: date, begun: int) -> None:
        """Cache a state, unless any key has changed since `begun`."""
        self._entries.keep(key_digest, admission, today=today, begun=begun)

    def forget(self) -> None:
        """Drop all entries, and those of reads in progress."""
        self._entries.forget()

    def _start(self) -> None:
        with self._lock:
            if self._listener is not None:
                return
            stop = Event()
            self._listener = Thread(
                target=_listen,
                args=(self._redis, self._entries, stop),
                name="key-changes",
                daemon=True,
            )
            self._listener.start()
            weakref.finalize(self, stop.set)


class _Entries:
    """The entries, shared with the listening thread, which must not reference the owner."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._lock = Lock()
        self._states: dict[str, tuple[float, date, Admission]] = {}
        self.version = 0  # changes with every message
        self.is_listening = False

    def find(self, key_digest: str, *, today: date) -> Admission | None:
        kept = self._states.get(key_digest)
        if kept is None or kept[0] <= ticks() or kept[1] != today:
            return None
        return kept[2]

    def keep(self, key_digest: str, admission: Admission, *, today: date, begun: int) -> None:
        with self._lock:
            if begun != self.version:
                return
            if len(self._states) >= _MAX_ENTRIES:
                self._states.clear()
            self._states[key_digest] = (ticks() + FRESH_SECONDS, today, admission)

    def forget(self) -> None:
        with self._lock:
            self.version += 1
            self._states.clear()

    def set_listening(self, is_listening: bool) -> None:
        """Set whether the subscription is active, and drop all entries."""
        self.is_listening = is_listening
        self.forget()

    def take(self, message: dict[str, Any]) -> None:
        """Handle a message of the channel, as redis-py returns it."""
        if message["type"] == "subscribe":  # also after a reconnect: messages may have been missed
            self.set_listening(True)
            return
        key = bytes(message["data"]).decode("utf-8", "replace")
        if key == EVERY_KEY:
            self.forget()
            return
        with self._lock:
            self.version += 1
            self._states.pop(key.removeprefix(self._prefix), None)


def _listen(redis: Redis, kept: _Entries, stop: Event) -> None:
    with redis.pubsub() as channel:  # type: ignore[no-untyped-call]
        is_subscribed = False
        while not stop.is_set():
            try:
                if not is_subscribed:
                    channel.subscribe(CHANGES)
                    is_subscribed = True
                message = channel.get_message(timeout=_LISTEN_SECONDS)
            except Exception as error:  # noqa: BLE001 - redis-py raises various exceptions if its client is closed
                log.debug("subscription to key changes lost", cause=repr(error))
                kept.set_listening(False)
                stop.wait(_RECONNECT_SECONDS)
            else:
                if message is not None:
                    kept.take(message)
