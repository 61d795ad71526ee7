"""Work that keeps a core busy: on a thread of its own, so that the other requests go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import gevent

_P = ParamSpec("_P")
_R = TypeVar("_R")


def run_in_thread(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Return what a function returns, or raise what it raises.

    All requests of a process are greenlets of one thread, and only what waits for a socket lets others
    run. The function must wait for none: its thread has no other greenlets to go on with.
    """
    return gevent.get_hub().threadpool.apply(function, args, kwargs)
