"""A circuit breaker for one Redis server of several (decision 0226).

A request that waits in vain for a server holds a thread of the front for seconds. With several shards
those threads would be missing to the accounts of the others, and theirs must never notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.clock import ticks

_OPEN_SECONDS: Final = 1.0
# A caller that tries the server and never returns, as one ended by an alarm, is followed by another
# after this long: longer than one call may take.
_PROBE_SECONDS: Final = 10.0


class Breaker:
    """Opens when a call runs out of time; a second later one caller at a time tries the server again.

    A server that refuses connections opens nothing: that costs nobody time, and it may be back in a
    moment. For any number of threads.
    """

    def __init__(self, now: Callable[[], float] = ticks) -> None:
        self._now = now
        self._lock = Lock()
        self._is_open = False
        self._refuses_until = 0.0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Run a block that asks the server.

        Raises:
            RedisConnectionError: the breaker is open; the block is not run.
        """
        is_probe = self._enter()
        try:
            yield
        except RedisTimeoutError:
            self._open()
            raise
        except RedisConnectionError:
            if is_probe:
                self._open()
            raise
        except Exception:
            self._close()  # an answer, of whatever kind
            raise
        self._close()

    def _enter(self) -> bool:
        if not self._is_open:
            return False
        with self._lock:
            if self._now() < self._refuses_until:
                raise RedisConnectionError("the server did not answer a moment ago")
            self._refuses_until = self._now() + _PROBE_SECONDS
        return True

    def _open(self) -> None:
        with self._lock:
            self._is_open = True
            self._refuses_until = self._now() + _OPEN_SECONDS

    def _close(self) -> None:
        self._is_open = False
