"""The interface by which the parts of a process count and time what they do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.metrics import Spec


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


class Observer:
    """Receives counts and values of declared metrics. This one ignores them, for commands and tests."""

    def count(self, spec: Spec, *labels: str, amount: float = 1) -> None:
        """Add to a counter."""

    def observe(self, spec: Spec, value: float, *labels: str) -> None:
        """Add a value to a histogram."""


NULL_OBSERVER: Final = Observer()


def count_lookup(observer: Observer, cache: Cache, *, is_hit: bool) -> None:
    """Count a lookup of a cache."""
    observer.count(metrics.CACHE_REQUESTS, cache, "hit" if is_hit else "miss")


@contextmanager
def timed(observer: Observer, store: Store, operation: str) -> Iterator[None]:
    """Report the duration of the body, or a failure if it raises `Unavailable`."""
    begun = ticks()
    try:
        yield
    except Unavailable:
        observer.count(metrics.STORE_FAILURES, store, operation)
        raise
    observer.observe(metrics.STORE_SECONDS, ticks() - begun, store, operation)
