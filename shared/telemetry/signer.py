"""Metrics of the signer."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry

from shared.telemetry import metrics
from shared.telemetry.registries import Constants, make_counter, make_histogram


class SignatureOutcome(StrEnum):
    """The outcome of a request; `unstamped` files got no time stamp, and are not signed."""

    SIGNED = "signed"
    REFUSED = "refused"
    UNSTAMPED = "unstamped"
    BUSY = "busy"
    FAILED = "failed"


class SignerMetrics:
    """The metrics of a signer."""

    def __init__(self) -> None:
        self.registry: Final = CollectorRegistry()
        self._signatures = make_counter(metrics.SIGNATURES, self.registry)
        self._seconds = make_histogram(metrics.SIGNATURE_SECONDS, self.registry)
        for outcome in SignatureOutcome:
            self._signatures.labels(outcome.value)
        self.registry.register(Constants("signer"))

    def count_signature(self, outcome: SignatureOutcome, seconds: float) -> None:
        """Count a request by its outcome, and its duration."""
        self._signatures.labels(outcome.value).inc()
        self._seconds.observe(seconds)
