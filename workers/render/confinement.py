"""What a rendering process can do and know, should a document take control of it."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from shared.limits import GB, MB

_PR_SET_NO_NEW_PRIVS: Final = 38  # prctl(2)
_M_ARENA_MAX: Final = -8  # mallopt(3)
_FILE_BYTES: Final = 8 * GB  # above the merged PDF of the largest batch
_FURTHER_TASKS: Final = 256  # of its user: the kernel counts those of all processes together
_GRACE_SECONDS: Final = 60


def share_malloc_arena() -> None:
    """Let all threads of this process, and of its children, allocate from one malloc arena.

    Each further arena reserves 64 MB of address space, which a child would inherit within its limit: busy threads
    of a worker would leave its children without memory.
    """
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def confine(*, memory_mb: int, cpu_seconds: float) -> None:
    """Limit this process for good: no privileges by executing a file, and hard limits of its resources.

    Allocations beyond `memory_mb` of address space raise MemoryError; larger files raise OSError.
    """
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


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION: Final = 1  # flag of landlock_create_ruleset(2)
_PATH_BENEATH, _NET_PORT = 1, 2  # types of rules
_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
_CHANGE_FOLDERS: Final = sum(
    1 << bit for bit in range(4, 13)
)  # make and remove every kind of entry
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # of versions 2 and 3
_NETWORK: Final = 1 << 0 | 1 << 1  # bind and connect TCP, of version 4
_CONNECT: Final = 1 << 1
_SIGNALS: Final = 1 << 1  # of version 6; abstract sockets stay, since rule packs are asked by one


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _NetPort(ctypes.Structure):
    _fields_ = [("access", ctypes.c_uint64), ("port", ctypes.c_uint64)]


def find_version() -> int:
    """Return the version of Landlock, 0 where the kernel has none or it is turned off."""
    version: int = _libc().syscall(_CREATE_RULESET, None, 0, _VERSION)
    return max(version, 0)


def restrict(*, writable: Iterable[Path], ports: Iterable[int] | None) -> None:
    """Restrict this thread and what it starts, for good, as far as the kernel's version can.

    No file is executed; files are written only below `writable`; TCP is connected only to `ports`, and
    listened on nowhere (no limit if None); other processes are neither signalled nor
    debugged. `no_new_privs` must be set.

    Raises:
        OSError: the kernel refused.
    """
    version = find_version()
    if not version:
        return
    is_network_limited = ports is not None and version >= 4
    changes = _WRITE_FILE | _CHANGE_FOLDERS | (_REFER if version >= 2 else 0)
    changes |= _TRUNCATE if version >= 3 else 0
    asked = _Ruleset(
        changes | _EXECUTE, _NETWORK if is_network_limited else 0, _SIGNALS if version >= 6 else 0
    )
    # An older kernel takes a shorter structure only.
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _call(_CREATE_RULESET, ctypes.byref(asked), size, 0)
    try:
        for folder in writable:
            folder.mkdir(parents=True, exist_ok=True)  # a file store begins with its first file
            parent = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = _PathBeneath(changes, parent)
                _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
            finally:
                os.close(parent)
        for port in ports or () if is_network_limited else ():
            _call(_ADD_RULE, ruleset, _NET_PORT, ctypes.byref(_NetPort(_CONNECT, port)), 0)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
