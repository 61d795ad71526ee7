"""Stacks: start and end of each series above a category."""

from __future__ import annotations

from collections.abc import Sequence

Values = Sequence[float | None]
StackedValue = tuple[float, float] | None  # start and end, None without a value


def stack(series: Sequence[Values], *, is_share: bool = False) -> list[list[StackedValue]]:
    """Stack positive values upwards, negative ones downwards (D3 stackOffsetDiverging).

    With `is_share` they are fractions of the sum of absolute values.
    """
    stacked: list[list[StackedValue]] = [[] for _ in series]
    for column in zip(*series, strict=True):
        total = _total(column) if is_share else 1.0
        above = below = 0.0
        for at, value in enumerate(column):
            if value is None:
                stacked[at].append(None)
            elif value >= 0:
                stacked[at].append((above, above + value / total))
                above += value / total
            else:
                stacked[at].append((below, below + value / total))
                below += value / total
    return stacked


def _total(column: Values) -> float:
    return sum(abs(value) for value in column if value is not None) or 1.0
