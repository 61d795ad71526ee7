"""kombu's Redis transport with two of its documented class attributes set for hostile input.

Anything may be in a list of Redis. kombu decodes what it takes in the event loop of the worker's main
process, where an exception that is no connection error ends the worker.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any, Final

from kombu.exceptions import KombuError
from kombu.transport import redis as kombu_redis
from kombu.transport import virtual

# A message that Celery rejects as unknown, and reports by its signal `task_rejected`.
_NO_TASK: Final[dict[str, Any]] = {
    "body": "",
    "content-type": "application/json",
    "content-encoding": "utf-8",
    "headers": {},
}
_LONGEST: Final = 512  # characters of an id or a tag


class Message(virtual.Message):
    """A message; what is none becomes one without a task, which is rejected."""

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        if _has_head(payload):
            with suppress(ValueError, KombuError):  # no Base64, no JSON
                super().__init__(payload, channel, **options)  # type: ignore[no-untyped-call]
                # Decoded here once: Celery asks for it too, before it knows the task.
                if _is_sound(payload["headers"], self.payload):
                    return
        super().__init__(_make_no_task(), channel, **options)  # type: ignore[no-untyped-call]


class Channel(kombu_redis.Channel):
    """A channel that reads hostile input as messages without a task."""

    Message = Message


class Transport(kombu_redis.Transport):
    """The transport that `create_app` names in `broker_transport`.

    Text that is not JSON makes the worker reconnect instead of end: it is gone from the queue then.
    """

    Channel = Channel
    connection_errors = (*kombu_redis.Transport.connection_errors, ValueError, RecursionError)


def _make_no_task() -> dict[str, Any]:
    properties = {
        "delivery_tag": secrets.token_hex(16),
        "delivery_info": {"exchange": "", "routing_key": ""},
        "body_encoding": None,
    }
    return _NO_TASK | {"properties": properties}


def _has_head(payload: Any) -> bool:
    match payload:
        case {
            "body": str(),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": dict(),
            "properties": {
                "delivery_tag": str(tag),
                "delivery_info": {"exchange": str(), "routing_key": str()},
                "body_encoding": "base64",
            },
        }:
            return 0 < len(tag) <= _LONGEST
    return False


def _is_sound(headers: dict[str, Any], body: Any) -> bool:
    """Return whether Celery can read a task, or a message of remote control or of events.

    A task of Celery's first protocol, which stands in the body, is none.
    """
    if "task" in headers:
        return _is_task(headers) and _is_body_of_task(body)
    return isinstance(body, list) or (isinstance(body, dict) and "task" not in body)


def _is_task(headers: dict[str, Any]) -> bool:
    match headers:
        case {
            "task": str(),
            "id": str(task_id),
            "timelimit": [int() | float(), None],
            "eta": None,
            "expires": None,
            "retries": int(),
        }:
            return 0 < len(task_id) <= _LONGEST
    return False


def _is_body_of_task(body: Any) -> bool:
    match body:
        case [list(), dict(), dict() as embedded]:
            return not any(embedded.values())  # nothing that is to follow the task
    return False
