"""GET /metrics: what the front counted, as Prometheus text."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Request, Response

from api.ports import Ports
from shared.telemetry.front import FrontMetrics
from shared.telemetry.metrics import CONTENT_TYPE

# A label takes no value of a client's choosing.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


class MetricsRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._metrics = ports.metrics

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("metrics", __name__)
        routes.get("/metrics")(self.write_metrics)
        return routes

    def write_metrics(self) -> Response:
        """Give the counts of all processes of this front."""
        return Response(self._metrics.exposition(), content_type=CONTENT_TYPE)


def observe_answer(
    metrics: FrontMetrics, request: Request, response: Response, *, seconds: float
) -> None:
    """Count an answered request."""
    metrics.observe(
        route=name_route(request),
        method=name_method(request),
        status=response.status_code,
        seconds=seconds,
    )


def name_method(request: Request) -> str:
    """Name the method of a request, `other` when it is none of HTTP's."""
    return request.method if request.method in _METHODS else "other"


def name_route(request: Request) -> str:
    """Name the rule a request fell under, never its path."""
    return request.url_rule.rule if request.url_rule else "unknown"
