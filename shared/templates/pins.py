"""The cache of resolved references: templates, images and fonts by name."""

from __future__ import annotations

import json
from typing import Final, cast

from redis import Redis

from shared.jobs.records import PinnedTemplate
from shared.queue.connection import reachable
from shared.queue.scripts import register
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup

# A pin is invalidated before its name changes. For this long after, it is not cached: longer than the
# change may wait and take, so that no reader can cache the old value again.
TOMBSTONE_SECONDS: Final = 20
# For changes without an invalidation: the public templates of a newer release.
_TTL_SECONDS: Final = 300
_MAX_PINS: Final = 10_000  # of one owner; beyond it all are dropped, and used ones are cached again

_PACKAGE: Final = "shared.templates"


class Pins:
    """The resolved value of each name of each owner, in a Redis hash for each owner.

    Every method raises `Unavailable("queue")` if Redis does not answer.
    """

    def __init__(
        self, redis: Redis, kind: str, *, cache: Cache, observer: Observer = NULL_OBSERVER
    ) -> None:
        self._redis = redis
        self._put = register(redis, "put_pin", package=_PACKAGE)
        self._kind = kind
        self._cache = cache
        self._observer = observer

    def find(self, owner: str, name: str) -> str | None:
        """Return the cached value of a name, or None."""
        with reachable():
            text = cast("bytes | None", self._redis.hget(self._key(owner), name))
        count_lookup(self._observer, self._cache, is_hit=text is not None)
        return None if text is None else text.decode()

    def put(self, owner: str, name: str, value: str) -> None:
        """Cache the value of a name as read from the database, unless a change has just started."""
        with reachable():
            self._put(
                keys=[self._key(owner), self._marker(owner, name), self._marker(owner)],
                args=[name, value, _TTL_SECONDS, _MAX_PINS],
            )

    def drop(self, owner: str, name: str | None = None) -> None:
        """Invalidate a name, or all names of an owner. Call it before the change, so that none can be missed."""
        with reachable(), self._redis.pipeline() as pipe:  # in this order, so that no old pin stays
            pipe.set(self._marker(owner, name), 1, ex=TOMBSTONE_SECONDS)
            if name is None:
                pipe.delete(self._key(owner))
            else:
                pipe.hdel(self._key(owner), name)
            pipe.execute()

    def _key(self, owner: str) -> str:
        return f"pins:{self._kind}:{owner}"

    def _marker(self, owner: str, name: str | None = None) -> str:
        return f"{self._key(owner)}:changed" + ("" if name is None else f":{name}")


class TemplatePins:
    """The cache of an account's resolved template references."""

    def __init__(self, redis: Redis, *, observer: Observer = NULL_OBSERVER) -> None:
        self._pins = Pins(redis, "templates", cache=Cache.TEMPLATE_PINS, observer=observer)

    def find(self, account_id: str, reference: str) -> PinnedTemplate | None:
        """Return the cached template of a reference, or None."""
        text = self._pins.find(account_id, reference)
        return None if text is None else PinnedTemplate(*json.loads(text))

    def put(self, account_id: str, reference: str, pinned: PinnedTemplate) -> None:
        """Cache the template of a reference."""
        text = json.dumps([pinned.template_id, pinned.version, pinned.sha256, dict(pinned.links)])
        self._pins.put(account_id, reference, text)

    def drop(self, account_id: str) -> None:
        """Invalidate the account's references; call it before a change."""
        self._pins.drop(account_id)


def image_pins(redis: Redis, *, observer: Observer = NULL_OBSERVER) -> Pins:
    """Return the cache of image names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "images", cache=Cache.IMAGE_PINS, observer=observer)


def font_pins(redis: Redis, *, observer: Observer = NULL_OBSERVER) -> Pins:
    """Return the cache of font names: by workspace, the SHA-256 of the bytes."""
    return Pins(redis, "fonts", cache=Cache.FONT_PINS, observer=observer)
