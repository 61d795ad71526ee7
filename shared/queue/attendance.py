"""A worker's word that it is there, and its ear for which queues it must leave alone."""

from __future__ import annotations

import os
import socket
from typing import Any, ClassVar, Final

from celery import bootsteps
from celery.worker import state as worker_state
from redis import RedisError

from shared.queue.names import DRAINED
from shared.queue.roster import SAY_EVERY_SECONDS, WorkerWord, say_goodbye, say_present
from shared.telemetry.log import get_logger

log: Final = get_logger(__name__)


class Attendance(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
    """Tells `roster` of the worker, and its channel which queues are drained.

    Without Redis the worker goes by what it heard last; it can take nothing then anyway.
    """

    requires: ClassVar[set[str]] = {"celery.worker.consumer.tasks:Tasks"}

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """Begin to speak and listen; Celery starts the step anew after each reconnect."""
        # Once before the first message is asked for: a worker that starts must not take from
        # what is drained.
        self._speak(consumer)
        self._timer = consumer.timer.call_repeatedly(SAY_EVERY_SECONDS, self._speak, (consumer,))

    def stop(self, consumer: Any) -> None:
        """Say goodbye; a worker that cannot is missed seconds later."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        try:
            with consumer.task_consumer.channel.conn_or_acquire() as client:
                say_goodbye(client, self._name)
        except Exception as error:  # noqa: BLE001 - the connection may be what ended
            log.debug("goodbye not said", cause=repr(error))

    def _speak(self, consumer: Any) -> None:
        channel = consumer.task_consumer.channel
        word = WorkerWord(
            self._name,
            tuple(queue.name for queue in consumer.app.conf.task_queues),
            consumer.app.conf.worker_concurrency,
            min(len(worker_state.active_requests), consumer.app.conf.worker_concurrency),
        )
        try:
            with channel.conn_or_acquire() as client:
                pipe = client.pipeline(transaction=False)
                say_present(pipe, word)
                pipe.hkeys(DRAINED)
                drained = {queue.decode() for queue in pipe.execute()[-1]}
        except RedisError as error:
            log.warning("attendance not told", cause=repr(error))
            return
        if channel.leave_alone(drained):
            log.info("drained queues changed", drained=sorted(drained))
