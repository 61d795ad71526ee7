"""The routes of /v2/session: a key is exchanged for a session cookie (decision 0362)."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from api.auth.guard import current_principal
from api.auth.sessions import (
    check_same_origin,
    find_session_token,
    write_cleared_cookie,
    write_session_cookie,
)
from api.http import read_query, write_json
from api.ports import Ports
from shared.auth.studio_sessions import StudioSession
from shared.clock import timestamp
from shared.errors import ErrorKind, ServiceError


class SessionRoutes:
    """The views, over the ports of this process."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def blueprint(self) -> Blueprint:
        """Return the views at their paths."""
        routes = Blueprint("sessions", __name__)
        routes.post("/v2/session")(self.open_session)
        routes.get("/v2/session")(self.read_session)
        routes.delete("/v2/session")(self.end_session)
        return routes

    def open_session(self) -> Response:
        """Open a session with the key of the request, and end the browser's previous session."""
        principal = current_principal()
        read_query(request, ())
        if principal.session is not None:
            raise ServiceError(
                400, "To open a session, send an API key in the Authorization header."
            )
        check_same_origin(request.headers, self._ports, method=request.method)
        former = find_session_token(request.headers, self._ports)
        if former is not None:
            self._ports.sessions.end(former)
        opened = self._ports.sessions.open(principal.state.key_id, principal.key_digest)
        cookie = write_session_cookie(opened.token, request.headers, self._ports)
        return write_json(_write(opened.info), 201, headers={"Set-Cookie": cookie})

    def read_session(self) -> Response:
        """Return the session of the request."""
        session = current_principal().session
        read_query(request, ())
        if session is None:
            raise ServiceError(
                404,
                "The request has an API key and no session.",
                kind=ErrorKind.NOT_FOUND,
            )
        return write_json(_write(session))

    def end_session(self) -> Response:
        """End the session of the request, if it has one."""
        read_query(request, ())
        if current_principal().session is not None:
            self._ports.sessions.end(find_session_token(request.headers, self._ports) or "")
        cookie = write_cleared_cookie(request.headers, self._ports)
        return Response(status=204, headers={"Set-Cookie": cookie})


def _write(session: StudioSession) -> dict[str, Any]:
    return {
        "opened_at": timestamp(session.opened_at),
        "expires_at": timestamp(session.expires_at),
    }
