"""Validation of messages before Celery reads them, for all brokers.

kombu and Celery read messages in the event loop of the worker's main process, where any exception
except a connection error ends the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_ID_LENGTH: Final = 512  # characters of an id or a tag


def is_valid_message(headers: Mapping[str, Any], body: Any) -> bool:
    """Return whether Celery can read a task, or a message of remote control or of events.

    Tasks of Celery's protocol version 1, which are in the body, are invalid.
    """
    if "task" in headers:
        return _is_task(headers) and _is_body_of_task(body)
    return isinstance(body, list) or (isinstance(body, dict) and "task" not in body)


def _is_task(headers: Mapping[str, Any]) -> bool:
    match headers:
        case {
            "task": str(),
            "id": str(task_id),
            "timelimit": [int() | float(), None],
            "eta": None,
            "expires": None,
            "retries": int(),
        }:
            return 0 < len(task_id) <= MAX_ID_LENGTH
    return False


def _is_body_of_task(body: Any) -> bool:
    match body:
        case [list(), dict(), dict() as embedded]:
            return not any(embedded.values())  # no callbacks, chain or chord
    return False
