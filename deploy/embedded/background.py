"""Counter, maintenance and webhooks in one process: `python -m deploy.embedded.background`.

Each alone takes most of its memory for the same modules. A farm of several machines runs them apart.
"""

from __future__ import annotations

from shared.settings import Settings, get_settings
from shared.startup import run_threads, start, stop_on_signals
from workers.counter.main import make_counters
from workers.counter.stream import UsageCounter
from workers.maintenance.main import make_maintenance
from workers.maintenance.runner import MaintenanceRunner
from workers.webhooks.deliverer import WebhookDeliverer
from workers.webhooks.main import make_deliverer


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    parts = start("background", get_settings, _make)
    stop_on_signals(*(part.stop for part in parts))
    run_threads([part.run for part in parts])


def _make(settings: Settings) -> list[UsageCounter | MaintenanceRunner | WebhookDeliverer]:
    return [*make_counters(settings), *make_maintenance(settings), make_deliverer(settings)]


if __name__ == "__main__":
    main()
