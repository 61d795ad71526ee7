"""What stores and caches tell of their work, whoever counts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final, Protocol

from shared.clock import ticks
from shared.errors import Unavailable


class Store(StrEnum):
    """What is timed."""

    DATABASE = "database"
    OBJECT_STORE = "object_store"


class Cache(StrEnum):
    """What is looked into."""

    KEYS = "keys"
    TEMPLATE_PINS = "template_pins"
    IMAGE_PINS = "image_pins"
    FONT_PINS = "font_pins"
    TEMPLATES = "templates"
    IMAGES = "images"


class Watch(Protocol):
    """Counts what stores and caches do."""

    def time_store(self, store: Store, operation: str, seconds: float) -> None:
        """Note one piece of work of a store and how long it took."""

    def count_failure(self, store: Store, operation: str) -> None:
        """Note that a store was away."""

    def count_look(self, cache: Cache, *, is_hit: bool) -> None:
        """Note one look into a cache."""


class NoWatch:
    """Counts nothing, for commands and tests."""

    def time_store(self, store: Store, operation: str, seconds: float) -> None:
        """Do nothing."""

    def count_failure(self, store: Store, operation: str) -> None:
        """Do nothing."""

    def count_look(self, cache: Cache, *, is_hit: bool) -> None:
        """Do nothing."""


UNWATCHED: Final[Watch] = NoWatch()


@contextmanager
def timed(watch: Watch, store: Store, operation: str) -> Iterator[None]:
    """Time the body as one piece of work; one that found the store away counts as a failure."""
    begun = ticks()
    try:
        yield
    except Unavailable:
        watch.count_failure(store, operation)
        raise
    watch.time_store(store, operation, ticks() - begun)
