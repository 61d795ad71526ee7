"""Compiled templates, cached by content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from shared.db.session import Database
from shared.jobs.records import PinnedTemplate
from shared.limits import MB
from shared.telemetry.observer import NULL_OBSERVER, Cache, Observer
from shared.templates.repository import get_content
from workers.engine.pipeline import PreparedTemplate
from workers.render.cache import SizedCache

# A compiled template takes about ten times the memory of its text.
TEMPLATE_TEXT_BYTES: Final = 8 * MB


class PrepareFunction(Protocol):
    """The type of `workers.engine.pipeline.prepare_template`."""

    def __call__(self, source: bytes, linked: Mapping[str, bytes]) -> PreparedTemplate:
        """Compile a template."""


class Templates:
    """Compiled templates by the SHA-256 of their text, cached in this process."""

    def __init__(
        self,
        database: Database,
        prepare: PrepareFunction,
        *,
        watch: Observer = NULL_OBSERVER,
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
