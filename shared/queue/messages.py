"""A task as a message in a queue, as Celery's protocol 2 and kombu's Redis transport have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from shared import json_text
from shared.limits import MB
from shared.queue.names import TASKS

# Why something in a queue is dropped.
NOT_JSON: Final = "not JSON"
NOT_A_TASK: Final = "not a task"
UNKNOWN_TASK: Final = "unknown task"
TOO_LARGE: Final = "too large"
WRONG_ARGUMENTS: Final = "wrong arguments"
REASONS: Final = (NOT_JSON, NOT_A_TASK, UNKNOWN_TASK, TOO_LARGE, WRONG_ARGUMENTS)

# A body of up to 64 KB is in its message, and becomes seven times as long where all of it is escaped.
MOST_BYTES: Final = 4 * MB
# Behind the arguments: none by name, and nothing that is to follow the task.
_NOTHING_ELSE: Final = ("],{},{}]", "], {}, {}]")
_WRITTEN_AS: Final = ("application/json", "utf-8")
_LONGEST_NAME: Final = 512
_LONGEST_LIMIT_SECONDS: Final = 1_000_000

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


class ForeignMessage(ValueError):
    """What was in a queue is no message of this farm; `reason` is one of `REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


def read_message(text: bytes, queue: str) -> dict[str, Any]:
    """Read a message as kombu takes it, made of what a task of ours needs and nothing else.

    Anything may be in a queue, and what Celery cannot read ends a worker. The arguments are not
    read here but where the task runs.

    Raises:
        ForeignMessage: it is none.
    """
    if len(text) > MOST_BYTES:
        raise ForeignMessage(TOO_LARGE)
    try:
        found = json_text.decode(text)
    except ValueError as error:
        raise ForeignMessage(NOT_JSON) from error
    # Not by `match`, which is slower: every message passes here, in the event loop of its worker.
    try:
        headers, tag, body = found["headers"], found["properties"]["delivery_tag"], found["body"]
        task, task_id, (limit, none) = headers["task"], headers["id"], headers["timelimit"]
        written_as = (found["content-type"], found["content-encoding"])
    except (LookupError, TypeError, ValueError) as error:
        raise ForeignMessage(NOT_A_TASK) from error
    if (
        written_as != _WRITTEN_AS
        or not type(body) is type(task) is str
        or not _is_name(task_id)
        or not _is_name(tag)
        or not _is_limit(limit)
        or none is not None
    ):
        raise ForeignMessage(NOT_A_TASK)
    if task not in TASKS:
        raise ForeignMessage(UNKNOWN_TASK)
    if not (body.startswith("[[") and body.endswith(_NOTHING_ELSE)):
        raise ForeignMessage(WRONG_ARGUMENTS)
    again = {"redelivered": True} if "redelivered" in headers else {}  # kombu's word
    return {
        "body": body,
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": task,
            "id": task_id,
            "root_id": task_id,
            "argsrepr": "",
            "kwargsrepr": "",
            "ignore_result": True,
            "retries": 0,
            "timelimit": [limit, None],
            **again,
        },
        "properties": {
            "correlation_id": task_id,
            "reply_to": "",
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": queue, **again},
            "delivery_tag": tag,
            "priority": 0,
        },
    }


def _is_name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= _LONGEST_NAME


def _is_limit(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= _LONGEST_LIMIT_SECONDS


def read_admitted_at(message: bytes | str) -> float | None:
    """Read when a message's work was admitted, None where it does not say."""
    try:
        found = json_text.decode(message)
    except ValueError:
        return None
    match found:
        case {"headers": {"admitted_at": int() | float() as admitted_at}}:
            return float(admitted_at)
    return None
