"""What a rendering process has to reach: the folders that it writes to, and the services that it calls."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from shared.settings import Settings

_DNS_PORT: Final = 53
_PORTS: Final = {
    "amqp": 5672,
    "amqps": 5671,
    "http": 80,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "s3": 443,
}


def list_written_folders(settings: Settings) -> Iterator[Path]:
    """Yield the folders that a rendering process writes to."""
    yield Path("/dev")
    yield Path(tempfile.gettempdir())
    if settings.metrics_dir is not None:
        yield Path(settings.metrics_dir).parent  # the worker's own is beside it
    if settings.blob_url.startswith("file://"):
        yield Path(unquote(urlsplit(settings.blob_url).path))
    if settings.database_url.startswith("sqlite"):
        yield Path(urlsplit(settings.database_url).path[1:]).absolute().parent


def find_called_ports(settings: Settings) -> frozenset[int] | None:
    """Return the TCP ports of the services that a rendering process calls; None with traces.

    A URL may name several hosts: every number after a colon counts, besides the ports of its scheme.
    Variables of OpenTelemetry's own name the target of traces.
    """
    if settings.traces:
        return None
    shard = settings.own_shard
    urls = [
        *(shard.url, settings.broker_of(shard), settings.database_url, settings.blob_url),
        *(settings.fetcher_url, settings.signer_url),
    ]
    named = (int(port) for url in urls for port in re.findall(r":(\d{1,5})\b", url))
    schemes = (part for url in urls for part in urlsplit(url).scheme.split("+"))
    return frozenset({_DNS_PORT, *named, *(_PORTS[part] for part in schemes if part in _PORTS)})
