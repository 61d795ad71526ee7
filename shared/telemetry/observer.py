"""The interface by which the parts of a process count and time what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from typing import Final, ParamSpec, Protocol, TypeVar, cast

from shared.clock import ticks
from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.metrics import Spec

P = ParamSpec("P")
T = TypeVar("T")


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


class _Timed(Protocol):
    observer: Observer


def timed_as(operation: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Time a method of an object store, which has an `observer`."""

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            store = cast("_Timed", args[0])
            with timed(store.observer, Store.OBJECT_STORE, operation):
                return method(*args, **kwargs)

        return call

    return decorate


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
