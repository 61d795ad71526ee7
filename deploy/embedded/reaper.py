"""Kills the farm's process groups if the supervisor dies, as the last defence against orphans.

The parent-death signal reaches only the supervisor's direct children. Their children (gunicorn's workers,
Celery's pool) are in the process group of their leader, and the reaper learns of each group over a pipe
that closes with the supervisor.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO


class GroupReaper:
    """The supervisor's side of the pipe. The reaper process outlives the supervisor on purpose."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._process = _start_reaper()

    def add(self, group: int) -> None:
        """Register a group, to be killed if this process dies."""
        self._groups.add(group)
        self._send("+", group)

    def remove(self, group: int) -> None:
        """Unregister a group that has ended; its id may be reused by another process."""
        self._groups.discard(group)
        self._send("-", group)

    def restart(self) -> None:
        """Restart the reaper process if it died."""
        if self._process.poll() is not None:
            self._pipe.close()
            self._process = _start_reaper()
            for group in self._groups:
                self._send("+", group)

    def close(self) -> None:
        """End the reaper; the groups still registered are killed."""
        self._pipe.close()
        self._process.wait()

    @property
    def _pipe(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _send(self, sign: str, group: int) -> None:
        with suppress(BrokenPipeError):  # it died: `restart` registers the groups again
            self._pipe.write(f"{sign}{group}\n".encode())


def _start_reaper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).resolve())],
        stdin=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # so that neither Ctrl-C nor a kill of the supervisor's group ends it
    )


def kill_groups_at_end(lines: IO[bytes]) -> None:
    """Read `+GROUP` and `-GROUP` lines until the pipe closes, then kill the remaining groups."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line[:1] == b"+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    kill_groups_at_end(sys.stdin.buffer)
