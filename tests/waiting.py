"""Waiting for a condition, in place of a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_Value = TypeVar("_Value")


def wait_until(
    holds: Callable[[], _Value], seconds: float = 40.0, *, pause: float = 0.02
) -> _Value:
    """Call `holds` every `pause` seconds until it returns a true value, and return that.

    Raises:
        AssertionError: There was none within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < deadline, f"no true value within {seconds:g} s: {value!r}"
        time.sleep(pause)
    return value
