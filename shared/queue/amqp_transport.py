"""kombu's AMQP transport, hardened against malformed messages as `redis_transport` is.

The broker would redeliver a message that crashes a worker to the next worker.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from amqp.basic_message import Message as RawMessage
from kombu.exceptions import KombuError
from kombu.transport import pyamqp

from shared.queue.queues import MAX_ID_LENGTH, is_valid_message

_JSON: Final = {"content_type": "application/json", "content_encoding": "utf-8"}


class Message(pyamqp.Message):
    """A message; a malformed one becomes a message without a task, which is rejected and dropped."""

    def __init__(self, msg: Any, channel: Any = None, **options: Any) -> None:
        if _has_head(msg):
            with suppress(ValueError, KombuError, RecursionError):  # no JSON
                super().__init__(msg, channel=channel, **options)  # type: ignore[no-untyped-call]
                # Decoded here once: Celery asks for it too, before it knows the task.
                if is_valid_message(self.headers, self.payload):
                    return
        super().__init__(_make_no_task(msg), channel=channel, **options)  # type: ignore[no-untyped-call]


class Channel(pyamqp.Channel):
    """A channel that reads malformed messages as messages without a task."""

    Message = Message


class Connection(pyamqp.Connection):
    """A connection whose channels are `Channel`."""

    Channel = Channel


class Transport(pyamqp.Transport):
    """The transport that `create_app` names in `broker_transport`."""

    Connection = Connection


def _make_no_task(msg: Any) -> RawMessage:
    made = RawMessage("", application_headers={}, **_JSON)
    made.delivery_info = dict(msg.delivery_info)  # a rejection needs its delivery tag
    return made


def _has_head(msg: Any) -> bool:
    properties = msg.properties
    headers = properties.get("application_headers")
    return (
        properties.get("content_type") == _JSON["content_type"]
        and properties.get("content_encoding") == _JSON["content_encoding"]
        and (headers is None or (isinstance(headers, dict) and "compression" not in headers))
        and len(str(msg.delivery_info.get("routing_key", ""))) <= MAX_ID_LENGTH
    )
