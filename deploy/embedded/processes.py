"""State, uptime and memory of the farm's processes, read from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_KB: Final = 1024
# Fields of /proc/PID/stat after the name, which ends at the last bracket (proc(5)).
_STATE: Final = 0
_GROUP: Final = 2
_STARTED: Final = 19


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """Uptime and memory of a process, including its children."""

    up_seconds: float
    memory_bytes: int


def find_process(pid: int) -> ProcessFacts | None:
    """Return uptime and memory of a process group by its leader, None if that has ended."""
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
    """Return the proportional set size (PSS) of a process in bytes."""
    with suppress(OSError, ValueError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            name, _, amount = line.partition(":")
            if name == "Pss":
                return int(amount.split()[0]) * _KB
    return 0
