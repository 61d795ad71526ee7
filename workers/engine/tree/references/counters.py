"""The counters of one document, in the order of its text (CSS Lists 3, 4)."""

from __future__ import annotations

from typing import Final

from workers.engine.syntax.numbers import HEADINGS, KINDS, NumberToken, resolve_tokens
from workers.engine.tree.references.counter_styles import format_counter
from workers.engine.tree.styles.computed import Numbering

MAX_COUNTERS: Final = 200  # of one document; each number restarts those below its own
MAX_NUMBER: Final = 100  # characters; formats that include each other would grow without end
_HEADINGS: Final = frozenset(HEADINGS)


class Counters:
    """The counters of a document. A counter restarts when one above it advances.

    Above a heading's counter are those of higher headings; above any other are those that its
    format names before it.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._values: dict[str, int] = {}
        self._written: dict[str, str] = {}  # the last number of each, without the text around it
        self._below: dict[str, set[str]] = {
            name: {below for below in known & _HEADINGS if below > name}
            for name in known & _HEADINGS
        }
        self._seen: set[Numbering] = set()

    @property
    def is_full(self) -> bool:
        """Whether the document has more counters than it may have."""
        return len(self._values) > MAX_COUNTERS

    def count(self, numbering: Numbering, *, is_shown: bool = True) -> str | None:
        """Advance the counters of one element; return its number, None if it shows none."""
        shape = numbering.format if is_shown else None
        for name, first in numbering.resets:
            self._set(name, first - 1)
        own = None
        for name, value in numbering.sets:
            if shape is not None and name == numbering.counter:
                own = value
            else:
                self._set(name, value)
        if shape is None:
            return None
        if numbering not in self._seen:
            self._seen.add(numbering)
            self._learn(numbering)
        counter = numbering.counter
        self._set(counter, self._values.get(counter, 0) + 1 if own is None else own)
        return self._write(numbering)

    def restart(self, name: str) -> None:
        """Restart a counter."""
        self._set(name, 0)

    def _set(self, name: str, value: int) -> None:
        """Set a counter and restart all below it."""
        self._values[name] = value
        self._written.pop(name, None)
        waiting, done = [*self._below.get(name, ())], {name}
        while waiting:
            below = waiting.pop()
            if below not in done:
                done.add(below)
                self._values[below] = 0
                self._written.pop(below, None)
                waiting += self._below.get(below, ())

    def _learn(self, numbering: Numbering) -> None:
        """Store the counters that a format names before its own, which are above it."""
        assert numbering.format is not None
        names = [name for name, _ in self._tokens(numbering)]
        if numbering.counter in names:
            names = names[: names.index(numbering.counter)]
        for name in names:
            if name and name != numbering.counter:
                self._below.setdefault(name, set()).add(numbering.counter)

    def _write(self, numbering: Numbering) -> str:
        assert numbering.format is not None
        tokens = iter(self._tokens(numbering))
        texts: list[str] = []
        at: list[int] = []
        for part in numbering.format.parts:
            if isinstance(part, NumberToken):
                at.append(len(texts))
                texts.append(self._write_one(*next(tokens), numbering.counter))
            else:
                texts.append(part)
        self._written[numbering.counter] = "".join(texts[at[0] : at[-1] + 1])[:MAX_NUMBER]
        return "".join(texts)[:MAX_NUMBER]

    def _write_one(self, name: str, kind: str, own: str) -> str:
        value = self._values.get(name, 0)
        if not kind and name != own:
            return self._written.get(name, str(value))
        return format_counter(KINDS[kind or "1"], value)

    def _tokens(self, numbering: Numbering) -> list[tuple[str, str]]:
        assert numbering.format is not None
        return list(resolve_tokens(numbering.format, numbering.counter, self._known))
