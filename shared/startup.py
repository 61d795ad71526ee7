"""How every process of the farm starts: settings, log, checks; or one line on stderr and status 1."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Final, TypeVar

from shared.errors import Unavailable, UnfitPartError
from shared.settings import FetcherSettings, WrongSetting
from shared.telemetry.log import set_up_logging

S = TypeVar("S", bound=FetcherSettings)
T = TypeVar("T")

# A port that is taken is an OSError, an address of a store that cannot be read a ValueError.
_REFUSALS: Final[tuple[type[Exception], ...]] = (
    WrongSetting,
    UnfitPartError,
    Unavailable,
    ValueError,
    OSError,
)


def start(
    part: str,
    read_settings: Callable[[], S],
    make: Callable[[S], T],
    *,
    refusals: tuple[type[Exception], ...] = (),
) -> T:
    """Read the settings, set the log up and return what `make` makes of them.

    Where a setting is wrong, a part unfit or away, or `make` raises one of `refusals`, the process
    ends with status 1 and `pressroom PART: reason` on stderr.
    """
    try:
        settings = read_settings()
        set_up_logging(level=settings.log_level, log_format=settings.log_format)
        return make(settings)
    except _REFUSALS + refusals as error:
        sys.exit(f"pressroom {part}: {error}")


def stop_on_signals(*stops: Callable[[], object]) -> None:
    """Call each of `stops` when the process is told to end, by SIGTERM or SIGINT."""

    def stop(_signal: int, _frame: object) -> None:
        for each in stops:
            each()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
