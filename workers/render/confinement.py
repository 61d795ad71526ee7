"""What a rendering process can do and know, should a document take control of it."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.limits import GB, MB

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)
_PR_SET_NO_NEW_PRIVS: Final = 38
_M_ARENA_MAX: Final = -8  # mallopt(3)
_FILE_BYTES: Final = 8 * GB  # above the merged PDF of the largest batch
_FURTHER_TASKS: Final = 256  # of its user: the kernel counts those of all processes together
_GRACE_SECONDS: Final = 60


def die_with_parent(parent_pid: int) -> None:
    """Request SIGKILL from the kernel when the parent process ends (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)  # the parent ended before the prctl call


def confine(*, memory_mb: int, cpu_seconds: float) -> None:
    """Limit this process for good: no privileges by executing a file, and hard limits of its resources.

    Allocations beyond `memory_mb` of address space raise MemoryError; larger files raise OSError. Threads
    share one malloc arena, since each arena reserves 64 MB of address space.
    """
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    refuse_privileges()
    _limit(resource.RLIMIT_AS, memory_mb * MB)
    _limit(resource.RLIMIT_CPU, int(cpu_seconds))
    _limit(resource.RLIMIT_FSIZE, _FILE_BYTES)
    _limit(resource.RLIMIT_NPROC, sum(_count_tasks()) + _FURTHER_TASKS)
    _limit(resource.RLIMIT_CORE, 0)


def refuse_privileges() -> None:
    """Let this process and its children gain no privileges by executing a file (PR_SET_NO_NEW_PRIVS)."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def allow_cpu_time(seconds: float) -> None:
    """End this process by SIGXCPU after `seconds` of CPU time from now, and a minute more."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(used.ru_utime + used.ru_stime + seconds + _GRACE_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (_lesser(wanted, hard), hard))


def clear_environment(prefix: str) -> None:
    """Remove the variables that begin with `prefix`, also from what `/proc/self/environ` shows."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    environment = os.environ  # noqa: TID251 - emptied, not read
    for name in [name for name in environment if name.startswith(prefix)]:
        if address := libc.getenv(os.fsencode(name)):
            ctypes.memset(address, 0, len(os.fsencode(environment[name])))
        del environment[name]


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    wanted = _lesser(wanted, hard)
    resource.setrlimit(kind, (wanted, wanted))


def _lesser(wanted: int, hard: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _count_tasks() -> Iterator[int]:
    """Yield the number of threads of each process of this user."""
    user = os.getuid()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if process.stat().st_uid == user:
                yield sum(1 for _ in (process / "task").iterdir())
