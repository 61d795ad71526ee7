"""`pressroom queue drain|resume`: pauses and resumes a queue."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from deploy.cli.farm import find_farm, open_farm
from deploy.cli.output import CommandFailed, Result
from shared.auth import audit
from shared.clock import ticks
from shared.queue.connection import connect
from shared.queue.depth import PROPAGATION_SECONDS, Drains, QueueReader, read_depth
from shared.queue.queue_factory import open_queues

_POLL_SECONDS: Final = 0.2


def run_drain(arguments: argparse.Namespace) -> Result:
    """Drain a queue: running jobs end, queued jobs stay, and synchronous requests are rejected."""
    ends = _open(arguments.data)
    is_new = _change([drains.drain for drains, _ in ends], arguments, "queue.drain")
    readers = [reader for _, reader in ends]
    if arguments.wait is not None:
        await_idle(
            lambda: read_depth(readers, arguments.queue).running, arguments.queue, arguments.wait
        )
    return _read_state(readers, arguments.queue) | {"changed": is_new}


def run_resume(arguments: argparse.Namespace) -> Result:
    """Resume a queue; its queued jobs start within seconds."""
    ends = _open(arguments.data)
    is_new = _change([drains.resume for drains, _ in ends], arguments, "queue.resume")
    readers = [reader for _, reader in ends]
    return _read_state(readers, arguments.queue) | {"changed": is_new}


def _open(data: Path | None) -> list[tuple[Drains, QueueReader]]:
    place = find_farm(data)
    if not place.shards:
        raise CommandFailed("the farm is not running, so its queues cannot be reached")
    servers = [connect(shard.url) for shard in place.shards]
    broker = open_queues(place.broker_url) if place.broker_url else None
    return [(Drains(redis), QueueReader(redis, broker)) for redis in servers]


def _change(
    changes: Sequence[Callable[[str], bool]], arguments: argparse.Namespace, action: str
) -> bool:
    """Apply the change on every shard and enter it in the audit log, and return whether it changed any."""
    done = [change(arguments.queue) for change in changes]
    with open_farm(arguments.data) as farm:
        farm.change(
            lambda session: audit.record(
                session, audit.FARM, audit.OPERATOR, action, arguments.queue
            )
        )
    return any(done)


def await_idle(count_running: Callable[[], int], queue: str, seconds: float) -> None:
    """Wait until no job of a drained queue runs.

    Raises:
        CommandFailed: jobs still run after some seconds.
    """
    begun = ticks()
    # A worker still starts a job that it requested before it saw the drain.
    applied_at = begun + PROPAGATION_SECONDS
    while (running := count_running()) or ticks() < applied_at:
        if ticks() - begun >= max(seconds, PROPAGATION_SECONDS):
            raise CommandFailed(
                f"{queue} is drained, but {running} of its jobs still run after {seconds:g} s"
            )
        time.sleep(_POLL_SECONDS)


def _read_state(readers: Sequence[QueueReader], queue: str) -> dict[str, Any]:
    depth = read_depth(readers, queue)
    return {
        "queue": queue,
        "drained": depth.is_drained,
        "waiting": depth.waiting,
        "running": depth.running,
    }
