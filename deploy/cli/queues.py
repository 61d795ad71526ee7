"""`pressroom queue drain|resume`: have workers leave a queue alone for a while."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from deploy.cli.access import add_farm_option, find_farm
from deploy.cli.output import CommandFailed, Commands, add_json_option, print_result
from shared.clock import ticks
from shared.queue.connection import connect
from shared.queue.depth import QueueReader
from shared.queue.drains import SEEN_BY_ALL_SECONDS, Drains, UnknownQueueError
from shared.queue.names import QUEUES
from shared.telemetry.readings import QueueDepth

_LOOK_SECONDS: Final = 0.2


def add_commands(commands: Commands) -> None:
    """Add `queue drain` and `queue resume`."""
    group = commands.add_parser("queue", help="drain and resume queues", allow_abbrev=False)
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    drain = actions.add_parser(
        "drain", help="have workers take nothing more from a queue", allow_abbrev=False
    )
    drain.add_argument(
        "--wait",
        type=_seconds,
        metavar="SECONDS",
        help="return once nothing of the queue runs; exit 1 when something still does then",
    )
    drain.set_defaults(run=run_drain)
    resume = actions.add_parser(
        "resume", help="have workers take from it again", allow_abbrev=False
    )
    resume.set_defaults(run=run_resume)
    for parser in (drain, resume):
        parser.add_argument("queue", metavar="NAME", help=", ".join(QUEUES))
        add_farm_option(parser)
        add_json_option(parser)


def run_drain(arguments: argparse.Namespace) -> int:
    """Drain a queue: running work ends, what waits stays, what clients wait for is refused."""
    ends = _open(arguments.data)
    is_new = _change([drains.drain for drains, _ in ends], arguments.queue)
    readers = [reader for _, reader in ends]
    if arguments.wait is not None:
        _await_quiet(readers, arguments.queue, seconds=arguments.wait)
    _show(readers, arguments.queue, {"changed": is_new}, as_json=arguments.json)
    return 0


def run_resume(arguments: argparse.Namespace) -> int:
    """Resume a queue; what waits in it is begun within seconds."""
    ends = _open(arguments.data)
    is_new = _change([drains.resume for drains, _ in ends], arguments.queue)
    readers = [reader for _, reader in ends]
    _show(readers, arguments.queue, {"changed": is_new}, as_json=arguments.json)
    return 0


def _open(data: Path | None) -> list[tuple[Drains, QueueReader]]:
    place = find_farm(data)
    if not place.shards:
        raise CommandFailed("the farm is not running, so its queues cannot be reached")
    servers = [connect(shard.url) for shard in place.shards]
    return [(Drains(redis), QueueReader(redis)) for redis in servers]


def _change(changes: Sequence[Callable[[str], bool]], queue: str) -> bool:
    """Do it on every shard and tell whether it was new to any."""
    try:
        done = [change(queue) for change in changes]
    except UnknownQueueError as error:
        raise CommandFailed(str(error)) from error
    return any(done)


def _look(readers: Sequence[QueueReader], queue: str) -> QueueDepth:
    """Give a queue's jobs over all shards; it is drained where it is so on each."""
    found = [reader.read_depth().queues[queue] for reader in readers]
    return QueueDepth(
        waiting=sum(each.waiting for each in found),
        running=sum(each.running for each in found),
        is_drained=all(each.is_drained for each in found),
    )


def _await_quiet(readers: Sequence[QueueReader], queue: str, *, seconds: float) -> None:
    begun = ticks()
    # What a worker had asked for before it heard is still begun.
    surely_heard = begun + SEEN_BY_ALL_SECONDS
    while (running := _look(readers, queue).running) or ticks() < surely_heard:
        if ticks() - begun >= max(seconds, SEEN_BY_ALL_SECONDS):
            raise CommandFailed(
                f"{queue} is drained, but {running} of it still run after {seconds:g} s"
            )
        time.sleep(_LOOK_SECONDS)


def _show(
    readers: Sequence[QueueReader], queue: str, beside: dict[str, Any], *, as_json: bool
) -> None:
    depth = _look(readers, queue)
    shown = {
        "queue": queue,
        "drained": depth.is_drained,
        "waiting": depth.waiting,
        "running": depth.running,
    }
    print_result(shown | beside, as_json=as_json)


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and int(text) <= 24 * 3600):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 86400")
    return float(text)
