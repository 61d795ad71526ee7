"""The client of the process of rule packs, for the children of a worker."""

from __future__ import annotations

from multiprocessing.connection import Client
from typing import Final

import msgspec

from shared.limits import MAX_INVOICE_BYTES, MB
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
