"""The socket of the process of rule packs, in the main process of a worker."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import time
from threading import Thread
from typing import Final

from shared.telemetry.log import get_logger

_BACKLOG: Final = 128
_PAUSE_SECONDS: Final = 0.5  # between the end of a process and the start of the next

log: Final = get_logger(__name__)


class RuleProcess:
    """Starts the process when a child connects to its socket, and again after its end."""

    def __init__(self, folder: str) -> None:
        """Listen, on an address of the kernel's choice."""
        self._folder = folder
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind("")
        self._listener.listen(_BACKLOG)
        self.address: bytes = self._listener.getsockname()

    def start(self) -> None:
        """Serve the socket until the worker ends."""
        Thread(target=self._serve, name="rules", daemon=True).start()

    def _serve(self) -> None:
        while True:
            select.select([self._listener], [], [])
            command = [sys.executable, "-m", "workers.rules.main", self._folder]
            code = subprocess.run(command, stdin=self._listener.fileno(), check=False).returncode
            log.info("process of rule packs ended", code=code)
            time.sleep(_PAUSE_SECONDS)
