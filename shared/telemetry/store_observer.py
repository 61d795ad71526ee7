"""The interface by which stores and caches report their operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final, Protocol

from shared.clock import ticks
from shared.errors import Unavailable


class Store(StrEnum):
    """A store whose operations are timed."""

    DATABASE = "database"
    OBJECT_STORE = "object_store"


class Cache(StrEnum):
    """A cache whose lookups are counted."""

    KEYS = "keys"
    TEMPLATE_PINS = "template_pins"
    IMAGE_PINS = "image_pins"
    FONT_PINS = "font_pins"
    TEMPLATES = "templates"
    IMAGES = "images"


class StoreObserver(Protocol):
    """Receives reports of operations of stores and caches."""

    def observe_store(self, store: Store, operation: str, seconds: float) -> None:
        """Record the duration of an operation of a store."""

    def count_store_failure(self, store: Store, operation: str) -> None:
        """Count an operation that failed because of an outage."""

    def count_cache_request(self, cache: Cache, *, is_hit: bool) -> None:
        """Count a cache lookup."""


class NullObserver:
    """Ignores all reports, for commands and tests."""

    def observe_store(self, store: Store, operation: str, seconds: float) -> None:
        """Ignore the call."""

    def count_store_failure(self, store: Store, operation: str) -> None:
        """Ignore the call."""

    def count_cache_request(self, cache: Cache, *, is_hit: bool) -> None:
        """Ignore the call."""


NULL_OBSERVER: Final[StoreObserver] = NullObserver()


@contextmanager
def timed(observer: StoreObserver, store: Store, operation: str) -> Iterator[None]:
    """Report the duration of the body, or a failure if it raises `Unavailable`."""
    begun = ticks()
    try:
        yield
    except Unavailable:
        observer.count_store_failure(store, operation)
        raise
    observer.observe_store(store, operation, ticks() - begun)
