"""The Flask app: authentication and rate limits before each request, the routes, and the error handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, Request, Response, current_app, g, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from api.account.administration import AdminRoutes, AuditRoutes, authenticate_operator
from api.account.keys import KeyRoutes
from api.account.routes import AccountRoutes
from api.admission.framing import check_framing
from api.admission.gate import check_rate, count_request, write_rate
from api.auth.guard import authenticate, check_scope, record_change
from api.batches.routes import BatchRoutes, ItemJobIdConverter
from api.batches.run_routes import PlanRoutes, RunRoutes
from api.conditional_requests import check_partial_change
from api.files.routes import FontRoutes, ImageRoutes
from api.http import check_path, write_json
from api.jobs.routes import JobRoutes, SubjectRoutes
from api.operations.checks import read_parameters
from api.operations.model import Operation, Routes, find_operation
from api.ops.routes import (
    HealthRoutes,
    MetricsRoutes,
    count_error,
    method_label,
    observe_response,
    route_label,
)
from api.ports import Ports
from api.previews.routes import PREVIEW_PATH, PreviewRoutes
from api.render.inspection import InspectionRoutes
from api.render.routes import RenderRoutes
from api.single_sign_on.routes import SignInRoutes
from api.studio.documentation import DESCRIBE, DocumentationRoutes
from api.studio.routes import StudioRoutes
from api.templates.names import SlugRoutes, TagRoutes
from api.templates.routes import TemplateRoutes
from api.templates.versions import VersionRoutes
from api.usage.routes import UsageRoutes
from api.webhooks.routes import DeliveryRoutes, DestinationRoutes, LinkRoutes, WebhookRoutes
from shared.clock import now, ticks
from shared.errors import ServiceError, StorageFull, is_disk_full, write_error_body
from shared.identifiers import new_id
from shared.telemetry import log, metrics

_MAX_AGE_SECONDS: Final = 600
_ANY: Final = "*"
_ALLOWED_HEADERS: Final = (
    "Authorization, x-api-key, Content-Type, Content-Encoding, Prefer, Idempotency-Key, If-Match, "
    "If-None-Match, If-Range, Range, traceparent"
)
_EXPOSED_HEADERS: Final = (
    "Location, Preference-Applied, ETag, Content-Disposition, X-Page-Count, X-Job-Id, Server-Timing, "
    "X-Warning-Count, X-Warning-Codes, Accept-Ranges, Content-Range, Idempotent-Replayed, "
    "Retry-After, RateLimit, RateLimit-Policy, Allow, Accept-Encoding"
)


def make_options_response(request: Request, ports: Ports) -> Response:
    """Return the response to `OPTIONS`: the methods of a path, and CORS headers for a preflight.

    It requires no key: browsers send none with a preflight, and `/docs` lists the methods anyway.

    Raises:
        NotFound: no route matches the path.
    """
    if request.environ.get("RAW_URI") == _ANY:  # the server as a whole (RFC 9110, 9.3.7)
        return Response(status=204)
    error = request.routing_exception
    if not isinstance(error, MethodNotAllowed):
        assert error is not None, "no route handles OPTIONS itself"
        raise error
    methods = ", ".join(sorted({*(error.valid_methods or ()), "OPTIONS"}))
    response = Response(status=204, headers={"Allow": methods})
    if "Access-Control-Request-Method" in request.headers and is_allowed_origin(request, ports):
        response.headers.update(
            {
                "Access-Control-Allow-Methods": methods,
                "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
                "Access-Control-Max-Age": str(_MAX_AGE_SECONDS),
            }
        )
    return response


def add_cors_headers(request: Request, response: Response, ports: Ports) -> None:
    """Add the CORS headers that let a page of an allowed origin read the response."""
    response.vary.add("Origin")
    if is_allowed_origin(request, ports):
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS


def is_allowed_origin(request: Request, ports: Ports) -> bool:
    """Return whether the operator allows the Origin of a request."""
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    allowed = ports.settings.cors_origins.split()
    return _ANY in allowed or origin in allowed


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
            return write_error_response(ServiceError(404, message))
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
    return write_error_response(ServiceError(500, message))


_log: Final = log.get_logger(__name__)
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Without TLS browsers ignore it (RFC 6797, 8.1); behind a proxy the front cannot know.
    "Strict-Transport-Security": "max-age=31536000",
}


_ROUTES: Final[tuple[type[Routes], ...]] = (
    RenderRoutes,
    PreviewRoutes,
    InspectionRoutes,
    BatchRoutes,
    PlanRoutes,
    RunRoutes,
    TemplateRoutes,
    VersionRoutes,
    TagRoutes,
    SlugRoutes,
    ImageRoutes,
    FontRoutes,
    JobRoutes,
    WebhookRoutes,
    DestinationRoutes,
    DeliveryRoutes,
    LinkRoutes,
    AccountRoutes,
    UsageRoutes,
    KeyRoutes,
    AuditRoutes,
    SubjectRoutes,
    AdminRoutes,
    SignInRoutes,
    StudioRoutes,
    DocumentationRoutes,
    HealthRoutes,
    MetricsRoutes,
)


def describe_api() -> Mapping[str, Any]:
    """Return the OpenAPI description of all routes."""
    # Late: its schemas take a tenth of the CPU of a front's start, and few fronts are ever asked for it.
    from api.openapi.description import describe

    return describe(operation for routes in _ROUTES for _, operation in routes.operations())


def create_app(ports: Ports) -> Flask:
    """Create the app over the given ports."""
    app = Flask("pressroom", static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.converters["item_job"] = ItemJobIdConverter
    # A trailing slash names the same resource: a redirect would make clients send a body twice.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # no redirects

    app.before_request(lambda: _before_request(ports))
    app.after_request(lambda response: _after_request(response, ports))
    app.teardown_request(lambda error: _teardown_request(error, ports))
    register_error_handlers(app)
    app.extensions[DESCRIBE] = describe_api
    for routes in _ROUTES:
        app.register_blueprint(routes(ports).blueprint())
    return app


def _before_request(ports: Ports) -> Response | None:
    ports.metrics.count(metrics.IN_PROGRESS)
    if ports.traces.is_on:
        name = f"{method_label(request)} {route_label(request)}"
        g.span = ports.traces.span(name, parent=request.headers.get("traceparent"), is_request=True)
        g.span.__enter__()
    g.started_at = ticks()
    g.request_id = new_id("req")
    check_framing(request.environ)
    if request.environ["PATH_INFO"].startswith("//"):  # Werkzeug takes it for one slash
        raise NotFound
    if request.method == "OPTIONS":
        return make_options_response(request, ports)
    # Before routing errors: without a key, a request under /v2 does not even get a 404.
    if request.path == "/v2/admin" or request.path.startswith("/v2/admin/"):
        g.operator = authenticate_operator(ports)
    elif request.path == "/v2" or request.path.startswith("/v2/"):
        g.principal = authenticate(request.headers, ports, method=request.method)
        if request.url_rule is not None:
            operation = _current_operation()
            check_scope(operation.scopes if operation else frozenset(), g.principal.state)
        is_preview = request.path.rstrip("/") == PREVIEW_PATH
        g.rate_status = count_request(g.principal, ports, is_preview=is_preview)
        check_rate(g.rate_status)
    check_path(request)
    if isinstance(request.routing_exception, MethodNotAllowed):
        raise request.routing_exception  # before preconditions (RFC 9110, 13.2.1)
    check_partial_change(request)
    if (operation := _current_operation()) and operation.needs_key:
        g.query = read_parameters(operation, request.view_args or {}, request)
    return None


def _current_operation() -> Operation | None:
    rule = request.url_rule
    return find_operation(current_app.view_functions[rule.endpoint]) if rule else None


def _record_read(response: Response, ports: Ports) -> Response:
    """Append to the audit log which stored content a response has; without that entry it is not sent."""
    operation = _current_operation()
    if operation is None or not operation.reads:
        return response
    subject = next(iter((request.view_args or {}).values()))
    try:
        with ports.database.session() as session:
            action = f"{operation.reads}.read"
            record_change(session, g.principal, action, subject, {"path": request.path})
    except ServiceError as error:
        response.close()
        return _handle_service_error(error)
    return response


def _teardown_request(error: BaseException | None, ports: Ports) -> None:
    ports.metrics.count(metrics.IN_PROGRESS, amount=-1)
    if ports.traces.is_on and "span" in g:
        g.span.__exit__(None if error is None else type(error), error, None)


def _after_request(response: Response, ports: Ports) -> Response:
    """Set the headers of every response, then count and log the request."""
    if (
        ports.settings.audit_reads
        and request.method == "GET"
        and response.status_code in (200, 206)
    ):
        response = _record_read(response, ports)
    response.headers.update(_HEADERS)
    response.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
    # Shared caches know that Authorization makes a response private, not that x-api-key does.
    response.headers.setdefault("Cache-Control", "no-store")
    if response.status_code in (204, 304):
        del response.headers["Content-Type"]  # Flask sets one even without content
    if ports.settings.cors_origins:
        add_cors_headers(request, response, ports)
    if rate_status := g.get("rate_status"):
        response.headers.update(write_rate(rate_status))
    seconds = ticks() - g.started_at
    observe_response(ports.metrics, request, response, seconds=seconds)
    if "error_body" in g:
        count_error(ports.metrics, g.error_body)
    ports.traces.set_attributes(request=g.request_id, status=response.status_code)
    if "principal" in g or "operator" in g:
        _log.info(
            "request answered",
            request=g.request_id,
            account=g.principal.state.account_id if "principal" in g else g.operator,
            method=request.method,
            route=route_label(request),
            status=response.status_code,
            job=g.get("job_id"),
            milliseconds=round(seconds * 1000, 1),
        )
    return response
