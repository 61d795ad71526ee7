"""Ends a process with the one that started it (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def die_with_parent(parent_pid: int) -> None:
    """Request SIGKILL from the kernel when the parent process ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent ended before the prctl call
