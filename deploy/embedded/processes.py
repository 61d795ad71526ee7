"""What the kernel says of the farm's processes: whether they live, since when, and their memory."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_KB: Final = 1024
# Fields of /proc/PID/stat after the name, which may hold anything but its last bracket.
_STATE: Final = 0
_GROUP: Final = 2
_STARTED: Final = 19


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """A process with its children: since when it runs, and the memory that is theirs."""

    up_seconds: float
    memory_bytes: int


def find_process(pid: int) -> ProcessFacts | None:
    """Give what is known of a process that leads a group, None when it lives no more."""
    own = _read_stat(pid)
    if own is None or own[_STATE] in "ZX":
        return None
    up = float((_PROC / "uptime").read_text().split()[0])
    started = int(own[_STARTED]) / os.sysconf("SC_CLK_TCK")
    memory = sum(_memory(member) for member in _group(pid))
    return ProcessFacts(max(up - started, 0.0), memory)


def _group(leader: int) -> list[int]:
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if (stat := _read_stat(pid)) and int(stat[_GROUP]) == leader]


def _read_stat(pid: int) -> list[str] | None:
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _memory(pid: int) -> int:
    """Give the memory of one process, its share of what it shares with others."""
    with suppress(OSError, ValueError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            name, _, amount = line.partition(":")
            if name == "Pss":
                return int(amount.split()[0]) * _KB
    return 0
