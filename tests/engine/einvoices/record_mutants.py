"""Records with one change each, made without knowledge of any rule."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from tests.engine.einvoices import samples

_NUMBERS: Final = (
    lambda number: number + Decimal("0.01"),
    lambda number: number + 5,
    lambda number: number + Decimal("0.001"),
    lambda number: -number - 1,
    lambda _: 0,
)
_TEXTS: Final = (lambda _: "ZZ", lambda text: f"{text}1", lambda _: "2027-01-31", lambda _: "0")


def mutate(data: samples.Record) -> Iterator[tuple[str, samples.Record]]:
    """Yield a name and the record for each change: a member left out, an entry twice, another value."""
    for path in _walk(data):
        name = ".".join(map(str, path))
        yield f"drop {name}", _change(data, path, lambda at, key: at.pop(key))
        value = _find(data, path)
        if isinstance(value, dict) and isinstance(path[-1], int):
            yield f"twice {name}", _change(data, path, lambda at, key: at.append(at[key]))
        if isinstance(value, dict | list):
            continue
        others = _TEXTS if isinstance(value, str) else _NUMBERS
        for number, other in enumerate(others):
            changed = other(value)
            yield (
                f"{number} {name}",
                _change(data, path, lambda at, key, new=changed: at.__setitem__(key, new)),
            )


def _walk(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        for key in range(len(value)) if isinstance(value, list) else value:
            yield (*above, key)
            yield from _walk(value[key], (*above, key))


def _find(data: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def _change(data: samples.Record, path: tuple[Any, ...], change: Any) -> samples.Record:
    changed = copy.deepcopy(data)
    change(_find(changed, path[:-1]), path[-1])
    return changed
