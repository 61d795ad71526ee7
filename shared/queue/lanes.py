"""Which queue work waits in, by what it is and whether somebody waits for it."""

from __future__ import annotations

from typing import Final

from shared.jobs import Lane, Purpose
from shared.queue.names import BATCH, INTERACTIVE, VALIDATE

_QUEUES: Final = {Lane.INTERACTIVE: INTERACTIVE, Lane.BATCH: BATCH}


def queue_for(purpose: Purpose, lane: Lane = Lane.INTERACTIVE) -> str:
    """Return the name of the queue: renders have one for each lane, all other work shares one."""
    return _QUEUES[lane] if purpose is Purpose.RENDER else VALIDATE
