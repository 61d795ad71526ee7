"""The one writer of the JSON error body (interface.md, Errors)."""

from __future__ import annotations

from typing import Any, Final

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from api.exchange import write_json
from shared.clock import now
from shared.errors import ErrorKind, NoSpace, ServiceError, is_full
from shared.identifiers import new_id
from shared.problems import write_error_body
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


def register_problems(app: Flask) -> None:
    """Let every failure of the app end as an error body."""
    app.register_error_handler(ServiceError, _write_service_problem)
    app.register_error_handler(HTTPException, _write_http_problem)
    app.register_error_handler(Exception, _write_internal_problem)


def write_problem(error: ServiceError) -> Response:
    """Write a failure as the client sees it; `g.problem` is then what was written."""
    g.problem = error.body
    return write_json(make_body(error), error.body.status, headers=error.headers)


def make_body(error: ServiceError) -> dict[str, Any]:
    """Make the error body of a failure."""
    return write_error_body(error.body, at=now())


def _write_service_problem(error: ServiceError) -> Response:
    """Write what a feature raised; what is the service's own fault is logged with its cause."""
    if error.body.status >= 500:
        _log.warning(
            "request not served",
            request=g.get("request_id"),
            status=error.body.status,
            kind=error.body.kind.value,
            cause=repr(error.__cause__ or error),
        )
    return write_problem(error)


def _write_http_problem(error: HTTPException) -> Response:
    """Write what Flask itself found: an unknown path, a method not offered, a broken request."""
    match error:
        case NotFound():
            message = f"There is nothing at {request.path!r}."
            return write_problem(ServiceError(404, message, kind=ErrorKind.NOT_FOUND))
        case MethodNotAllowed(valid_methods=methods):
            offered = ", ".join(sorted(methods or ()))
            message = f"{request.method} is not offered at {request.path!r}; offered: {offered}."
            return write_problem(ServiceError(405, message, headers={"Allow": offered}))
        case _:
            return write_problem(ServiceError(error.code or 500, error.description or error.name))


def _write_internal_problem(error: Exception) -> Response:
    """Write a defect of ours: a reference for the client, the traceback for the log."""
    if is_full(error):  # a temporary file's disk: the stores report their own
        no_space = NoSpace("service")
        no_space.__cause__ = error
        return _write_service_problem(no_space)
    reference = new_id("err")
    _log.error("request failed", request=g.get("request_id"), reference=reference, exc_info=error)
    message = f"The service failed on this request; tell support the reference {reference}."
    return write_problem(ServiceError(500, message, kind=ErrorKind.INTERNAL))
