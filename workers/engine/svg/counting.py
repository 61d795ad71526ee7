"""Count of the elements that an SVG draws, each copy of `use` included, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from workers.engine.prepared_images import UndrawableError
from workers.engine.svg.limits import MAX_DEPTH, SIMPLER, DrawingBudget
from workers.engine.svg.reader import SvgElement

_IN_PROGRESS: Final = -1


def check_element_count(
    root: SvgElement, elements_by_id: Mapping[str, SvgElement], budget: DrawingBudget
) -> None:
    """Check the number and nesting of elements, with `use` expanded.

    A `use` of its own ancestor counts as nothing, as it is not drawn either.

    Raises:
        UndrawableError: Too many elements, or nested too deeply.
    """
    counts: dict[SvgElement, int] = {}

    def count(element: SvgElement, depth: int) -> int:
        known = counts.get(element)
        if known is not None:
            return 0 if known == _IN_PROGRESS else known
        if depth > MAX_DEPTH:
            raise UndrawableError(
                f"The SVG nests elements and copies of `use` deeper than {MAX_DEPTH}",
                advice=SIMPLER,
            )
        counts[element] = _IN_PROGRESS
        total = 1 + sum(count(child, depth + 1) for child in element.child_elements())
        if element.tag == "use":
            target = elements_by_id.get(element.href.removeprefix("#"))
            total += count(target, depth + 1) if target is not None else 0
        counts[element] = total = min(total, budget.max_elements + 1)
        return total

    budget.check_elements(count(root, 0))
