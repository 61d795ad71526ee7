"""One process of the farm: started with a parent-death signal, watched, restarted with back-off."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shared import clock
from shared.parent_death import with_parent_death_signal

FIRST_DELAY_SECONDS: Final = 0.1
LONGEST_DELAY_SECONDS: Final = 5.0
STEADY_SECONDS: Final = 10.0  # a process that ran this long resets its back-off
KEPT_LOG_BYTES: Final = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """The command of a process and how it stops. `stop_seconds` is its time to finish after SIGTERM, `quit_seconds` that after
    SIGQUIT, sent before it is killed. `longest_delay_seconds` is the longest time between its end and its restart.

    Processes stop by `stop_stage`, lowest first; those of one stage stop together.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    stop_seconds: float
    stop_stage: int = 0
    quit_seconds: float = 0.0
    descriptors: tuple[int, ...] = ()
    longest_delay_seconds: float = LONGEST_DELAY_SECONDS


@dataclass(slots=True)
class Child:
    """A running process, or one waiting for its restart."""

    spec: ChildSpec
    restarts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _started_at: float = 0.0
    _delay: float = FIRST_DELAY_SECONDS
    _due_at: float = field(default=0.0)
    _stop_by: float = 0.0

    @property
    def pid(self) -> int | None:
        """The process id, None if it is not running."""
        return self._process.pid if self._process else None

    @property
    def is_due(self) -> bool:
        """Whether the process is not running and its back-off is over."""
        return self._process is None and clock.ticks() >= self._due_at

    def start(self) -> int:
        """Start the process in a new process group and return its id, which is the group's.

        Raises:
            OSError: it could not be started, for example without space for its log; a restart is scheduled.
        """
        try:
            return self._start()
        except OSError:
            self._plan_start()
            raise

    def _start(self) -> int:
        with self.spec.log.open("ab") as log:
            self._process = subprocess.Popen(
                with_parent_death_signal(list(self.spec.command)),
                env=dict(self.spec.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self.spec.descriptors,
                start_new_session=True,  # a Ctrl-C in the terminal reaches the supervisor alone
            )
        self._started_at = clock.ticks()
        return self._process.pid

    def reap(self) -> int | None:
        """Return the exit code if the process has ended since the last call, and schedule its restart.

        The rest of its process group is killed: children of a killed gunicorn or Celery master must not
        take work beside those of its successor.
        """
        if self._process is None:
            return None
        code = self._process.poll()
        if code is None:
            return None
        kill_group(self._process.pid)
        self._process = None
        if clock.ticks() - self._started_at >= STEADY_SECONDS:
            self._delay = FIRST_DELAY_SECONDS
        self._plan_start()
        self.restarts += 1
        return code

    def _plan_start(self) -> None:
        self._due_at = clock.ticks() + self._delay
        self._delay = min(self._delay * 2, self.spec.longest_delay_seconds)

    def request_stop(self) -> None:
        """Send SIGTERM; `stop` must follow."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._stop_by = clock.ticks() + self.spec.stop_seconds

    def stop(self, *, wait: Callable[[], bool]) -> None:
        """Wait for the process to finish, and kill its group after `stop_seconds`.

        `wait` waits for a moment and returns whether to continue waiting.
        """
        if self._process is None:
            return
        while self._process.poll() is None and clock.ticks() < self._stop_by and wait():
            pass
        if self.spec.quit_seconds and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self.spec.quit_seconds)
        kill_group(self._process.pid)
        self._process.wait()
        self._process = None


def kill_group(group: int) -> None:
    """Kill every process of a group; an empty group is not an error."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def rotate_log(log: Path) -> None:
    """Rename a large log, so that logs stay bounded over restarts."""
    if log.exists() and log.stat().st_size > KEPT_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
