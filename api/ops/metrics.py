"""GET /metrics: the front's metrics as Prometheus text."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Request, Response

from api.ports import Ports
from shared.telemetry.front import FrontMetrics
from shared.telemetry.metrics import CONTENT_TYPE

# Clients must not be able to create label values.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


class MetricsRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._metrics = ports.metrics

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("metrics", __name__)
        # No other spelling: proxies deny this path.
        routes.get("/metrics", strict_slashes=True)(self.write_metrics)
        return routes

    def write_metrics(self) -> Response:
        """Return the metrics of all processes of this front."""
        return Response(self._metrics.exposition(), content_type=CONTENT_TYPE)


def observe_response(
    metrics: FrontMetrics, request: Request, response: Response, *, seconds: float
) -> None:
    """Record a completed request."""
    metrics.observe(
        route=route_label(request),
        method=method_label(request),
        status=response.status_code,
        seconds=seconds,
    )


def method_label(request: Request) -> str:
    """Return the method of a request as a label, `other` for an unknown one."""
    return request.method if request.method in _METHODS else "other"


def route_label(request: Request) -> str:
    """Return the URL rule of a request as a label, never its path."""
    return request.url_rule.rule if request.url_rule else "unknown"
