"""Counting what an SVG would draw, each copy of `use` included, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.layout.images.prepared import UndrawableError
from workers.engine.layout.svg.limits import MAX_DEPTH, MAX_DRAWN, SIMPLER, too_much
from workers.engine.layout.svg.reader import Node

_BEING_COUNTED: Final = -1


def count_drawn(root: Node, identities: Mapping[str, Node]) -> None:
    """Refuse a drawing whose `use` elements multiply it beyond the bound, or nest too deep.

    A `use` that refers to what it stands in counts as nothing: it is not drawn either.
    """
    counts: dict[Node, int] = {}

    def count(node: Node, depth: int) -> int:
        known = counts.get(node)
        if known is not None:
            return 0 if known == _BEING_COUNTED else known
        if depth > MAX_DEPTH:
            raise UndrawableError(
                f"The SVG nests elements and copies of `use` deeper than {MAX_DEPTH}",
                advice=SIMPLER,
            )
        counts[node] = _BEING_COUNTED
        total = 1 + sum(count(child, depth + 1) for child in node.elements())
        if node.tag == "use":
            target = identities.get(node.href.removeprefix("#"))
            total += count(target, depth + 1) if target is not None else 0
        counts[node] = total = min(total, MAX_DRAWN + 1)
        return total

    if count(root, 0) > MAX_DRAWN:
        raise too_much("elements to draw, each copy of `use` counted", MAX_DRAWN)
