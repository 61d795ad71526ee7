"""The Flask app: authentication and rate limits before each request, the routes, and the error handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import NotFound

from api.account.keys import KeyRoutes
from api.account.routes import AccountRoutes
from api.admission.framing import check_framing
from api.admission.rate import check_rate, count_request, write_rate
from api.auth.guard import authenticate, check_scope
from api.batches.routes import BatchRoutes, ItemJobIdConverter
from api.conditional_requests import check_partial_change
from api.cors import add_cors_headers, make_options_response
from api.error_handlers import register_error_handlers
from api.files.routes import FontRoutes, ImageRoutes
from api.http import check_path
from api.jobs.routes import JobRoutes
from api.language.routes import LanguageRoutes
from api.openapi.description import describe
from api.openapi.routes import DESCRIBE, OpenApiRoutes
from api.operations.model import Routes, find_scopes
from api.ops.health import HealthRoutes
from api.ops.metrics import MetricsRoutes, count_error, method_label, observe_response, route_label
from api.ports import Ports
from api.previews.routes import PREVIEW_PATH, PreviewRoutes
from api.render.inspection import InspectionRoutes
from api.render.routes import RenderRoutes
from api.single_sign_on.routes import SignInRoutes
from api.studio.routes import StudioRoutes
from api.templates.routes import TemplateRoutes
from api.templates.slugs import SlugRoutes
from api.templates.tags import TagRoutes
from api.templates.versions import VersionRoutes
from api.usage.routes import UsageRoutes
from api.webhooks.routes import WebhookRoutes
from shared.clock import ticks
from shared.identifiers import new_id
from shared.telemetry import log, metrics

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
    TemplateRoutes,
    VersionRoutes,
    TagRoutes,
    SlugRoutes,
    ImageRoutes,
    FontRoutes,
    JobRoutes,
    WebhookRoutes,
    AccountRoutes,
    UsageRoutes,
    KeyRoutes,
    SignInRoutes,
    StudioRoutes,
    OpenApiRoutes,
    LanguageRoutes,
    HealthRoutes,
    MetricsRoutes,
)


def describe_api() -> Mapping[str, Any]:
    """Return the OpenAPI description of all routes."""
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
        g.span = ports.traces.server_span(name, parent=request.headers.get("traceparent"))
        g.span.__enter__()
    g.started_at = ticks()
    g.request_id = new_id("req")
    check_framing(request.environ)
    if request.environ["PATH_INFO"].startswith("//"):  # Werkzeug takes it for one slash
        raise NotFound
    if request.method == "OPTIONS":
        return make_options_response(request, ports)
    # Before routing errors: without a key, a request under /v2 does not even get a 404.
    if request.path == "/v2" or request.path.startswith("/v2/"):
        g.principal = authenticate(request.headers, ports, method=request.method)
        if request.url_rule is not None:
            view = current_app.view_functions[request.url_rule.endpoint]
            check_scope(find_scopes(view), g.principal.state)
        is_preview = request.path.rstrip("/") == PREVIEW_PATH
        g.rate_status = count_request(g.principal, ports, is_preview=is_preview)
        check_rate(g.rate_status)
    check_path(request)
    check_partial_change(request)
    return None


def _teardown_request(error: BaseException | None, ports: Ports) -> None:
    ports.metrics.count(metrics.IN_PROGRESS, amount=-1)
    if ports.traces.is_on and "span" in g:
        g.span.__exit__(None if error is None else type(error), error, None)


def _after_request(response: Response, ports: Ports) -> Response:
    """Set the headers of every response, then count and log the request."""
    response.headers.update(_HEADERS)
    response.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
    # Shared caches know that Authorization makes a response private, not that x-api-key does.
    response.headers.setdefault("Cache-Control", "no-store")
    if response.status_code in (204, 304):
        del response.headers["Content-Type"]  # Flask sets one even without content
    if ports.cors_origins:
        add_cors_headers(request, response, ports)
    if rate_status := g.get("rate_status"):
        response.headers.update(write_rate(rate_status))
    seconds = ticks() - g.started_at
    observe_response(ports.metrics, request, response, seconds=seconds)
    if "error_body" in g:
        count_error(ports.metrics, g.error_body)
    ports.traces.set_attributes(request=g.request_id, status=response.status_code)
    if "principal" in g:
        _log.info(
            "request answered",
            request=g.request_id,
            account=g.principal.state.account_id,
            method=request.method,
            route=route_label(request),
            status=response.status_code,
            job=g.get("job_id"),
            milliseconds=round(seconds * 1000, 1),
        )
    return response
