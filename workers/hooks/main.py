"""The deliverer: `python -m workers.hooks.main` starts one; several share the work."""

from __future__ import annotations

import signal
import sys

from shared.db import hooks
from shared.db.session import Database, open_database
from shared.outbound import Outbound
from shared.settings import WrongSetting, get_settings
from shared.telemetry.hooks import HooksMetrics
from shared.telemetry.log import set_up_logging
from shared.telemetry.probe import start_probe
from workers.hooks.deliverer import Deliverer


def main() -> None:
    """Deliver until told to stop; exit 1 with one line when it must not start."""
    try:
        settings = get_settings()
        set_up_logging(level=settings.log_level, log_format=settings.log_format)
        database = open_database(settings.database_url, connections=settings.database_connections)
        secrets = settings.secret_cipher
    except (WrongSetting, ValueError) as error:
        sys.exit(f"pressroom hooks: {error}")
    metrics = HooksMetrics(count_pending=lambda: _count_pending(database))
    start_probe(settings.hooks_metrics_port, metrics.registry, address=settings.metrics_address)
    deliverer = Deliverer(
        database,
        Outbound(allow_private=settings.outbound_allow_private),
        secrets,
        count=metrics.count_attempt,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: deliverer.stop())
    deliverer.run()


def _count_pending(database: Database) -> int:
    with database.snapshot() as session:
        return hooks.count_pending(session)


if __name__ == "__main__":
    main()
