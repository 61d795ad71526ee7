"""Routing of jobs to queues, by purpose and lane."""

from __future__ import annotations

from typing import Final

from shared.jobs.records import Lane, Purpose
from shared.queue.names import BATCH, INTERACTIVE, PREVIEW, VALIDATE

_QUEUES: Final = {Lane.INTERACTIVE: INTERACTIVE, Lane.BATCH: BATCH}


def queue_for(purpose: Purpose, lane: Lane = Lane.INTERACTIVE) -> str:
    """Return the name of a job's queue: one for each lane of renders, one for previews, one for the rest."""
    if purpose is Purpose.RENDER:
        return _QUEUES[lane]
    return PREVIEW if purpose is Purpose.PREVIEW else VALIDATE
