"""GET /healthz and GET /readyz: whether the process lives, and whether its parts do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from flask import Blueprint, Response

from api.exchange import write_json
from api.ports import Ports
from shared.errors import ErrorKind, ServiceError, Unavailable
from shared.queue.connection import UnfitRedisError


class HealthRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._queues = frozenset(ports.queue_checks)
        self._checks: Mapping[str, Callable[[], None]] = {
            **ports.queue_checks,
            "database": ports.database.check,
            "object store": ports.blobs.check,
        }

    def blueprint(self) -> Blueprint:
        """Give the views at their paths."""
        routes = Blueprint("health", __name__)
        routes.get("/healthz")(self.tell_alive)
        routes.get("/readyz")(self.tell_ready)
        return routes

    def tell_alive(self) -> Response:
        """Say that the process answers; asks nobody else."""
        return write_json({"status": "alive"})

    def tell_ready(self) -> Response:
        """Say whether every part answers, or name those that are down.

        A front is ready without some of its shards: it serves the accounts of the others, and no
        other front could serve more.
        """
        # At once, so that the answer comes within the patience of one part, not of three.
        with ThreadPoolExecutor(len(self._checks)) as pool:
            troubles = list(pool.map(_find_trouble, self._checks.values()))
        found = dict(zip(self._checks, troubles, strict=True))
        down = {part: str(trouble) for part, trouble in found.items() if trouble}
        if down and not self._is_partly_ready(found):
            raise ServiceError(
                503,
                f"Not ready; down: {', '.join(down)}.",
                kind=ErrorKind.UNAVAILABLE,
                data={"down": list(down), "reasons": down},
                headers={"Retry-After": "2"},
            )
        parts = {part: "down" if part in down else "up" for part in self._checks}
        return write_json({"status": "partly ready" if down else "ready", "parts": parts})

    def _is_partly_ready(self, found: Mapping[str, Exception | None]) -> bool:
        away = {part for part, trouble in found.items() if isinstance(trouble, Unavailable)}
        troubled = {part for part, trouble in found.items() if trouble}
        # A shard that is another's is nothing to go on with.
        return troubled == away and away < self._queues


def _find_trouble(check: Callable[[], None]) -> Exception | None:
    try:
        check()
    except (Unavailable, UnfitRedisError) as error:
        return error
    return None
