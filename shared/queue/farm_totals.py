"""The farm's totals: each commit appends a line of increments, and lines are summed in groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from redis import Redis, RedisError

from shared import json_text
from shared.queue.names import FARM_TOTALS, FRESH_TOTALS

if TYPE_CHECKING:
    from shared.telemetry.metrics import Spec


def encode_increments(increments: Mapping[str, float]) -> bytes:
    """Encode increments as the commit script expects them."""
    return json_text.encode(increments)


def add_to_totals(redis: Redis, spec: Spec, *labels: str) -> None:
    """Add 1 to a counter of the farm, outside a commit.

    Raises:
        RedisError: Redis is unreachable.
    """
    # Imported late: commands that only read totals need no metrics.
    from shared.telemetry.totals import Tally

    tally = Tally()
    tally.count(spec, *labels)
    for field, amount in tally.drain().items():
        redis.hincrbyfloat(FARM_TOTALS, field, amount)


def count_dropped(redis: Redis, reason: str) -> None:
    """Count a dropped message; without Redis it is only logged."""
    from shared.telemetry import metrics
    from shared.telemetry.log import get_logger

    try:
        add_to_totals(redis, metrics.MESSAGES_DROPPED, reason)
    except RedisError as error:
        get_logger(__name__).warning("dropped message not counted", cause=repr(error))


def read_totals(redis: Redis) -> dict[str, float]:
    """Return the totals of all commits. Read-only, so a full Redis answers too.

    Raises:
        RedisError: Redis is unreachable.
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
