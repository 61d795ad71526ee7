"""Running values: texts that headers and footers repeat from the content of their page.

They are the named strings of CSS Generated Content for Paged Media, 1.1 (`string-set`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workers.engine.tree.page_values import RunningValue


@dataclass(frozen=True, slots=True)
class RunningValues:
    """The running values of a document: each name and text by its anchor, in document order."""

    by_anchor: Mapping[str, tuple[str, str]]

    def resolve(
        self, positions: Mapping[str, int], page_count: int
    ) -> tuple[tuple[RunningValue, ...], ...]:
        """Return the running values of each page; `positions` are the pages of anchors, from 1."""
        set_on: dict[int, dict[str, list[str]]] = {}
        for anchor, (name, text) in self.by_anchor.items():
            if anchor in positions:  # not cut off
                set_on.setdefault(positions[anchor], {}).setdefault(name, []).append(text)
        current: dict[str, str] = {}
        pages = []
        values: tuple[RunningValue, ...] = ()
        for position in range(1, page_count + 1):
            found = set_on.get(position, {})
            if found or position - 1 in set_on:
                values = tuple(
                    _find_value(name, current.get(name, ""), found.get(name))
                    for name in dict.fromkeys((*current, *found))
                )
                current |= {value.name: value.last for value in values}
            pages.append(values)
        return tuple(pages)


def _find_value(name: str, start: str, texts: list[str] | None) -> RunningValue:
    first, last = (texts[0], texts[-1]) if texts else (start, start)
    return RunningValue(name, start, first, last)
