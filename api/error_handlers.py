"""Flask's error handlers: every failure becomes the JSON error body."""

from __future__ import annotations

from typing import Any, Final

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from api.http import write_json
from shared.clock import now
from shared.errors import ErrorKind, ServiceError, StorageFull, is_disk_full, write_error_body
from shared.identifiers import new_id
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


def register_error_handlers(app: Flask) -> None:
    """Register the handlers of the app's exceptions."""
    app.register_error_handler(ServiceError, _handle_service_error)
    app.register_error_handler(HTTPException, _handle_http_error)
    app.register_error_handler(Exception, _handle_internal_error)


def write_error_response(error: ServiceError) -> Response:
    """Return the error response of a failure, and set `g.error_body` for the metrics."""
    g.error_body = error.body
    return write_json(make_error_body(error), error.body.status, headers=error.headers)


def make_error_body(error: ServiceError) -> dict[str, Any]:
    """Return the error body of a failure."""
    return write_error_body(error.body, at=now())


def _handle_service_error(error: ServiceError) -> Response:
    """Handle a feature's error; server errors are logged with their cause."""
    if error.body.status >= 500:
        _log.warning(
            "request not served",
            request=g.get("request_id"),
            status=error.body.status,
            kind=error.body.kind.value,
            cause=repr(error.__cause__ or error),
        )
    return write_error_response(error)


def _handle_http_error(error: HTTPException) -> Response:
    """Handle an error of Flask: an unknown path, an unsupported method, a malformed request."""
    match error:
        case NotFound():
            message = f"No resource at {request.path!r}."
            return write_error_response(ServiceError(404, message, kind=ErrorKind.NOT_FOUND))
        case MethodNotAllowed(valid_methods=methods):
            allowed = ", ".join(sorted(methods or ()))
            message = f"{request.method} is not allowed at {request.path!r}; allowed: {allowed}."
            return write_error_response(ServiceError(405, message, headers={"Allow": allowed}))
        case _:
            return write_error_response(
                ServiceError(error.code or 500, error.description or error.name)
            )


def _handle_internal_error(error: Exception) -> Response:
    """Handle an unexpected exception: the client gets a reference, the log the traceback."""
    if is_disk_full(error):  # the disk of temporary files; the stores report their own
        no_space = StorageFull("service")
        no_space.__cause__ = error
        return _handle_service_error(no_space)
    reference = new_id("err")
    _log.error("request failed", request=g.get("request_id"), reference=reference, exc_info=error)
    message = f"Internal error; contact support with the reference {reference}."
    return write_error_response(ServiceError(500, message, kind=ErrorKind.INTERNAL))
