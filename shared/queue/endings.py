"""Word that something on record has ended, for those who wait for it; the record is the database's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, cast

from redis import Redis, RedisError

from shared.clock import ticks
from shared.queue.connection import BLOCK_SECONDS
from shared.queue.names import ending_key
from shared.telemetry.log import get_logger

# Whoever begins to wait later asks the database first.
_WORD_KEPT_SECONDS: Final = 120
# Without Redis, or where the word was lost, the caller looks again after this long.
_LOOK_AGAIN_SECONDS: Final = 5.0

log: Final = get_logger(__name__)


class Endings:
    """Tells and hears of ends; nothing depends on it but how soon a waiting client is answered."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def tell(self, name: str) -> None:
        """Wake everybody who waits for this."""
        key = ending_key(name)
        try:
            with self._redis.pipeline() as pipe:
                pipe.delete(key)
                pipe.rpush(key, 1)
                pipe.expire(key, _WORD_KEPT_SECONDS)
                pipe.execute()
        except RedisError as error:
            log.warning("end not told", name=name, cause=repr(error))

    def wait(
        self, name: str, *, seconds: float, between: Callable[[], object] = lambda: None
    ) -> None:
        """Return when it has ended, or it is time to look into the record again.

        `between` is called after each second without word.
        """
        give_up_at = ticks() + min(seconds, _LOOK_AGAIN_SECONDS)
        while (left := give_up_at - ticks()) > 0:
            try:
                if self._hear(ending_key(name), min(left, BLOCK_SECONDS)):
                    return
            except RedisError:
                time.sleep(min(left, BLOCK_SECONDS))
            between()

    def _hear(self, key: str, seconds: float) -> bool:
        # Moved onto its own list, so that each of several who wait hears it.
        timeout = max(seconds, 0.01)
        heard = self._redis.blmove(key, key, timeout, "LEFT", "RIGHT")  # type: ignore[arg-type] # the server takes fractions
        return cast("bytes | None", heard) is not None
