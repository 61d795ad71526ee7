"""The Celery application that fronts, keepers and workers make: one set of broker options.

Workers add their tasks to it (`workers.farm.worker`); whoever only publishes needs none.
"""

from __future__ import annotations

import ssl
from typing import Final

from celery import Celery

# A message whose worker neither acknowledged it nor died is delivered again after this time: longer
# than any task may run (one hour, see `shared.settings` and `shared.queue.slices`), and longer than
# the clocks of two machines may differ, since kombu compares times of different machines. What a dead
# worker held is published again within seconds by `Broker` and the keeper (decision 0218).
VISIBILITY_TIMEOUT_SECONDS: Final = 3 * 3600

# A front answers within 5 s where the broker is away (contract.md 1).
_CONNECT_SECONDS: Final = 1.0
_SOCKET_SECONDS: Final = 1.5


def create_app(broker_url: str) -> Celery:
    """Return an application that publishes to and consumes from a broker; nothing is connected yet."""
    app = Celery("pressroom", set_as_current=False)
    app.conf.update(
        broker_url=broker_url,
        broker_transport="shared.queue.redis_transport:Transport",
        broker_use_ssl=_tls_options(broker_url),
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
            # One list for each queue; its priorities are the queues themselves.
            "priority_steps": [0],
            "queue_order_strategy": "priority",
            "socket_timeout": _SOCKET_SECONDS,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_keepalive": True,
        },
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # Three tries in a second and a half; a message that is published twice runs once.
        task_publish_retry_policy={
            "max_retries": 2,
            "interval_start": 0.2,
            "interval_step": 0.8,
            "interval_max": 1.0,
        },
        # Only JSON: whoever can write to the broker must not get to run code (hazards.md).
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
    )
    return app


def _tls_options(broker_url: str) -> dict[str, object] | None:
    """Return what holds where the URL is silent; its `ssl_` parameters override it.

    kombu accepts any certificate by default.
    """
    if not broker_url.startswith("rediss://"):
        return None
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED}
