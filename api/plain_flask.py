"""Flask without what each request would pay for and no route uses.

That is sessions, host matching, async views, signals, and hooks of blueprints or of the app's context.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface
from werkzeug.datastructures import EnvironHeaders
from werkzeug.routing import MapAdapter

from api.exchange import current_request
from api.heads import name_variable


class _NoSessions(SessionInterface):
    """Gives every request the same session, which keeps nothing."""

    _none: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> NullSession:
        return self._none


class PlainFields(EnvironHeaders):
    """The fields of a request's head, found by name in one step."""

    def get(  # type: ignore[override] # all overloads in one
        self,
        key: str,
        default: Any = None,
        type: Any = None,  # noqa: A002 - werkzeug's name
    ) -> Any:
        """Give a field, as werkzeug does."""
        if type is not None:
            return super().get(key, default, type)
        return self.environ.get(name_variable(key.upper()), default)


class PlainRequest(Request):
    """A request whose body each route bounds itself."""

    max_content_length = None

    def __init__(self, environ: Any, *args: Any, **options: Any) -> None:
        super().__init__(environ, *args, **options)
        self.headers = PlainFields(environ)


class PlainFlask(Flask):
    """A Flask app of plain functions, at whatever host it is asked for.

    Of hooks it has the app's own, before, after and at the end of a request.
    """

    request_class = PlainRequest
    session_interface = _NoSessions()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Give the function as it is: asking each whether it is async took 15 µs of a request."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Make what matches a request's path, without a look at its host; none outside of one."""
        if request is None:
            return None
        path = request.path
        if path[-1:] == "/" and path != "/":
            path = path[:-1]  # the same resource: a redirect would have a body sent twice
        return MapAdapter(
            self.url_map,
            server_name="",
            script_name="/",
            subdomain="",
            url_scheme="http",
            path_info=path,
            default_method=request.method,
            query_args=request.environ.get("QUERY_STRING", ""),
        )

    def full_dispatch_request(self) -> Response:
        """Give the answer of the hooks, the view, or the handler of what they raised."""
        try:
            answer = self.preprocess_request()
            if answer is None:
                answer = self.dispatch_request()
        except Exception as error:  # noqa: BLE001 - the handlers decide
            answer = self.handle_user_exception(error)
        return self.finalize_request(answer)

    def dispatch_request(self) -> Any:
        """Give what the view of the request's rule says."""
        asked = current_request()
        if asked.routing_exception is not None:
            self.raise_routing_exception(asked)
        assert asked.url_rule is not None  # or that was raised
        return self.view_functions[asked.url_rule.endpoint](**(asked.view_args or {}))

    def preprocess_request(self) -> Any:
        """Run the hooks before the view, up to one that answers."""
        for hook in self.before_request_funcs.get(None, ()):
            answer = hook()
            if answer is not None:
                return answer
        return None

    def process_response(self, response: Response) -> Response:
        """Run the hooks after the view, the last one first."""
        for hook in reversed(self.after_request_funcs.get(None, ())):
            response = hook(response)
        return response

    def finalize_request(self, rv: Any, from_error_handler: bool = False) -> Response:
        """Give an answer as the hooks after the view leave it."""
        response = self.make_response(rv)
        try:
            return self.process_response(response)
        except Exception:
            if not from_error_handler:
                raise
            self.logger.exception("hook failed after an error")
            return response

    def do_teardown_request(self, exc: Any = None) -> None:
        """Run the hooks at the end, the last one first."""
        for hook in reversed(self.teardown_request_funcs.get(None, ())):
            hook(exc)

    def do_teardown_appcontext(self, exc: Any = None) -> None:
        """Do nothing: no hook is for this."""
