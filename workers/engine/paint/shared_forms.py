"""Content shared by documents of one template, found while they are written and drawn as forms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from workers.engine.layout.display import (
    Item,
    LaidOutPage,
    Restore,
    Save,
    SingleItem,
    single_items,
)
from workers.engine.paint.content_stream import ContentStreamWriter, FormCall, PdfResources

# A form costs some 200 bytes once, and a call of it 8 bytes in each document.
_MIN_FORM_BYTES: Final = 60
_MAX_FORMS: Final = 300
_MAX_ITEMS: Final = 3_000  # of a page that is compared
_ORDINALS: Final = 4  # page ordinals that are distinguished: first, second, third, all others


class _SharedForm(NamedTuple):
    """Items that two documents drew alike, as a form."""

    keys: tuple[Hashable, ...]
    name: str


@dataclass(slots=True)
class _PageHistory:
    """The known forms and the last items of pages of one size."""

    runs: dict[Hashable, list[_SharedForm]]  # by their first item, longest first
    before: dict[int, dict[Hashable, int]]  # the index of each item on the page before, by ordinal


class SharedForms:
    """Replaces runs of items that recur from document to document by calls of forms.

    The drawing order is kept, so pages look and extract the same. Each document is compared with
    the one before it; the forms found serve the following ones.
    """

    def __init__(self, resources: PdfResources) -> None:
        self._resources = resources
        self._histories: dict[tuple[float, ...], _PageHistory] = {}
        self._form_count = 0

    def replace_repeats(self, page: LaidOutPage, *, ordinal: int) -> list[Item | FormCall]:
        """Return the items of a page with recurring runs replaced by calls; `ordinal` counts from
        0.
        """
        items = list(single_items(page.items))  # of a row, some cells may recur
        if len(items) > _MAX_ITEMS:
            return [*page.items]
        size = (page.width, page.height, page.bleed, page.slug)
        history = self._histories.setdefault(size, _PageHistory({}, {}))
        keys = list(_keys(items))
        replaced: list[Item | FormCall] = []
        before = history.before.get(min(ordinal, _ORDINALS - 1), {})
        at = 0
        while at < len(keys):
            run = _find(history, keys, at)
            if run is None:
                length = _common(before, keys, at)
                run = self._add_form(history, page, keys[at : at + length], items[at : at + length])
            if run is None:
                replaced.append(items[at])
                at += 1
            else:
                replaced.append(FormCall(run.name))
                at += len(run.keys)
        history.before[min(ordinal, _ORDINALS - 1)] = {
            key: at for at, key in enumerate(keys) if key is not None
        }
        return replaced

    def _add_form(
        self,
        history: _PageHistory,
        page: LaidOutPage,
        keys: Sequence[Hashable],
        items: Sequence[SingleItem],
    ) -> _SharedForm | None:
        """Add a form of items with their keys, if that saves space."""
        if not items or self._form_count >= _MAX_FORMS:
            return None
        painter = ContentStreamWriter(self._resources, width=page.width, height=page.height)
        content = painter.paint(items)
        if sum(len(part) for part in content if isinstance(part, bytes)) < _MIN_FORM_BYTES:
            return None
        self._form_count += 1
        outside = page.bleed + page.slug
        corners = (-outside, -outside, page.width + outside, page.height + outside)
        run = _SharedForm(tuple(keys), self._resources.add_form(corners, content))
        known = history.runs.setdefault(run.keys[0], [])
        known.append(run)
        known.sort(key=lambda known_run: -len(known_run.keys))
        return run


def _find(history: _PageHistory, keys: Sequence[Hashable], at: int) -> _SharedForm | None:
    for run in history.runs.get(keys[at], ()):
        if tuple(keys[at : at + len(run.keys)]) == run.keys:
            return run
    return None


def _common(before: dict[Hashable, int], keys: Sequence[Hashable], at: int) -> int:
    """Return how many items from `at` on were in the same order on the page before."""
    length = 0
    expected = before.get(keys[at])
    while at + length < len(keys) and expected is not None:
        if before.get(keys[at + length]) != expected:
            break
        length += 1
        expected += 1
    return length


def _keys(items: Sequence[SingleItem]) -> Iterator[Hashable]:
    """Yield the drawn content of each item, None for one that cannot be part of a run.

    The owner does not matter, only whether the item is an artifact.
    """
    depth = 0  # of groups
    for item in items:
        depth += isinstance(item, Save)
        if depth:
            yield None
        else:
            yield type(item), *_drawn(item)
        depth -= isinstance(item, Restore)


def _drawn(item: SingleItem) -> Iterator[Any]:
    for name, value in zip(item._fields, item, strict=True):
        if name != "node":
            yield (value is None) if name == "owner" else value
