"""The deliverer: `python -m workers.hooks.main` starts one; several share the work."""

from __future__ import annotations

from shared.db import hooks
from shared.db.session import Database, open_database
from shared.outbound import Outbound
from shared.settings import Settings, get_settings
from shared.startup import start, stop_on_signals
from shared.telemetry.hooks import HooksMetrics
from shared.telemetry.probe import start_probe
from workers.hooks.deliverer import Deliverer


def main() -> None:
    """Deliver until told to stop; exit 1 with one line when it must not start."""
    deliverer = start("hooks", get_settings, _make)
    stop_on_signals(deliverer.stop)
    deliverer.run()


def _make(settings: Settings) -> Deliverer:
    database = open_database(settings.database_url, connections=settings.database_connections)
    secrets = settings.secret_cipher
    metrics = HooksMetrics(count_pending=lambda: _count_pending(database))
    start_probe(settings.hooks_metrics_port, metrics.registry, address=settings.metrics_address)
    return Deliverer(
        database,
        Outbound(allow_private=settings.outbound_allow_private),
        secrets,
        count=metrics.count_attempt,
    )


def _count_pending(database: Database) -> int:
    with database.snapshot() as session:
        return hooks.count_pending(session)


if __name__ == "__main__":
    main()
