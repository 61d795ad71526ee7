"""How the farm's totals grow: each commit leaves a line of increments, and lines are added up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from redis import Redis, RedisError

from shared import json_text
from shared.queue.names import FARM_TOTALS, FRESH_TOTALS
from shared.telemetry.log import get_logger

if TYPE_CHECKING:
    from shared.telemetry.metrics import Spec

log: Final = get_logger(__name__)


def write_line(increments: Mapping[str, float]) -> bytes:
    """Write increments as the script takes them."""
    return json_text.encode(increments)


def add_to_totals(redis: Redis, spec: Spec, *labels: str) -> None:
    """Add 1 to a counter of the farm, where there is no commit to do it with.

    Raises:
        RedisError: Redis is away.
    """
    # Late: commands that only read totals load no metrics.
    from shared.telemetry.totals import Tally

    tally = Tally()
    tally.count(spec, *labels)
    for field, amount in tally.drain().items():
        redis.hincrbyfloat(FARM_TOTALS, field, amount)


def count_dropped(redis: Redis, reason: str) -> None:
    """Count a message that is no task of the farm's; without Redis it is only logged."""
    from shared.telemetry import metrics

    try:
        add_to_totals(redis, metrics.MESSAGES_DROPPED, reason)
    except RedisError as error:
        log.warning("dropped message not counted", cause=repr(error))


def read_sums(redis: Redis) -> dict[str, float]:
    """Return the sums of all that was committed; nothing is written, so a full Redis answers too.

    Raises:
        RedisError: Redis is away.
    """
    with redis.pipeline() as pipe:
        pipe.hgetall(FARM_TOTALS)
        pipe.lrange(FRESH_TOTALS, 0, -1)
        totals, lines = pipe.execute()
    sums = defaultdict(float, {name.decode(): float(amount) for name, amount in totals.items()})
    for line in lines:
        for field, amount in json_text.decode(line).items():
            sums[field] += amount
    return dict(sums)
