"""Validation of the URL of an AMQP broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

# Accepted query parameters, named as in the URL of Redis, and their names in py-amqp.
TLS_FILES: Final[Mapping[str, str]] = {
    "ssl_ca_certs": "ca_certs",
    "ssl_certfile": "certfile",
    "ssl_keyfile": "keyfile",
}


def is_amqp(broker_url: str) -> bool:
    """Return whether a broker is an AMQP broker, such as RabbitMQ; otherwise it is Redis."""
    return broker_url.startswith(("amqp://", "amqps://"))


def check_amqp_url(broker_url: str) -> None:
    """Check the URL of an AMQP broker.

    Raises:
        ValueError: the URL is invalid; the message omits it, since it may contain a password.
    """
    if not (is_amqp(broker_url) and _has_host(broker_url)):
        raise ValueError("accepted is amqp://user:password@host:port/vhost, or amqps:// for TLS")
    parts = urlsplit(broker_url)
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if parts.scheme != "amqps" or name not in TLS_FILES:
            raise ValueError(
                f"{name!r} is not accepted behind the URL; with amqps:// {', '.join(TLS_FILES)} are"
            )


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.hostname is not None and parts.port != 0
    except ValueError:
        return False
