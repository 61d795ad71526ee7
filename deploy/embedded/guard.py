"""Kill what the supervisor started once the supervisor is gone: the last defence against orphans.

The leash reaches the processes the supervisor starts itself. Their own children (gunicorn's workers,
Celery's pool) are reached here: every process of the farm lives in the process group of its leader,
and the guard learns of each group over a pipe that ends with the supervisor.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO


class Guard:
    """The supervisor's end of the pipe. The guard process needs no leash: it outlives on purpose."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._process = _start_guard()

    def add(self, group: int) -> None:
        """Have the group killed once this process is gone."""
        self._groups.add(group)
        self._tell("+", group)

    def remove(self, group: int) -> None:
        """Forget a group that ended; its number may soon name somebody else's process."""
        self._groups.discard(group)
        self._tell("-", group)

    def revive(self) -> None:
        """Start the guard again if it died."""
        if self._process.poll() is not None:
            self._pipe.close()
            self._process = _start_guard()
            for group in self._groups:
                self._tell("+", group)

    def close(self) -> None:
        """End the guard; the groups it still knows are killed."""
        self._pipe.close()
        self._process.wait()

    @property
    def _pipe(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _tell(self, sign: str, group: int) -> None:
        with suppress(BrokenPipeError):  # it died: `revive` tells its successor
            self._pipe.write(f"{sign}{group}\n".encode())


def _start_guard() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).resolve())],
        stdin=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # neither a Ctrl-C nor a kill of the supervisor's group ends it
    )


def watch(lines: IO[bytes]) -> None:
    """Follow `+GROUP` and `-GROUP` lines until the pipe ends, then kill the groups that remain."""
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
    watch(sys.stdin.buffer)
