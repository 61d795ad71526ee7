"""Word that something on record has ended, for those who wait for it; the record is the database's."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.queue.connection import BLOCK_SECONDS, guarded
from shared.queue.names import ending_key

# Whoever begins to wait later asks the database first.
_WORD_KEPT_SECONDS: Final = 120
# Without Redis, or where the word was lost, the caller looks again after this long.
_LOOK_AGAIN_SECONDS: Final = 5.0


class Endings:
    """Announces ends and waits for them; nothing depends on it but how soon a waiting client is answered."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def tell(self, *names: str) -> None:
        """Wake everybody who waits for these; without Redis they look into the record themselves."""
        with suppress(RedisError), guarded(self._redis):
            pipe = self._redis.pipeline(transaction=False)
            for key in map(ending_key, names):
                pipe.delete(key)
                pipe.rpush(key, 1)
                pipe.expire(key, _WORD_KEPT_SECONDS)
            pipe.execute()

    def wait(
        self,
        name: str,
        *,
        seconds: float,
        between: Callable[[], object] = lambda: None,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Return when it has ended, or it is time to look into the record again.

        After each second without word `between` is called, and `until` may end the wait.
        """
        give_up_at = ticks() + min(seconds, _LOOK_AGAIN_SECONDS)
        while (left := give_up_at - ticks()) > 0 and not until():
            try:
                if self._hear(ending_key(name), min(left, BLOCK_SECONDS)):
                    return
            except RedisError:
                time.sleep(min(left, BLOCK_SECONDS))
            between()

    def _hear(self, key: str, seconds: float) -> bool:
        # Moved onto its own list, so that each of several who wait hears it.
        timeout = max(seconds, 0.01)
        with guarded(self._redis):
            heard = self._redis.blmove(key, key, timeout, "LEFT", "RIGHT")  # type: ignore[arg-type] # the server takes fractions
        return cast("bytes | None", heard) is not None
