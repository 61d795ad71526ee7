"""The Celery application of fronts, maintenance and workers: one set of broker options.

Workers add their tasks to it (`workers.farm.worker`); publishers need none.
"""

from __future__ import annotations

import ssl
from typing import Any, Final

from celery import Celery

from shared.broker_url import is_amqp
from shared.queue.amqp_options import amqp_options

# A front answers within 5 s when the broker is unreachable.
_CONNECT_SECONDS: Final = 1.0
_SOCKET_SECONDS: Final = 1.5


def create_app(broker_url: str) -> Celery:
    """Return an application that publishes to and consumes from a broker; it connects on first use."""
    app = Celery("pressroom", set_as_current=False)
    app.conf.update(
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # Only JSON: a client that can write to the broker must not be able to run code.
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        # Otherwise each request of a front makes a backend, though no result is stored.
        result_backend_thread_safe=True,
        **(amqp_options(broker_url) if is_amqp(broker_url) else _redis_options(broker_url)),
    )
    return app


def _redis_options(broker_url: str) -> dict[str, Any]:
    return {
        "broker_url": broker_url,
        "broker_transport": "shared.queue.redis_transport:Transport",
        "broker_use_ssl": _tls_options(broker_url),
        "broker_transport_options": {
            # `Broker` and maintenance publish the tasks of a dead worker again within seconds
            # (decision 0311): kombu's own record costs two more round trips a message.
            "ack_emulation": False,
            # One list for each queue; each priority is a queue.
            "priority_steps": [0],
            "queue_order_strategy": "priority",
            "socket_timeout": _SOCKET_SECONDS,
            "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_keepalive": True,
        },
        # Two attempts of `_SOCKET_SECONDS` each; a message that is published twice runs once.
        "task_publish_retry_policy": {
            "max_retries": 1,
            "interval_start": 0.5,
            "interval_step": 0.0,
            "interval_max": 0.5,
        },
    }


def _tls_options(broker_url: str) -> dict[str, object] | None:
    """Return the default TLS options; `ssl_` parameters of the URL override them.

    kombu accepts any certificate by default.
    """
    if not broker_url.startswith("rediss://"):
        return None
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED}
