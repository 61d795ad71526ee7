"""Limits and whether they are kept, as rows that the summary of all parts is made of."""

from __future__ import annotations

from collections.abc import Iterator

HEAD = "| what | must | measured | kept |\n|---|---|--:|---|"


def at_most(what: str, measured: float, limit: float, unit: str) -> str:
    """Return the row of a figure with an upper limit; `unit` follows both figures."""
    return _row(what, f"≤ {_show(limit, unit)}", _show(measured, unit), is_kept=measured <= limit)


def at_least(what: str, measured: float, limit: float, unit: str) -> str:
    """Return the row of a figure with a lower limit."""
    return _row(what, f"≥ {_show(limit, unit)}", _show(measured, unit), is_kept=measured >= limit)


def not_measured(what: str, must: str, how: str) -> str:
    """Return the row of a limit that this run skips, with the way to measure it."""
    return f"| {what} | {must} | not measured: {how} | |"


def fact(what: str, measured: str) -> str:
    """Return a row without a limit."""
    return f"| {what} | | {measured} | |"


def collect_limits(printed: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield what, must, measured and kept of each limit in the tables of a part.

    A table has them that has the columns `must` and `kept`; what was measured is before `kept`.
    """
    columns: list[str] = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif {"must", "kept"} <= set(columns) and not set(line) <= set("|-: "):
            must, kept = columns.index("must"), columns.index("kept")
            if cells[must]:
                yield cells[0], cells[must], cells[kept - 1], cells[kept]


def show(lines: Iterator[str]) -> str:
    """Print lines as they come, an empty one after them; return them all."""
    seen = []
    for line in lines:
        print(line, flush=True)
        seen.append(line)
    print(flush=True)
    return "\n".join(seen)


def _row(what: str, must: str, measured: str, *, is_kept: bool) -> str:
    return f"| {what} | {must} | {measured} | {'yes' if is_kept else '**no**'} |"


def _show(figure: float, unit: str) -> str:
    if unit == "%":
        return f"{figure:.0%}".replace("%", " %")
    if unit == "×":
        return f"{figure:.3g} ×"
    digits = 0 if figure >= 100 or figure == int(figure) else 1
    return f"{figure:,.{digits}f} {unit}".strip()
