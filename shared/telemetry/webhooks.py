"""Metrics of webhook delivery."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from shared.errors import Unavailable
from shared.telemetry import metrics
from shared.telemetry.registries import Constants, make_counter, write_gauge

OUTCOMES: Final = ("delivered", "retried", "failed", "disabled")


class WebhookMetrics(Collector):
    """The metrics of a webhook process; `count_pending` is called at each scrape."""

    def __init__(self, *, count_pending: Callable[[], int]) -> None:
        self.registry: Final = CollectorRegistry()
        self._count_pending = count_pending
        self._attempts = make_counter(metrics.WEBHOOK_ATTEMPTS, self.registry)
        for outcome in OUTCOMES:
            self._attempts.labels(outcome)
        self.registry.register(Constants("webhooks"))
        self.registry.register(self)

    def count_attempt(self, outcome: str) -> None:
        """Count an attempt by its outcome."""
        self._attempts.labels(outcome).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges; none during an outage of the database."""
        try:
            pending = self._count_pending()
        except Unavailable:
            return
        yield write_gauge(metrics.WEBHOOKS_PENDING, {(): pending})

    def describe(self) -> Iterator[Metric]:
        """Return no metrics: registering must not query the database."""
        return iter(())
