"""GET /metrics: the front's metrics as Prometheus text."""

from __future__ import annotations

from typing import Final

from flask import Request, Response

from api.operations.model import OperationResponse, Routes, get
from api.ports import Ports
from shared.errors import ErrorBody, ErrorCode, ErrorKind
from shared.telemetry import metrics
from shared.telemetry.metrics import CONTENT_TYPE
from shared.telemetry.observer import Observer

# Clients must not be able to create label values.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})


class MetricsRoutes(Routes):
    """The views."""

    tag = "Operation"

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._metrics = ports.metrics

    @get(
        "/metrics",
        {200: OperationResponse("The metrics.", {"text/plain": {"type": "string"}})},
        is_strict=True,
    )
    def write_metrics(self) -> Response:
        """Read the metrics.

        Prometheus text format.
        """
        return Response(self._metrics.exposition(), content_type=CONTENT_TYPE)


def observe_response(
    observer: Observer, request: Request, response: Response, *, seconds: float
) -> None:
    """Record a completed request."""
    route, method, status = route_label(request), method_label(request), response.status_code
    observer.count(metrics.REQUESTS, route, method, str(status))
    observer.observe(metrics.REQUEST_SECONDS, seconds, route, method, f"{status // 100}xx")


def count_error(observer: Observer, body: ErrorBody) -> None:
    """Count an error response, and a refusal by rate or quota."""
    observer.count(metrics.ERRORS, body.kind)
    if reason := _find_refusal(body):
        observer.count(metrics.REFUSALS, reason)


def method_label(request: Request) -> str:
    """Return the method of a request as a label, `other` for an unknown one."""
    return request.method if request.method in _METHODS else "other"


def route_label(request: Request) -> str:
    """Return the URL rule of a request as a label, never its path."""
    return request.url_rule.rule if request.url_rule else "unknown"


def _find_refusal(body: ErrorBody) -> str | None:
    match body.kind, body.code:
        case ErrorKind.RATE, _:
            return "rate"
        case ErrorKind.QUOTA, ErrorCode.QUOTA_EXCEEDED:
            return "pages"
        case ErrorKind.QUOTA, ErrorCode.DRAFT_QUOTA_EXCEEDED:
            return "draft_pages"
        case ErrorKind.QUOTA, _:
            return "storage"
        case _:
            return None
