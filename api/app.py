"""The front as one Flask app: who may ask, what there is to ask, and how failures end."""

from __future__ import annotations

from typing import Final, Protocol

from flask import Blueprint, Flask, Response, g

from api.account.routes import AccountRoutes
from api.admission.body import DrainRefused
from api.admission.framing import check_framing
from api.admission.rate import check_rate, count_request, write_rate
from api.auth.guard import authenticate
from api.batches.routes import BatchRoutes, ItemJobId
from api.cors import admit_origin, answer_options
from api.exchange import current_request
from api.fonts.routes import FontRoutes
from api.hooks.routes import HookRoutes
from api.images.routes import ImageRoutes
from api.jobs.routes import JobRoutes
from api.lane import give_way
from api.ops.docs import DocsRoutes
from api.ops.health import HealthRoutes
from api.ops.metrics import MetricsRoutes, name_method, name_route, observe_answer
from api.plain_flask import PlainFlask
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


# What is answered beside other requests; a render gives way itself where it is waited for.
_SHORT: Final = (None, "render.render_pdf", "account.check_key", "health.tell_alive")


class _Routes(Protocol):
    def __init__(self, ports: Ports) -> None: ...

    def blueprint(self) -> Blueprint: ...


_ROUTES: Final[tuple[type[_Routes], ...]] = (
    RenderRoutes,
    BatchRoutes,
    TemplateRoutes,
    VersionRoutes,
    TagRoutes,
    SlugRoutes,
    ImageRoutes,
    FontRoutes,
    JobRoutes,
    HookRoutes,
    AccountRoutes,
    DocsRoutes,
    HealthRoutes,
    MetricsRoutes,
)


def create_app(ports: Ports) -> Flask:
    """Make the app over the given ports."""
    app = PlainFlask("pressroom", static_folder=None)
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.converters["item_job"] = ItemJobId
    app.url_map.merge_slashes = False  # a path is what was sent; nothing is redirected

    app.before_request(lambda: _begin(ports))
    app.after_request(lambda response: _finish(response, ports))
    app.teardown_request(lambda error: _end(error, ports))
    register_problems(app)
    for routes in _ROUTES:
        app.register_blueprint(routes(ports).blueprint())
    app.wsgi_app = DrainRefused(app.wsgi_app)  # type: ignore[method-assign]
    return app


# `g` and `request` are looked up anew at each word said of them; here they are looked up once.


def _begin(ports: Ports) -> Response | None:
    asked, here = current_request(), g._get_current_object()
    if asked.endpoint not in _SHORT:
        give_way()
    ports.metrics.begin()
    if ports.traces.is_on:
        name = f"{name_method(asked)} {name_route(asked)}"
        here.span = ports.traces.serve(name, parent=asked.headers.get("traceparent"))
        here.span.__enter__()
    here.begun_at = ticks()
    here.request_id = new_id("req")
    check_framing(asked.environ)
    if asked.method == "OPTIONS":
        return answer_options(asked, ports)
    # Before routing has its say: without a key, not even a 404 is told of what lies under /v2.
    if asked.path == "/v2" or asked.path.startswith("/v2/"):
        here.principal = authenticate(asked.headers, ports)
        here.spent = count_request(here.principal, ports)
        check_rate(here.spent)
    return None


def _end(error: BaseException | None, ports: Ports) -> None:
    ports.metrics.end()
    if ports.traces.is_on and "span" in g:
        g.span.__exit__(None if error is None else type(error), error, None)


def _finish(response: Response, ports: Ports) -> Response:
    asked, here = current_request(), g._get_current_object()
    response.headers.add("X-Content-Type-Options", "nosniff")
    # What an x-api-key opened must not be kept by a cache that knows only of Authorization.
    response.headers.add("Cache-Control", "no-store")
    if response.status_code in (204, 304):
        del response.headers["Content-Type"]  # Flask names one of what is not there
    if ports.cors_origins:
        admit_origin(asked, response, ports)
    if spent := here.get("spent"):
        response.headers.update(write_rate(spent))
    seconds = ticks() - here.begun_at
    observe_answer(ports.metrics, asked, response, seconds=seconds)
    if "problem" in here:
        ports.metrics.count_error(here.problem)
    ports.traces.tell(request=here.request_id, status=response.status_code)
    if "principal" in here:
        _log.info(
            "request answered",
            request=here.request_id,
            account=here.principal.state.account_id,
            method=asked.method,
            route=name_route(asked),
            status=response.status_code,
            job=here.get("job_id"),
            milliseconds=round(seconds * 1000, 1),
        )
    return response
