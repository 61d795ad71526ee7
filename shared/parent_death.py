"""Ends a process with the one that started it (PR_SET_PDEATHSIG, Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def with_parent_death_signal(
    command: list[str], *, death_signal: signal.Signals = signal.SIGKILL
) -> list[str]:
    """Return the command line that runs `command` with a parent-death signal.

    The kernel sends `death_signal` when the *thread* that starts it ends, so start it from a thread that
    lives as long as the process. The process id is that of the command.
    """
    holder = [sys.executable, "-I", "-S", str(Path(__file__).resolve())]
    return [*holder, str(os.getpid()), str(int(death_signal)), *command]


def die_with_parent(parent_pid: int, death_signal: int = signal.SIGKILL) -> None:
    """Request a signal from the kernel, by default SIGKILL, when the parent process ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent ended before the prctl call


if __name__ == "__main__":
    parent, death, *command = sys.argv[1:]
    die_with_parent(int(parent), int(death))
    os.execvp(command[0], command)  # noqa: S606 - the caller's own list of arguments, no shell
