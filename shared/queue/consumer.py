"""The workers' side of the queue: a Celery application, set up so that no job is lost or hoarded."""

from __future__ import annotations

import ssl

from celery import Celery
from kombu.entity import Queue

from shared.queue.attendance import Attendance
from shared.queue.lease import LEASE_SECONDS, Lease
from shared.queue.stops import Stops
from shared.settings import Settings


def create_consumer(settings: Settings) -> Celery:
    """Make the application of a render worker; queueing.md 3.1 measured these settings.

    It takes from the queues of one shard.

    Raises:
        WrongSetting: which shard is not said.
    """
    redis_url = settings.own_shard.url
    app = Celery("pressroom", set_as_current=False)
    app.conf.update(
        broker_url=redis_url,
        broker_transport="shared.queue.transport:Transport",
        # kombu speaks TLS by its own transport's name only, and trusts anybody by default then.
        broker_use_ssl=_tls_options(redis_url),
        broker_transport_options={
            "visibility_timeout": LEASE_SECONDS,
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            # A worker killed in the middle of a sweep must not stop the others' for five minutes.
            "unacked_mutex_expire": LEASE_SECONDS,
            "priority_steps": [0],
            "queue_order_strategy": "priority",
            "socket_timeout": 5.0,
            "socket_connect_timeout": 2.0,
            "socket_keepalive": True,
        },
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # In order of precedence: a free worker takes a waiting render before a validation.
        task_queues=[Queue(name) for name in settings.worker_queues.split(",")],  # type: ignore[no-untyped-call] # kombu's types end here
        # Only JSON: whoever can write to Redis must not get to run code (hazards.md).
        accept_content=["json"],
        task_serializer="json",
        # A message is acknowledged when its job has ended; a killed child's is queued again,
        # and `Commits.begin` counts how often.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        # That bounds the messages; a second bound, by slots, would hold back what goes to one early.
        worker_pool_putlocks=False,
        worker_concurrency=settings.worker_concurrency,
        worker_max_tasks_per_child=settings.child_max_jobs,
        task_ignore_result=True,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    app.steps["consumer"].add(Lease)
    app.steps["consumer"].add(Stops)
    app.steps["consumer"].add(Attendance)
    return app


def _tls_options(redis_url: str) -> dict[str, object] | None:
    """Give what holds where the URL says nothing of it; its `ssl_` parameters come after."""
    if not redis_url.startswith("rediss://"):
        return None
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED}
