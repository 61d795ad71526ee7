"""Notifies waiters that a recorded job or batch has finished; its state is in the database."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.queue.connection import BLOCK_SECONDS
from shared.queue.names import completion_key

# A client that starts to wait later reads the database first.
_NOTICE_TTL_SECONDS: Final = 120
# Without Redis, or if the notice was lost, the caller reads the database again after this time.
_POLL_SECONDS: Final = 5.0


class CompletionNotices:
    """Sends and awaits notices of completion, which only speed up the reply to a waiting client."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def notify(self, *names: str) -> None:
        """Wake all waiters of these names; without Redis they poll the database."""
        with suppress(RedisError):
            pipe = self._redis.pipeline(transaction=False)
            for key in map(completion_key, names):
                pipe.delete(key)
                pipe.rpush(key, 1)
                pipe.expire(key, _NOTICE_TTL_SECONDS)
            pipe.execute()

    def wait(
        self,
        name: str,
        *,
        seconds: float,
        between: Callable[[], object] = lambda: None,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Return when `name` has finished, or it is time to read the database again.

        `between` is called after each second without a notice; a true `until` ends the wait.
        """
        give_up_at = ticks() + min(seconds, _POLL_SECONDS)
        while (left := give_up_at - ticks()) > 0 and not until():
            try:
                if self._wait_for_notice(completion_key(name), min(left, BLOCK_SECONDS)):
                    return
            except RedisError:
                time.sleep(min(left, BLOCK_SECONDS))
            between()

    def _wait_for_notice(self, key: str, seconds: float) -> bool:
        # Moved onto its own list, so that each of several waiters reads it.
        timeout = max(seconds, 0.01)
        heard = self._redis.blmove(key, key, timeout, "LEFT", "RIGHT")  # type: ignore[arg-type] # the server takes fractions
        return cast("bytes | None", heard) is not None
