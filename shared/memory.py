"""Memory of a process, read from `/proc/pid/statm` (proc(5))."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Memory(NamedTuple):
    """The virtual and the resident memory of a process, in bytes."""

    size: int
    resident: int


def read_memory(pid: int) -> Memory:
    """Return the memory of a process.

    Raises:
        ProcessLookupError: the process has ended.
    """
    try:
        descriptor = os.open(f"/proc/{pid}/statm", os.O_RDONLY)
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    try:
        pages = os.read(descriptor, 200).split()
    finally:
        os.close(descriptor)
    if not pages:
        raise ProcessLookupError(pid)
    return Memory(int(pages[0]) * _PAGE_BYTES, int(pages[1]) * _PAGE_BYTES)
