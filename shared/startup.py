"""Start of every process of the farm: settings, log and checks; on failure one line on stderr and status 1."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Final, TypeVar

from shared.errors import MisconfiguredPartError, Unavailable
from shared.settings import ProcessSettings, WrongSetting
from shared.telemetry.log import get_logger, set_up_logging
from shared.telemetry.traces import NULL_TRACER, Traces

S = TypeVar("S", bound=ProcessSettings)
T = TypeVar("T")

log: Final = get_logger(__name__)

# A port in use raises OSError, a malformed URL of a store ValueError.
_STARTUP_ERRORS: Final[tuple[type[Exception], ...]] = (
    WrongSetting,
    MisconfiguredPartError,
    Unavailable,
    ValueError,
    OSError,
)


def start(
    part: str,
    read_settings: Callable[[], S],
    make: Callable[[S], T],
    *,
    startup_errors: tuple[type[Exception], ...] = (),
) -> T:
    """Read the settings, set up logging and return the result of `make`.

    If a setting is invalid, a server is misconfigured or unavailable, or `make` raises one of
    `startup_errors`, the process exits with status 1 and `pressroom PART: reason` on stderr.
    """
    try:
        settings = read_settings()
        set_up_logging(level=settings.log_level, log_format=settings.log_format)
        return make(settings)
    except _STARTUP_ERRORS + startup_errors as error:
        sys.exit(f"pressroom {part}: {error}")


def open_tracer(part: str, *, is_on: bool) -> Traces:
    """Return the tracing of a process; call it after a fork, since it starts a thread.

    Raises:
        WrongSetting: tracing is on and OpenTelemetry is not installed.
    """
    if not is_on:
        return NULL_TRACER
    try:
        from shared.telemetry.otel import OpenTelemetry
    except ImportError as error:
        raise WrongSetting(
            "PRESSROOM_TRACES: OpenTelemetry is not installed; install pressroom[traces]"
        ) from error
    return OpenTelemetry(part)


def stop_on_signals(*stops: Callable[[], object]) -> None:
    """Call each of `stops` on SIGTERM or SIGINT."""

    def stop(_signal: int, _frame: object) -> None:
        for each in stops:
            each()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def run_threads(loops: Sequence[Callable[[], None]]) -> None:
    """Run loops in parallel until all have ended: the first in this thread, the others in new ones.

    One that raises ends the process, by SIGTERM, so that it is started again.
    """
    threads = [Thread(target=_run_thread, args=(loop,), daemon=True) for loop in loops[1:]]
    for thread in threads:
        thread.start()
    loops[0]()
    for thread in threads:
        thread.join()


def _run_thread(loop: Callable[[], None]) -> None:
    try:
        loop()
    except BaseException as error:
        log.error("loop failed", exc_info=error)
        os.kill(os.getpid(), signal.SIGTERM)
