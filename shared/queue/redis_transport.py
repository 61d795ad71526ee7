"""kombu's Redis transport, hardened against malformed messages by two documented class attributes.

A Redis list may contain any bytes. kombu decodes messages in the event loop of the worker's main process,
where any exception except a connection error ends the worker.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import Any, Final

from kombu.exceptions import KombuError
from kombu.transport import redis as kombu_redis
from kombu.transport import virtual
from redis.exceptions import RedisError, ResponseError

from shared.queue.queues import MAX_ID_LENGTH, is_valid_message
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)

# A message that Celery rejects as unknown, and reports by its signal `task_rejected`.
_NO_TASK: Final[dict[str, Any]] = {
    "body": "",
    "content-type": "application/json",
    "content-encoding": "utf-8",
    "headers": {},
}


class Message(virtual.Message):
    """A message; a malformed one becomes a message without a task, which is rejected."""

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        if _has_head(payload):
            with suppress(ValueError, KombuError):  # no Base64, no JSON
                super().__init__(payload, channel, **options)  # type: ignore[no-untyped-call]
                # Decoded here once: Celery asks for it too, before it knows the task.
                if is_valid_message(payload["headers"], self.payload):
                    return
        super().__init__(_make_no_task(), channel, **options)  # type: ignore[no-untyped-call]


class Channel(kombu_redis.Channel):
    """A channel that reads malformed messages as messages without a task.

    When its connection is lost, running tasks continue and are not requeued.
    """

    Message = Message
    do_restore = False

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Put the message of a child that died back into its queue, if Redis takes it.

        An error would leave the message unacknowledged, and its slot without work until the worker restarts.
        `Broker` and maintenance publish what was not put back.
        """
        try:
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]
        except RedisError as error:
            log.warning("message not put back", cause=repr(error))
            self.basic_ack(delivery_tag)  # type: ignore[no-untyped-call]


class Transport(kombu_redis.Transport):
    """The transport that `create_app` names in `broker_transport`.

    The worker reconnects while the server refuses commands, for example with a full disk.
    It also reconnects after a message that is not JSON, which has left the queue by then.
    """

    Channel = Channel
    connection_errors = (
        *kombu_redis.Transport.connection_errors,
        ResponseError,
        ValueError,
        RecursionError,
    )


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
            return 0 < len(tag) <= MAX_ID_LENGTH
    return False
