"""What template references name now, without asking the database: one Redis read (design.md 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, cast

from redis import Redis, RedisError

from shared.errors import Unavailable
from shared.jobs import PinnedTemplate

# A pin is dropped before what it says changes. For this long after, nothing is kept: longer than
# any unit of work, so that no reader who saw the state before can put it back after.
TOMBSTONE_SECONDS: Final = 60
# For what changes unseen: the public templates of a newer release.
_TTL_SECONDS: Final = 300
_MAX_PINS: Final = 10_000  # an account's references are its own, but its client may invent none

_PUT: Final = """
if redis.call('HEXISTS', KEYS[1], '') == 1 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
"""

_DROP: Final = """
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""


class PinCache:
    """The pins of each account's references, a Redis hash for each account.

    Every method raises `Unavailable("queue")` when Redis is away.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._put = redis.register_script(_PUT)
        self._drop = redis.register_script(_DROP)

    def find(self, account_id: str, reference: str) -> PinnedTemplate | None:
        """Give what a reference of an account's is known to name; None when it has to be read."""
        with _reachable():
            text = cast("bytes | None", self._redis.hget(_key(account_id), reference))
        return None if text is None else PinnedTemplate(*json.loads(text))

    def put(self, account_id: str, reference: str, pinned: PinnedTemplate) -> None:
        """Keep what the database says a reference names, unless a change began a moment ago."""
        text = json.dumps([pinned.template_id, pinned.version, pinned.sha256])
        with _reachable():
            self._put(keys=[_key(account_id)], args=[reference, text, _TTL_SECONDS, _MAX_PINS])

    def drop(self, account_id: str) -> None:
        """Forget an account's pins. Call it before the change, so that none can be missed."""
        with _reachable():
            self._drop(keys=[_key(account_id)], args=[TOMBSTONE_SECONDS])


def _key(account_id: str) -> str:
    return f"pins:{account_id}"


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise Unavailable("queue") from error
