"""Key states that this process read a moment ago, and that nobody has changed since."""

from __future__ import annotations

import weakref
from datetime import date
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from redis import Redis

from shared.clock import ticks
from shared.telemetry.log import get_logger

if TYPE_CHECKING:
    from shared.buckets.admission import Admission

# The channel on which whoever changes a cached state publishes its key (`put_key.lua`, `drop_keys.lua`).
CHANGES: Final = "key:changes"
EVERY_KEY: Final = "*"  # published in place of a key where all have changed
# Should a message get lost: half of what contract.md 2 allows a revoked key.
FRESH_SECONDS: Final = 0.5
_MOST_KEPT: Final = 10_000
_LISTEN_SECONDS: Final = 1.0
_RECONNECT_SECONDS: Final = 1.0

log: Final = get_logger(__name__)


class RecentKeys:
    """Keeps what was read of a key for half a second, or until somebody says that the key changed.

    The first look subscribes to the channel of changes. As long as there is no subscription, nothing
    is kept. A change without a message, as of an emptied Redis, is seen after `FRESH_SECONDS`.
    """

    def __init__(self, redis: Redis, *, prefix: str) -> None:
        self._redis = redis
        self._kept = _Kept(prefix)
        self._lock = Lock()
        self._listener: Thread | None = None

    @property
    def is_listening(self) -> bool:
        """Return whether changes are heard of at the moment."""
        return self._kept.is_listening

    def find(self, key_digest: str, *, today: date) -> Admission | None:
        """Return what is kept of a key; periods end with the day, so what was read yesterday is not."""
        return self._kept.find(key_digest, today=today)

    def begin(self) -> int | None:
        """Return what `keep` has to know of the moment before a key is read; None: keep nothing."""
        if self._listener is None:
            self._start()
        return self._kept.version if self._kept.is_listening else None

    def keep(self, key_digest: str, admission: Admission, *, today: date, begun: int) -> None:
        """Keep what was read, unless anything changed meanwhile: it may have been this key."""
        self._kept.keep(key_digest, admission, today=today, begun=begun)

    def forget(self) -> None:
        """Forget all that was kept, and what is being read."""
        self._kept.forget()

    def _start(self) -> None:
        with self._lock:
            if self._listener is not None:
                return
            stop = Event()
            self._listener = Thread(
                target=_listen,
                args=(self._redis, self._kept, stop),
                name="key-changes",
                daemon=True,
            )
            self._listener.start()
            weakref.finalize(self, stop.set)


class _Kept:
    """What is kept; shared with the thread that listens, which must not hold the owner."""

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
            if len(self._states) >= _MOST_KEPT:
                self._states.clear()
            self._states[key_digest] = (ticks() + FRESH_SECONDS, today, admission)

    def forget(self) -> None:
        with self._lock:
            self.version += 1
            self._states.clear()

    def set_listening(self, is_listening: bool) -> None:
        """Note whether messages come from now on; what was kept before is forgotten."""
        self.is_listening = is_listening
        self.forget()

    def take(self, message: dict[str, Any]) -> None:
        """Take a message of the channel, as redis-py returns it."""
        if message["type"] == "subscribe":  # after each reconnect too: some may have been missed
            self.set_listening(True)
            return
        key = bytes(message["data"]).decode("utf-8", "replace")
        if key == EVERY_KEY:
            self.forget()
            return
        with self._lock:
            self.version += 1
            self._states.pop(key.removeprefix(self._prefix), None)


def _listen(redis: Redis, kept: _Kept, stop: Event) -> None:
    with redis.pubsub() as channel:  # type: ignore[no-untyped-call]
        is_subscribed = False
        while not stop.is_set():
            try:
                if not is_subscribed:
                    channel.subscribe(CHANGES)
                    is_subscribed = True
                message = channel.get_message(timeout=_LISTEN_SECONDS)
            except Exception as error:  # noqa: BLE001 - redis-py raises anything where its client is closed meanwhile
                log.debug("changes of keys not heard of", cause=repr(error))
                kept.set_listening(False)
                stop.wait(_RECONNECT_SECONDS)
            else:
                if message is not None:
                    kept.take(message)
