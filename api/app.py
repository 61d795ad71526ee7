"""The front as one Flask app: who may ask, what there is to ask, and how failures end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from flask import Blueprint, Flask, Response, g, request

from api.account.routes import AccountRoutes
from api.admission.framing import check_framing
from api.admission.rate import check_rate, count_request, write_rate
from api.auth.guard import authenticate
from api.batches.routes import BatchRoutes, ItemJobId
from api.cors import admit_origin, answer_options
from api.files.kinds import FONT, IMAGE
from api.files.routes import FileRoutes
from api.hooks.routes import HookRoutes
from api.jobs.routes import JobRoutes
from api.ops.docs import DocsRoutes
from api.ops.health import HealthRoutes
from api.ops.metrics import MetricsRoutes, name_method, name_route, observe_answer
from api.ports import Ports
from api.problems import register_problems
from api.render.routes import RenderRoutes
from api.templates.routes import TemplateRoutes
from api.templates.slugs import SlugRoutes
from api.templates.tags import TagRoutes
from api.templates.versions import VersionRoutes
from shared.clock import ticks
from shared.identifiers import new_id
from shared.telemetry import log

_log: Final = log.get_logger(__name__)


class _Routes(Protocol):
    def blueprint(self) -> Blueprint: ...


_ROUTES: Final[tuple[Callable[[Ports], _Routes], ...]] = (
    RenderRoutes,
    BatchRoutes,
    TemplateRoutes,
    VersionRoutes,
    TagRoutes,
    SlugRoutes,
    partial(FileRoutes, IMAGE),
    partial(FileRoutes, FONT),
    JobRoutes,
    HookRoutes,
    AccountRoutes,
    DocsRoutes,
    HealthRoutes,
    MetricsRoutes,
)


def create_app(ports: Ports) -> Flask:
    """Make the app over the given ports."""
    app = Flask("pressroom", static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.converters["item_job"] = ItemJobId
    # The same resource with a slash at its end: a redirect would have a body sent twice.
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # a path is what was sent; nothing is redirected

    app.before_request(lambda: _begin(ports))
    app.after_request(lambda response: _finish(response, ports))
    app.teardown_request(lambda error: _end(error, ports))
    register_problems(app)
    for routes in _ROUTES:
        app.register_blueprint(routes(ports).blueprint())
    return app


def _begin(ports: Ports) -> Response | None:
    ports.metrics.begin()
    if ports.traces.is_on:
        name = f"{name_method(request)} {name_route(request)}"
        g.span = ports.traces.serve(name, parent=request.headers.get("traceparent"))
        g.span.__enter__()
    g.begun_at = ticks()
    g.request_id = new_id("req")
    check_framing(request.environ)
    if request.method == "OPTIONS":
        return answer_options(request, ports)
    # Before routing has its say: without a key, not even a 404 is told of what lies under /v2.
    if request.path == "/v2" or request.path.startswith("/v2/"):
        g.principal = authenticate(request.headers, ports)
        g.spent = count_request(g.principal, ports)
        check_rate(g.spent)
    return None


def _end(error: BaseException | None, ports: Ports) -> None:
    ports.metrics.end()
    if ports.traces.is_on and "span" in g:
        g.span.__exit__(None if error is None else type(error), error, None)


def _finish(response: Response, ports: Ports) -> Response:
    response.headers.add("X-Content-Type-Options", "nosniff")
    # What an x-api-key opened must not be kept by a cache that knows only of Authorization.
    response.headers.add("Cache-Control", "no-store")
    if response.status_code in (204, 304):
        del response.headers["Content-Type"]  # Flask names one of what is not there
    if ports.cors_origins:
        admit_origin(request, response, ports)
    if spent := g.get("spent"):
        response.headers.update(write_rate(spent))
    seconds = ticks() - g.begun_at
    observe_answer(ports.metrics, request, response, seconds=seconds)
    if "problem" in g:
        ports.metrics.count_error(g.problem)
    ports.traces.tell(request=g.request_id, status=response.status_code)
    if "principal" in g:
        _log.info(
            "request answered",
            request=g.request_id,
            account=g.principal.state.account_id,
            method=request.method,
            route=name_route(request),
            status=response.status_code,
            job=g.get("job_id"),
            milliseconds=round(seconds * 1000, 1),
        )
    return response
