"""What the names of templates and images stand for now, without asking the database (design.md 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, cast

from redis import Redis, RedisError

from shared.errors import Unavailable
from shared.jobs import PinnedTemplate
from shared.line import Line
from shared.telemetry.watch import UNWATCHED, Cache, Watch

# A pin is dropped before what it says changes. For this long after, nothing is kept: longer than
# the units of work that change names may wait and take, so that no reader who saw the state before
# can put it back after.
TOMBSTONE_SECONDS: Final = 20
# For what changes unseen: the public templates of a newer release.
_TTL_SECONDS: Final = 300
_MAX_PINS: Final = 10_000  # of one owner; past it all go, and the busy ones come back

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


class Pins:
    """A text for each name of each owner, a Redis hash for each owner.

    Every method raises `Unavailable("queue")` when Redis is away.
    """

    def __init__(self, redis: Redis, kind: str, *, cache: Cache, watch: Watch = UNWATCHED) -> None:
        self._line = Line(redis)
        self._kind = kind
        self._cache = cache
        self._watch = watch

    def find(self, owner: str, name: str) -> str | None:
        """Give what a name is known to stand for; None when it has to be read."""
        with _reachable():
            [text] = cast("list[bytes | None]", self._line.ask(("HGET", self._key(owner), name)))
        self._watch.count_look(self._cache, is_hit=text is not None)
        return None if text is None else text.decode()

    def put(self, owner: str, name: str, value: str) -> None:
        """Keep what the database says a name stands for, unless a change began a moment ago."""
        with _reachable():
            self._line.run(_PUT, [self._key(owner)], [name, value, _TTL_SECONDS, _MAX_PINS])

    def drop(self, owner: str) -> None:
        """Forget an owner's names. Call it before the change, so that none can be missed."""
        with _reachable():
            self._line.run(_DROP, [self._key(owner)], [TOMBSTONE_SECONDS])

    def _key(self, owner: str) -> str:
        return f"pins:{self._kind}:{owner}"


class TemplatePins:
    """What an account's template references are pinned to."""

    def __init__(self, redis: Redis, *, watch: Watch = UNWATCHED) -> None:
        self._pins = Pins(redis, "templates", cache=Cache.TEMPLATE_PINS, watch=watch)

    def find(self, account_id: str, reference: str) -> PinnedTemplate | None:
        """Give what a reference is known to name; None when it has to be read."""
        text = self._pins.find(account_id, reference)
        return None if text is None else PinnedTemplate(*json.loads(text))

    def put(self, account_id: str, reference: str, pinned: PinnedTemplate) -> None:
        """Keep what a reference names."""
        text = json.dumps([pinned.template_id, pinned.version, pinned.sha256])
        self._pins.put(account_id, reference, text)

    def drop(self, account_id: str) -> None:
        """Forget what the account's references name, before any of it changes."""
        self._pins.drop(account_id)


def image_pins(redis: Redis, *, watch: Watch = UNWATCHED) -> Pins:
    """Give the pins of image names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "images", cache=Cache.IMAGE_PINS, watch=watch)


def font_pins(redis: Redis, *, watch: Watch = UNWATCHED) -> Pins:
    """Return the pins of font names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "fonts", cache=Cache.FONT_PINS, watch=watch)


@contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise Unavailable("queue") from error
