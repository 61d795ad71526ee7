"""The process of rule packs: started by a worker's main process, asked by its children."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Client
from threading import Thread
from typing import Final

import msgspec

from shared.limits import MAX_INVOICE_BYTES, MB
from shared.telemetry.log import get_logger
from workers.engine.einvoices import InvoiceFacts, Verdict

MAX_BYTES: Final = MAX_INVOICE_BYTES + MB
SECONDS: Final = 10.0  # of CPU time for one invoice
PATIENCE_SECONDS: Final = 30.0  # invoices of others come before


class JudgeRequest(msgspec.Struct, frozen=True):
    """An invoice to be judged."""

    content: bytes
    facts: InvoiceFacts


class RuleClient:
    """Has invoices judged by the process of rule packs."""

    def __init__(self, address: bytes) -> None:
        self._address = address

    def judge(self, content: bytes, facts: InvoiceFacts) -> Verdict:
        """Return what the packs say; without findings and with a note if they did not end in time."""
        try:
            with Client(self._address, "AF_UNIX") as connection:
                connection.send_bytes(msgspec.msgpack.encode(JudgeRequest(content, facts)))
                if connection.poll(PATIENCE_SECONDS):
                    return msgspec.msgpack.decode(connection.recv_bytes(MAX_BYTES), type=Verdict)
        except (EOFError, OSError):
            pass  # the process ended
        return Verdict(
            note=f"its rules did not end within {SECONDS:g} s of CPU time and the memory for them"
        )


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
