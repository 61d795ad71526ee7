"""Starts a command that is killed if its parent dies (PR_SET_PDEATHSIG, Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1  # prctl(2)


def with_parent_death_signal(
    command: list[str], *, death_signal: signal.Signals = signal.SIGKILL
) -> list[str]:
    """Return the command line that runs `command` with a parent-death signal.

    The kernel sends `death_signal` when the *thread* that starts it ends, so start it from a thread that
    lives as long as the process. The process id is that of the command.
    """
    holder = [sys.executable, "-I", "-S", str(Path(__file__).resolve())]
    return [*holder, str(os.getpid()), str(int(death_signal)), *command]


def main(arguments: list[str]) -> None:
    """Set the parent-death signal and execute the command: `PARENT SIGNAL COMMAND...`."""
    parent, death_signal, *command = arguments
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("the parent process has ended")  # it died before the signal was set
    os.execvp(command[0], command)  # noqa: S606 - the caller's own list of arguments, no shell


if __name__ == "__main__":
    main(sys.argv[1:])
