"""A worker's own view of a task, where Celery lets an application add to it."""

from __future__ import annotations

from typing import Any

from billiard.einfo import ExceptionWithTraceback
from celery.worker import request
from kombu.exceptions import DecodeError

from shared.queue.messages import WRONG_ARGUMENTS


class Request(request.Request):  # type: ignore[misc] # Celery has no types
    """A request that reports arguments nobody can read: its task is not even called."""

    def on_failure(self, exc_info: Any, *args: Any, **options: Any) -> Any:
        """Handle a failure as Celery does, and count a message that is dropped with it."""
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if not isinstance(error, DecodeError):
            return super().on_failure(exc_info, *args, **options)
        message = self.message
        queue = message.delivery_info["routing_key"]
        message.channel.report_dropped(queue, str(message.body).encode(), WRONG_ARGUMENTS)
        self.acknowledge()
        return None
