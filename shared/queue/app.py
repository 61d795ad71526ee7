"""The Celery application of fronts, maintenance and workers: one set of broker options, and its time-outs for AMQP.

Workers add their tasks to it (`workers.farm.worker`); publishers need none.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from celery import Celery
from kombu.entity import Exchange, Queue

from shared.broker_url import TLS_FILES, is_amqp
from shared.queue.names import QUEUES

# A front answers within 5 s when the broker is unreachable or blocks publishers: it waits
# for a pooled connection, publishes, reconnects in up to two attempts, and publishes again.
POOL_SECONDS: Final = 0.5
CONNECT_SECONDS: Final = 0.7
CONFIRM_SECONDS: Final = 1.0
# The broker requeues the messages of a dead worker after two missed heartbeats.
HEARTBEAT_SECONDS: Final = 10
# Of calls without a time-out of their own, such as queue declarations.
_AMQP_READ_SECONDS: Final = 10.0
# Jobs are failed by their own delivery count (`Commits.begin`); this limit drops a message that crashes
# workers before they count it.
_DELIVERY_LIMIT: Final = 20
# Longer than any task runs; RabbitMQ's default is half an hour. The argument works from 3.12 on; older
# versions are configured with `consumer_timeout`.
_CONSUMER_TIMEOUT_MS: Final = 3 * 3600 * 1000


def make_queue(name: str) -> Queue:
    """Return a quorum queue: it survives a restart, and the loss of one of three brokers."""
    arguments = {
        "x-queue-type": "quorum",
        "x-delivery-limit": _DELIVERY_LIMIT,
        "x-consumer-timeout": _CONSUMER_TIMEOUT_MS,
    }
    return Queue(name, Exchange(name), name, queue_arguments=arguments)  # type: ignore[no-untyped-call] # kombu has no types


def amqp_options(broker_url: str) -> dict[str, Any]:
    """Return the Celery settings for an AMQP broker."""
    parts = urlsplit(broker_url)
    return {
        "broker_url": parts._replace(query="").geturl(),
        "broker_transport": "shared.queue.amqp_transport:Transport",
        "broker_use_ssl": _amqp_tls(broker_url),
        "broker_transport_options": {
            # Without confirms, a message that the broker refuses or loses is lost silently.
            "confirm_publish": True,
            "read_timeout": _AMQP_READ_SECONDS,
            "write_timeout": _AMQP_READ_SECONDS,
        },
        "broker_connection_timeout": CONNECT_SECONDS,
        "broker_heartbeat": HEARTBEAT_SECONDS,
        "broker_pool_limit": 32,
        # Publishers and consumers declare the same queues.
        "task_queues": [make_queue(name) for name in QUEUES],
        # Celery declares 28 queues for delayed tasks, which the farm does not use; classic queues
        # cost the broker least.
        "broker_native_delayed_delivery_queue_type": "classic",
        "task_publish_retry_policy": {
            "max_retries": 1,
            "interval_start": 0.2,
            "interval_step": 0.0,
            "interval_max": 0.2,
        },
    }


def _amqp_tls(broker_url: str) -> dict[str, object] | None:
    """Return TLS options that verify the certificate: kombu accepts any by default."""
    parts = urlsplit(broker_url)
    if parts.scheme != "amqps":
        return None
    files = {TLS_FILES[name]: value for name, value in parse_qsl(parts.query)}
    # The certificate must be valid for the host name in the URL.
    return {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": parts.hostname, **files}


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


# Of each reply.
_REPLY_SECONDS: Final = 1.0


@contextmanager
def within_read_timeout(transport: Any) -> Iterator[None]:
    """Limit what has no time-out of its own on an open connection, such as opening a channel.

    The time-out is that of the socket, which also works under gevent. The block may replace the connection,
    as kombu does when it publishes on one that the broker has closed.
    """
    is_done = False
    try:
        with transport.having_timeout(_REPLY_SECONDS):
            yield
            is_done = True
    except OSError:
        # Resetting the time-out of a closed socket fails.
        if not is_done:
            raise
