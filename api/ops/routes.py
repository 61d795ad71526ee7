"""GET /metrics, /healthz and /readyz: metrics as Prometheus text, liveness of the process, readiness of its dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from flask import Request, Response

from api.http import write_json
from api.operations.model import OperationResponse, Routes, get, json_response
from api.ports import Ports
from shared.errors import ErrorBody, ErrorCode, ErrorKind, ServiceError, Unavailable
from shared.queue.connection import UnfitRedisError
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


_QUOTAS: Final[Mapping[ErrorCode | None, str]] = {
    ErrorCode.QUOTA_EXCEEDED: "pages",
    ErrorCode.DRAFT_QUOTA_EXCEEDED: "draft_pages",
    ErrorCode.CPU_QUOTA_EXCEEDED: "cpu",
}


def _find_refusal(body: ErrorBody) -> str | None:
    if body.kind is ErrorKind.RATE:
        return "rate"
    return _QUOTAS.get(body.code, "storage") if body.kind is ErrorKind.QUOTA else None


class HealthRoutes(Routes):
    """The views."""

    tag = "Operation"

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self._queues = frozenset(ports.queue_checks)
        self._memory = frozenset(ports.memory_checks)
        self._checks: Mapping[str, Callable[[], None]] = {
            **ports.queue_checks,
            **ports.memory_checks,
            "database": ports.database.check,
            "object store": ports.blobs.check,
        }

    @get("/healthz", {200: json_response("The process is alive.", "Health")}, name="tellAlive")
    def report_alive(self) -> Response:
        """Liveness.

        Reports that the process is alive, without checking its dependencies.
        """
        return write_json({"status": "alive"})

    @get(
        "/readyz",
        {200: json_response("All are up, or those that some accounts do without.", "Health")},
        errors={503: ()},
        is_strict=True,
        name="tellReady",
    )
    def report_ready(self) -> Response:
        """Readiness.

        Reports whether the dependencies are up; 503 names those that are down.
        """
        # A front without some of its shards is partly ready: it serves the accounts of the others, and no
        # other front could serve more. Without the Redis that keeps nothing it serves those that keep results.
        # In parallel, so that the response takes the timeout of one check, not of all.
        with ThreadPoolExecutor(len(self._checks)) as pool:
            troubles = list(pool.map(_find_error, self._checks.values()))
        found = dict(zip(self._checks, troubles, strict=True))
        down = {part: str(trouble) for part, trouble in found.items() if trouble}
        if down and not self._is_partly_ready(found):
            raise ServiceError(
                503,
                f"Not ready; down: {', '.join(down)}.",
                data={"down": list(down), "reasons": down},
                headers={"Retry-After": "2"},
            )
        parts = {part: "down" if part in down else "up" for part in self._checks}
        return write_json({"status": "partly ready" if down else "ready", "parts": parts})

    def _is_partly_ready(self, found: Mapping[str, Exception | None]) -> bool:
        away = {part for part, trouble in found.items() if isinstance(trouble, Unavailable)}
        troubled = {part for part, trouble in found.items() if trouble}
        # A Redis server of another farm or shard is a configuration error, not an outage.
        return troubled == away and away - self._memory < self._queues


def _find_error(check: Callable[[], None]) -> Exception | None:
    try:
        check()
    except (Unavailable, UnfitRedisError) as error:
        return error
    return None
