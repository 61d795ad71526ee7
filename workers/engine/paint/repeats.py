"""What documents of one template draw alike: found while they are printed, and drawn once as forms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from workers.engine.layout.display import Item, Page, Restore, Save
from workers.engine.paint.marks import Painter, Repeat, Stock

# A form costs some 200 bytes once and a call of it 8 in each document.
_SHORTEST_BYTES: Final = 60
_MAX_FORMS: Final = 300
_MAX_ITEMS: Final = 3_000  # of a page that is searched
_ORDINALS: Final = 4  # pages that are told apart: first, second, third, all others


class _Run(NamedTuple):
    """Items that were drawn alike by two documents: a form, named when it is first drawn."""

    keys: tuple[Hashable, ...]
    name: str


@dataclass(slots=True)
class _Memory:
    """What is known of the pages of one size."""

    runs: dict[Hashable, list[_Run]]  # by their first item, longest first
    before: dict[int, dict[Hashable, int]]  # the place of each item on the page before, by ordinal


class Repeats:
    """Replaces runs of items that recur from document to document by calls of forms.

    The order of what is drawn stays, so a page reads and looks the same. A document teaches what
    it has in common with the one before it; what was learned serves those that follow.
    """

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self._memories: dict[tuple[float, ...], _Memory] = {}
        self._form_count = 0

    def shorten(self, page: Page, *, ordinal: int) -> list[Item | Repeat]:
        """Give the items of a page, those that recur as calls. `ordinal` counts from 0."""
        if len(page.items) > _MAX_ITEMS:
            return list(page.items)
        size = (page.width, page.height, page.bleed, page.slug)
        memory = self._memories.setdefault(size, _Memory({}, {}))
        keys = list(_keys(page.items))
        shortened: list[Item | Repeat] = []
        before = memory.before.get(min(ordinal, _ORDINALS - 1), {})
        at = 0
        while at < len(keys):
            run = _find(memory, keys, at)
            if run is None:
                run = self._learn(memory, page, keys, at, _common(before, keys, at))
            if run is None:
                shortened.append(page.items[at])
                at += 1
            else:
                shortened.append(Repeat(run.name))
                at += len(run.keys)
        memory.before[min(ordinal, _ORDINALS - 1)] = {
            key: at for at, key in enumerate(keys) if key is not None
        }
        return shortened

    def _learn(
        self, memory: _Memory, page: Page, keys: Sequence[Hashable], at: int, length: int
    ) -> _Run | None:
        """Make a form of `length` items from `at` on, if that is worth it."""
        if length == 0 or self._form_count >= _MAX_FORMS:
            return None
        painter = Painter(self._stock, width=page.width, height=page.height)
        content = painter.paint(page.items[at : at + length])
        if sum(len(part) for part in content if isinstance(part, str)) < _SHORTEST_BYTES:
            return None
        self._form_count += 1
        outside = page.bleed + page.slug
        corners = (-outside, -outside, page.width + outside, page.height + outside)
        run = _Run(tuple(keys[at : at + length]), self._stock.add_form(corners, content))
        known = memory.runs.setdefault(run.keys[0], [])
        known.append(run)
        known.sort(key=lambda known_run: -len(known_run.keys))
        return run


def _find(memory: _Memory, keys: Sequence[Hashable], at: int) -> _Run | None:
    for run in memory.runs.get(keys[at], ()):
        if tuple(keys[at : at + len(run.keys)]) == run.keys:
            return run
    return None


def _common(before: dict[Hashable, int], keys: Sequence[Hashable], at: int) -> int:
    """Give how many items from `at` on stood in the same order on the page before."""
    length = 0
    expected = before.get(keys[at])
    while at + length < len(keys) and expected is not None:
        if before.get(keys[at + length]) != expected:
            break
        length += 1
        expected += 1
    return length


def _keys(items: Sequence[Item]) -> Iterator[Hashable]:
    """Give for each item what it draws, None for one that cannot be part of a run.

    Whom an item belongs to is no part of it, only whether it is page furniture.
    """
    depth = 0  # of groups
    for item in items:
        depth += isinstance(item, Save)
        if depth:
            yield None
        else:
            yield type(item), *_drawn(item)
        depth -= isinstance(item, Restore)


def _drawn(item: Item) -> Iterator[Hashable]:
    for name, value in zip(item._fields, item, strict=True):
        if name != "node":
            yield (value is None) if name == "owner" else _hashable(value)


def _hashable(value: object) -> Hashable:
    return id(value) if type(value).__hash__ is None else value
