"""The webhook process: `python -m workers.webhooks.main` starts one; several share the work."""

from __future__ import annotations

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
            metrics.WEBHOOKS_PENDING: lambda: _count_pending(database),
            metrics.WEBHOOKS_OLDEST: lambda: _read_ages(database),
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


def _count_pending(database: Database) -> Reading:
    with database.snapshot() as session:
        pending = webhooks.count_pending(session)
    return {(kind,): pending[kind][0] if kind in pending else 0 for kind in _KINDS}


def _read_ages(database: Database) -> Reading:
    at = now()
    with database.snapshot() as session:
        pending = webhooks.count_pending(session)
    return {
        (kind,): (at - pending[kind][1]).total_seconds() if kind in pending else 0
        for kind in _KINDS
    }


if __name__ == "__main__":
    main()
