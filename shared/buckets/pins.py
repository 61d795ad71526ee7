"""What the names of templates and images stand for now, without asking the database (design.md 5)."""

from __future__ import annotations

import json
from typing import Final, cast

from redis import Redis

from shared.jobs import PinnedTemplate
from shared.queue.connection import reachable
from shared.queue.scripts import register
from shared.telemetry.watch import UNWATCHED, Cache, Watch

# A pin is dropped before what it says changes. For this long after, nothing is kept: longer than
# the units of work that change names may wait and take, so that no reader who saw the state before
# can put it back after.
TOMBSTONE_SECONDS: Final = 20
# For what changes unseen: the public templates of a newer release.
_TTL_SECONDS: Final = 300
_MAX_PINS: Final = 10_000  # of one owner; past it all go, and the busy ones come back

_PACKAGE: Final = "shared.buckets"


class Pins:
    """A text for each name of each owner, a Redis hash for each owner.

    Every method raises `Unavailable("queue")` when Redis is away.
    """

    def __init__(self, redis: Redis, kind: str, *, cache: Cache, watch: Watch = UNWATCHED) -> None:
        self._redis = redis
        self._put = register(redis, "put_pin", package=_PACKAGE)
        self._drop = register(redis, "drop_pins", package=_PACKAGE)
        self._kind = kind
        self._cache = cache
        self._watch = watch

    def find(self, owner: str, name: str) -> str | None:
        """Return what a name is known to stand for; None when it has to be read."""
        with reachable(self._redis):
            text = cast("bytes | None", self._redis.hget(self._key(owner), name))
        self._watch.count_look(self._cache, is_hit=text is not None)
        return None if text is None else text.decode()

    def put(self, owner: str, name: str, value: str) -> None:
        """Keep what the database says a name stands for, unless a change began a moment ago."""
        with reachable(self._redis):
            self._put(keys=[self._key(owner)], args=[name, value, _TTL_SECONDS, _MAX_PINS])

    def drop(self, owner: str) -> None:
        """Forget an owner's names. Call it before the change, so that none can be missed."""
        with reachable(self._redis):
            self._drop(keys=[self._key(owner)], args=[TOMBSTONE_SECONDS])

    def _key(self, owner: str) -> str:
        return f"pins:{self._kind}:{owner}"


class TemplatePins:
    """What an account's template references are pinned to."""

    def __init__(self, redis: Redis, *, watch: Watch = UNWATCHED) -> None:
        self._pins = Pins(redis, "templates", cache=Cache.TEMPLATE_PINS, watch=watch)

    def find(self, account_id: str, reference: str) -> PinnedTemplate | None:
        """Return what a reference is known to name; None when it has to be read."""
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
    """Return the pins of image names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "images", cache=Cache.IMAGE_PINS, watch=watch)


def font_pins(redis: Redis, *, watch: Watch = UNWATCHED) -> Pins:
    """Return the pins of font names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "fonts", cache=Cache.FONT_PINS, watch=watch)
