"""Compiled templates, cached by content within a limit of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from shared.db.session import Database
from shared.jobs.records import PinnedTemplate
from shared.limits import MB
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer, count_lookup
from shared.templates.repository import get_content
from workers.engine.pipeline import PreparedTemplate

Value = TypeVar("Value")


class SizedCache(Generic[Value]):
    """Holds the most recently used values, up to `max_bytes` in total."""

    def __init__(self, name: Cache, *, max_bytes: int, watch: Observer = NULL_OBSERVER) -> None:
        self._name = name
        self._watch = watch
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def get(self, key: str, make: Callable[[], tuple[Value, int]]) -> Value:
        """Return the value of a key, calling `make` for the value and its size if it is not cached.

        Values larger than the whole cache are not cached.
        """
        count_lookup(self._watch, self._name, is_hit=key in self._kept)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]
        value, size = make()
        if size <= self._max_bytes:
            self._kept[key] = (value, size)
            self._bytes += size
            self._shrink()
        return value

    def _shrink(self) -> None:
        while self._bytes > self._max_bytes:
            _, (_, size) = self._kept.popitem(last=False)
            self._bytes -= size


# A compiled template takes about ten times the memory of its text.
TEMPLATE_TEXT_BYTES: Final = 8 * MB


class PrepareFunction(Protocol):
    """The type of `workers.engine.pipeline.prepare_template`."""

    def __call__(self, source: bytes, linked: Mapping[str, bytes]) -> PreparedTemplate:
        """Compile a template."""


class Templates:
    """Compiled templates by the SHA-256 of their text, cached in this process."""

    def __init__(
        self, database: Database, prepare: PrepareFunction, *, watch: Observer = NULL_OBSERVER
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._prepared: SizedCache[PreparedTemplate] = SizedCache(
            Cache.TEMPLATES, max_bytes=TEMPLATE_TEXT_BYTES, watch=watch
        )

    def get(self, pinned: PinnedTemplate) -> PreparedTemplate:
        """Return the compiled template of a pinned text and those that it links to.

        Raises:
            LookupError: a text is not stored, which cannot happen to a pinned one.
            Unavailable: the database is unavailable.
        """
        key = "".join((pinned.sha256, *map("".join, sorted(pinned.links.items()))))
        return self._prepared.get(key, lambda: self._read(pinned))

    def read_linked(self, links: Mapping[str, str]) -> Mapping[str, bytes]:
        """Return the texts of linked templates by reference.

        Raises:
            LookupError, Unavailable: as `get`.
        """
        if not links:
            return {}
        with self._database.snapshot() as session:
            return {
                reference: get_content(session, sha256).encode()
                for reference, sha256 in links.items()
            }

    def _read(self, pinned: PinnedTemplate) -> tuple[PreparedTemplate, int]:
        with self._database.snapshot() as session:
            text = get_content(session, pinned.sha256).encode()
        linked = self.read_linked(pinned.links)
        return self._prepare(text, linked), len(text) + sum(map(len, linked.values()))
