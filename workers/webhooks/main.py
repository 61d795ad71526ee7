"""The webhook process: `python -m workers.webhooks.main` starts one; several share the work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from shared.blobs.factory import open_store
from shared.clock import now
from shared.db.session import Database, open_database
from shared.outbound import Outbound
from shared.settings import Settings, get_settings
from shared.startup import start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics, Reading
from shared.webhooks import repository as webhooks
from shared.webhooks.destinations import DestinationKind
from workers.webhooks.deliverer import OUTCOMES, WebhookDeliverer

_KINDS = (webhooks.WEBHOOK, *DestinationKind)


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    deliverer = start("webhooks", get_settings, make_deliverer)
    stop_on_signals(deliverer.stop)
    deliverer.run()


def make_deliverer(settings: Settings) -> WebhookDeliverer:
    """Return the deliverer, and start the probe."""
    database = open_database(settings.database_url, connections=settings.database_connections)
    secrets = settings.secret_cipher
    counted = ProcessMetrics(
        Exporter.WEBHOOKS,
        {
            metrics.WEBHOOKS_PENDING: lambda: _read_pending(database, lambda count, _: count),
            metrics.WEBHOOKS_OLDEST: lambda: _read_pending(
                database, lambda _, oldest: (now() - oldest).total_seconds()
            ),
        },
        labels={metrics.WEBHOOK_ATTEMPTS: OUTCOMES},
    )
    start_probe(
        settings.webhooks_metrics_port, counted.exposition, address=settings.metrics_address
    )
    return WebhookDeliverer(
        database,
        Outbound(allow_private=settings.outbound_allow_private),
        secrets,
        open_store(settings.blob_url),
        public_url=settings.studio_url,
        count=partial(counted.count, metrics.WEBHOOK_ATTEMPTS),
    )


def _read_pending(database: Database, measure: Callable[[int, datetime], float]) -> Reading:
    """Measure the number of pending deliveries of each kind, and how long the oldest has been due."""
    with database.snapshot() as session:
        pending = webhooks.count_pending(session, at=now())
    return {(kind,): measure(*pending[kind]) if kind in pending else 0 for kind in _KINDS}


if __name__ == "__main__":
    main()
