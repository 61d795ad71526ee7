"""Which queue work waits in, by what it is and whether somebody waits for it."""

from __future__ import annotations

from typing import Final

from shared.jobs import Lane, Purpose
from shared.queue.names import BATCH, INTERACTIVE, VALIDATE

_QUEUES: Final = {Lane.INTERACTIVE: INTERACTIVE, Lane.BATCH: BATCH}


def queue_for(purpose: Purpose, lane: Lane = Lane.INTERACTIVE) -> str:
    """Return the name of the queue: validations have one of their own, renders one for each lane."""
    return VALIDATE if purpose is Purpose.VALIDATE else _QUEUES[lane]
