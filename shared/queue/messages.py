"""A task as a message in a queue, as Celery's protocol 2 and kombu's Redis transport have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from shared import json_text

_text: Final = encode_basestring_ascii

# `admitted_at` is ours: `depth` reads it, beside the job itself.
_MESSAGE: Final = (
    '{"body":%s,"content-encoding":"utf-8","content-type":"application/json",'
    '"headers":{"lang":"py","task":%s,"id":%s,"root_id":%s,"argsrepr":"","kwargsrepr":"",'
    '"ignore_result":true,"retries":0,"timelimit":[%r,null],"admitted_at":%r},'
    '"properties":{"correlation_id":%s,"reply_to":"","delivery_mode":2,'
    '"delivery_info":{"exchange":"","routing_key":%s},"delivery_tag":%s,"priority":0}}'
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a message says besides its arguments. Its process is killed after `limit_seconds`."""

    task: str
    id: str
    queue: str
    delivery_tag: str
    limit_seconds: float
    admitted_at: float


def write_message(envelope: Envelope, arguments: Sequence[Any]) -> str:
    """Write a message, the same for the same.

    Built by hand: `apply_async` costs 0.4 ms more, and the front need not load Celery
    (queueing.md B3).
    """
    task_id = _text(envelope.id)
    return _MESSAGE % (
        _text(json_text.encode([arguments, {}, {}]).decode()),
        _text(envelope.task),
        task_id,
        task_id,
        envelope.limit_seconds,
        envelope.admitted_at,
        task_id,
        _text(envelope.queue),
        _text(envelope.delivery_tag),
    )


def read_admitted_at(message: bytes | str) -> float | None:
    """Read when a message's work was admitted, None where it does not say."""
    admitted_at = json_text.decode(message)["headers"].get("admitted_at")
    return None if admitted_at is None else float(admitted_at)
