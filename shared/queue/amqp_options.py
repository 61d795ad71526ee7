"""Queue declarations and connection options for an AMQP broker (RabbitMQ)."""

from __future__ import annotations

import ssl
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from kombu.entity import Exchange, Queue

from shared.broker_url import TLS_FILES
from shared.queue.names import QUEUES

# A front answers within 5 s when the broker is unreachable or blocks publishers: it waits
# for a pooled connection, publishes, reconnects in up to two attempts, and publishes again.
POOL_SECONDS: Final = 0.5
CONNECT_SECONDS: Final = 0.7
CONFIRM_SECONDS: Final = 1.0
# The broker requeues the messages of a dead worker after two missed heartbeats.
HEARTBEAT_SECONDS: Final = 10
# Of calls without a time-out of their own, such as queue declarations.
_READ_SECONDS: Final = 10.0
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
        "broker_use_ssl": _tls_options(broker_url),
        "broker_transport_options": {
            # Without confirms, a message that the broker refuses or loses is lost silently.
            "confirm_publish": True,
            "read_timeout": _READ_SECONDS,
            "write_timeout": _READ_SECONDS,
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


def _tls_options(broker_url: str) -> dict[str, object] | None:
    """Return TLS options that verify the certificate: kombu accepts any by default."""
    parts = urlsplit(broker_url)
    if parts.scheme != "amqps":
        return None
    files = {TLS_FILES[name]: value for name, value in parse_qsl(parts.query)}
    # The certificate must be valid for the host name in the URL.
    return {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": parts.hostname, **files}
