"""Landlock, the kernel's sandbox for processes without privileges (landlock(7)), by its three system calls.

Their numbers are the same on every architecture of Linux.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

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
        changes | _EXECUTE,
        _NETWORK if is_network_limited else 0,
        _SIGNALS if version >= 6 else 0,
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
