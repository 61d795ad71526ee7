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
        self._checks: Mapping[str, Callable[[], None]] = {
            "queue": ports.check_queue,
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
        """Say whether every part answers, or name those that are down."""
        # At once, so that the answer comes within the patience of one part, not of three.
        with ThreadPoolExecutor(len(self._checks)) as pool:
            troubles = list(pool.map(_find_trouble, self._checks.values()))
        down = {part: said for part, said in zip(self._checks, troubles, strict=True) if said}
        if down:
            raise ServiceError(
                503,
                f"Not ready; down: {', '.join(down)}.",
                kind=ErrorKind.UNAVAILABLE,
                data={"down": list(down), "reasons": down},
                headers={"Retry-After": "2"},
            )
        return write_json({"status": "ready", "parts": dict.fromkeys(self._checks, "up")})


def _find_trouble(check: Callable[[], None]) -> str | None:
    try:
        check()
    except (Unavailable, UnfitRedisError) as error:
        return str(error)
    return None
